/* SPDX-License-Identifier: MIT */
/* redis_fault.h -- the fault points before and after a request to Redis. */
#ifndef DLOCK_REDIS_FAULT_H
#define DLOCK_REDIS_FAULT_H

#include "base/redis/link.h"
#include "lock/dlock.h"
#include "lock/fault.h"

/* The three functions below call these while any point is armed. */
dlock_status redis_fault_reach(struct redis_link *link, dlock_fault_point point,
                               const char *key);
dlock_status redis_fault_reach_talk(struct redis_talk *talk, dlock_fault_point point,
                                    const char *key);
dlock_status redis_fault_reach_after(struct redis_link *link, const char *key);

/* Reach `point` under the lock `key`, before a request.  OK: send the request, although
 * the fault may have cut the connection.  IO: do not send it, the request counts as
 * failed. */
static inline dlock_status redis_fault_before(struct redis_link *link,
                                              dlock_fault_point point, const char *key)
{
    return dlock_fault_is_any_armed() ? redis_fault_reach(link, point, key) : DLOCK_OK;
}

/* The same before a command of a conversation; a cut drops the connection of the
 * conversation. */
static inline dlock_status redis_fault_talk(struct redis_talk *talk,
                                            dlock_fault_point point, const char *key)
{
    return dlock_fault_is_any_armed() ? redis_fault_reach_talk(talk, point, key)
                                      : DLOCK_OK;
}

/* Reach the point after an answer.  Returns `st`; UNKNOWN: the fault hides the
 * answer. */
static inline dlock_status redis_fault_after(struct redis_link *link, const char *key,
                                             dlock_status st)
{
    return dlock_fault_is_any_armed() && st == DLOCK_OK
               ? redis_fault_reach_after(link, key)
               : st;
}

#endif /* DLOCK_REDIS_FAULT_H */

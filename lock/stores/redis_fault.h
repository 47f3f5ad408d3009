/* SPDX-License-Identifier: MIT */
/* redis_fault.h -- the points of fault.h at which a request to Redis can fail, or lose
 * its connection. */
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

/* At `point`, under the lock `key`, before something is sent.  OK: send it, though the
 * connection may have been cut.  IO: do not, it failed. */
static inline dlock_status redis_fault_before(struct redis_link *link,
                                              dlock_fault_point point, const char *key)
{
    return dlock_fault_is_any_armed() ? redis_fault_reach(link, point, key) : DLOCK_OK;
}

/* The same before a command of a conversation, whose own connection is cut. */
static inline dlock_status redis_fault_talk(struct redis_talk *talk,
                                            dlock_fault_point point, const char *key)
{
    return dlock_fault_is_any_armed() ? redis_fault_reach_talk(talk, point, key)
                                      : DLOCK_OK;
}

/* An answer has come.  `st`, or UNKNOWN, as if it had not. */
static inline dlock_status redis_fault_after(struct redis_link *link, const char *key,
                                             dlock_status st)
{
    return dlock_fault_is_any_armed() && st == DLOCK_OK
               ? redis_fault_reach_after(link, key)
               : st;
}

#endif /* DLOCK_REDIS_FAULT_H */

/* SPDX-License-Identifier: MIT */
/* redis_fault.h -- the points of fault.h at which a request to Redis can fail, or lose
 * its connection. */
#ifndef DLOCK_REDIS_FAULT_H
#define DLOCK_REDIS_FAULT_H

#include "lock/fault.h"
#include "lock/stores/redis_link.h"

/* At `point`, under the lock `key`, before something is sent.  OK: send it, though the
 * connection may have been cut.  IO: do not, it failed. */
dlock_status redis_fault_before(struct redis_link *link, dlock_fault_point point,
                                const char *key);

/* The same before a command of a conversation, whose own connection is cut. */
dlock_status redis_fault_talk(struct redis_talk *talk, dlock_fault_point point,
                              const char *key);

/* An answer has come.  `st`, or UNKNOWN, as if it had not. */
dlock_status redis_fault_after(struct redis_link *link, const char *key,
                               dlock_status st);

#endif /* DLOCK_REDIS_FAULT_H */

/* SPDX-License-Identifier: MIT */
/* driver.h -- the thread that drives the links of a group.
 *
 * All threads share one connection per link, and no extra thread reads it: one of the
 * threads that wait for answers is the driver.  The driver connects, reads all replies,
 * and gives each to the thread that asked.  When its own answers have come, it makes
 * another waiting thread the driver.  Requests are sent together: by the last of the
 * threads that are expected to ask, by the thread that completes a batch, or at once if
 * no thread is expected.
 *
 * Only for base/redis/.  The caller holds the group's mutex; these functions may unlock
 * it meanwhile. */
#ifndef DLOCK_REDIS_DRIVER_H
#define DLOCK_REDIS_DRIVER_H

#include "base/redis/link_group.h"

/* Drive until the wait is done, or until `end_ns`. */
void redis_driver_drive(struct redis_link_group *group, struct redis_wait *wait,
                        int64_t end_ns);

/* Stop driving, and make another waiting thread the driver if there is one. */
void redis_driver_leave(struct redis_link_group *group, struct redis_wait *wait);

/* Send the queued requests of all links, or leave that to another thread that is about
 * to.  If `wait` waits for no answer, the requests are sent now. */
void redis_driver_send(struct redis_link_group *group, const struct redis_wait *wait);

#endif /* DLOCK_REDIS_DRIVER_H */

/* SPDX-License-Identifier: MIT */
/* driver.h -- the thread that drives the links of a group.
 *
 * All threads share one connection per link.  There is no thread for that: of those
 * that wait for answers one is the driver.  It connects, reads all replies and hands
 * them to whom they belong; when its own have come it makes another of the waiting ones
 * the driver.  Requests are sent in one go by the last of those who are expected to ask,
 * or by whoever completes a batch, or by whoever comes if nobody is expected.
 *
 * Only for this room.  With the group's mutex held; they may let go of it in between. */
#ifndef DLOCK_REDIS_DRIVER_H
#define DLOCK_REDIS_DRIVER_H

#include "base/redis/link_group.h"

/* Drive until the wait is done, or until `end_ns`. */
void redis_driver_drive(struct redis_link_group *group, struct redis_wait *wait,
                        int64_t end_ns);

/* Stop driving: somebody else does, if anybody waits. */
void redis_driver_leave(struct redis_link_group *group, struct redis_wait *wait);

/* Send what all links have to send; or another thread is about to.  An wait that waits
 * for nothing is sent now. */
void redis_driver_send(struct redis_link_group *group, const struct redis_wait *wait);

#endif /* DLOCK_REDIS_DRIVER_H */

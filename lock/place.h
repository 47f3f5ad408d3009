/* SPDX-License-Identifier: MIT */
/* place.h -- the place of an acquire in the line of its process, from joining to the hold.
 *
 * The core's use of handover.h.  In a system without the option `handover` these
 * functions do nothing.
 *
 * Threads     The acquire's own. */
#ifndef DLOCK_PLACE_H
#define DLOCK_PLACE_H

#include "lock/handover.h"
#include "lock/system.h"

/* Join the line of place->hold, and wait for its turn.  Only a request that waits, has
 * the system's lease and is not an inner level stands in the line; for others the call
 * returns OK at once.
 *   OK         if place->is_given, the thread has the lock, and *claim and the gift
 *              describe it; otherwise the caller asks the store
 *   TIMEOUT, CANCELLED, NOMEM   as dlock_acquire_with() */
dlock_status dlock_place_wait(dlock_system *sys, struct dlock_place *place,
                              const dlock_request *request, dlock_claim *claim);

/* The acquire failed: give its place up, so that the next in the line asks the
 * store. */
void dlock_place_leave(dlock_system *sys, const struct dlock_place *place);

/* The hold begins: the store granted a request that was sent at sent_ns, or the lock
 * was handed over. */
void dlock_place_begin_hold(dlock_system *sys, struct dlock_place *place,
                            struct dlock_hold *hold, int64_t sent_ns);

#endif /* DLOCK_PLACE_H */

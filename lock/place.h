/* SPDX-License-Identifier: MIT */
/* place.h -- the place of an acquire in the line of its process, from joining to the hold.
 *
 * The core's use of handover.h.  In a system without lines these do nothing.
 *
 * Threads     The acquire's own. */
#ifndef DLOCK_PLACE_H
#define DLOCK_PLACE_H

#include "lock/handover.h"
#include "lock/system.h"

/* Wait for the turn of place->hold, whose line is joined if there is one for it: a request
 * that waits, for the system's lease, and not on top of another level.
 *   OK         if place->is_given, the lock is the thread's, as *claim and the gift say;
 *              otherwise the caller asks the store
 *   TIMEOUT, CANCELLED, NOMEM   as dlock_acquire_with() */
dlock_status dlock_place_wait(dlock_system *sys, struct dlock_place *place,
                              const dlock_request *request, dlock_claim *claim);

/* The acquire failed with the place: it is given up. */
void dlock_place_leave(dlock_system *sys, const struct dlock_place *place);

/* The hold begins, asked for with a request that was sent at sent_ns, or given. */
void dlock_place_begin_hold(dlock_system *sys, struct dlock_place *place,
                            struct dlock_hold *hold, int64_t sent_ns);

#endif /* DLOCK_PLACE_H */

/* SPDX-License-Identifier: MIT */
/* admission.h -- limits the orders that are in progress at once, in all processes
 * together.
 *
 * The places are counted in Redis, by a semaphore or by permits that expire.  If a
 * process is killed, its places of a semaphore are lost for good, as in Redisson; its
 * permits come back when their leases end.  A place of a semaphore whose release could
 * not be sent is owed: a later call gives it back as soon as Redis answers.
 *
 * Threads     Any, but for open and close.
 */
#ifndef APP_ADMISSION_H
#define APP_ADMISSION_H

#include "app/config.h"
#include "lock/dlock_primitives.h"

struct admission; /* opaque */

/* The place of an order that was let in. */
struct admission_place {
    dlock_permit permit; /* of permits */
    unsigned making;     /* of a semaphore: which making of the places this one is of */
};

/* Connect to Redis, and make the semaphore or the permits if there are none of that
 * name yet.  The settings name an admission.
 *   OK        *out is the admission, which the caller closes with admission_close()
 *   INVALID   the settings cannot be used
 *   else      Redis failed or refused; dlock_error() says why */
dlock_status admission_open(struct admission **out, const struct config *config);

/* Close the connections and free the memory.  No place is given back.  NULL is fine. */
void admission_close(struct admission *a);

/* Can Redis let orders in now?  Asks for the rights, and tries to make the places, which changes
 * nothing unless Redis has lost them.  OK, or as admission_open(). */
dlock_status admission_check(struct admission *a);

/* Let one order in.  The call waits for Redis, and not for a place.
 *   OK        the order is in, and has to call admission_leave()
 *   BUSY      the limit is reached
 *   else      Redis failed, and the order is not in.  After UNKNOWN a place may be
 *             lost: a permit until its lease ends, a place of a semaphore for good */
dlock_status admission_enter(struct admission *a, struct admission_place *place);

/* Give the place back.
 *   OK        the place is free, or Redis has lost it and has all places anew
 *   LOST      the lease had ended before, so one order too many may have been in
 *   IO        the place of a semaphore is owed; a permit comes back with its lease
 *   else      a place may be lost, as with admission_enter() */
dlock_status admission_leave(struct admission *a, const struct admission_place *place);

#endif /* APP_ADMISSION_H */

/* SPDX-License-Identifier: MIT */
/* admission.h -- how many orders may be inside at once, all processes together.
 *
 * The places are counted in Redis, by a semaphore or by permits that expire.  With a
 * semaphore a process that is killed takes its places along for good, as in Redisson;
 * permits come back when their lease is over.
 *
 * Threads     Any, but for open and close.
 */
#ifndef APP_ADMISSION_H
#define APP_ADMISSION_H

#include "app/config.h"
#include "lock/dlock_primitives.h"

struct admission; /* opaque */

/* The permit of an order that was let in. */
struct admission_place {
    dlock_permit permit; /* of permits */
};

/* Reach Redis and make the places if there are none of that name yet.  The settings want an
 * admission.
 *   OK        *out is it
 *   INVALID   the settings cannot be used
 *   else      Redis did not do it; dlock_error() says why */
dlock_status admission_open(struct admission **out, const struct config *config);

/* NULL is fine.  Gives nothing back. */
void admission_close(struct admission *a);

/* Let one order in; never waits.
 *   OK        it is to call admission_leave()
 *   BUSY      as many are inside as may be
 *   else      nobody can say; it is not inside.  After UNKNOWN a place may be gone:
 *             with permits until its lease is over, with a semaphore for good */
dlock_status admission_enter(struct admission *a, struct admission_place *place);

/* Give the place back.
 *   OK
 *   LOST      the lease had run out before, so somebody more may have been inside
 *   else      as with admission_enter() a place may be gone */
dlock_status admission_leave(struct admission *a, const struct admission_place *place);

#endif /* APP_ADMISSION_H */

/* SPDX-License-Identifier: MIT */
/* fence_epochs.h -- numbers that only grow, from PostgreSQL, for counters of fences in
 * stores that may lose their data.
 *
 * A counter that begins at an epoch times 2^32 is above all that began at an earlier one,
 * as long as none of them counts to 2^32.  An epoch is drawn once for each counter that is
 * new or was lost.  They are as durable as the database's committed transactions.
 *
 * Threads     Any, but for open and close.
 */
#ifndef DLOCK_FENCE_EPOCHS_H
#define DLOCK_FENCE_EPOCHS_H

#include "lock/dlock_variant.h"

enum { FENCE_TEXT_SIZE = 24 }; /* a fence in digits, and the NUL */

struct fence_epochs; /* opaque */

/* Reach the database of the options, and look for the sequence of postgres.sql.
 *   OK        *out is NULL if the options name no database: then there are no epochs
 *   INVALID, IO, PROTOCOL (with what to do), NOMEM */
dlock_status fence_epochs_open(struct fence_epochs **out, const dlock_options *opts);

/* NULL is fine. */
void fence_epochs_close(struct fence_epochs *epochs);

/* Draw one: `first` is where a counter begins, in digits.
 *   OK
 *   IO, PROTOCOL   there is none; if one was drawn, it is never used */
dlock_status fence_epochs_draw(struct fence_epochs *epochs, int64_t give_up_ns,
                               char first[FENCE_TEXT_SIZE]);

/* Does the database answer?  OK if there is none. */
dlock_status fence_epochs_check(struct fence_epochs *epochs);

#endif /* DLOCK_FENCE_EPOCHS_H */

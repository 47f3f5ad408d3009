/* SPDX-License-Identifier: MIT */
/* fence_epochs.h -- growing numbers from PostgreSQL, for the fence counters of stores
 * that may lose their data.
 *
 * A fence counter begins at an epoch times 2^32.  So its fences are above those of
 * every counter of an earlier epoch, as long as no counter counts up to 2^32.  An epoch
 * is drawn for each counter that is new or was lost.  Epochs are as durable as the
 * database's committed transactions.
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

/* Draw an epoch, and write the first fence of its counter into `first`, in digits.
 *   OK
 *   IO, PROTOCOL   no epoch; if the database drew one, it stays unused */
dlock_status fence_epochs_draw(struct fence_epochs *epochs, int64_t give_up_ns,
                               char first[FENCE_TEXT_SIZE]);

/* Does the database answer, and may the role use the sequence?  OK also if the options name no
 * database. */
dlock_status fence_epochs_check(struct fence_epochs *epochs);

#endif /* DLOCK_FENCE_EPOCHS_H */

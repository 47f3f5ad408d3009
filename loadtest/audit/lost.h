/* SPDX-License-Identifier: MIT */
/* lost.h -- the acknowledged orders that are gone: their clients were told that they have the
 * order, and the database has no row of the request.
 *
 * A request that is unsure or unanswered is none of them: nobody was told anything.  Nor is a
 * queued order without a row, which is a broken promise, or an order whose row has another
 * number.
 */
#ifndef LOADTEST_AUDIT_LOST_H
#define LOADTEST_AUDIT_LOST_H

#include "loadtest/audit/audit.h"

/* Called once per lost order, in the order of users and requests. */
typedef void audit_lost_fn(const struct ledger_entry *entry, void *arg);

/* Call `each` for every one of them; NULL only counts.  Answers how many there are, which is
 * `lost` of the verdict on the same input. */
int64_t audit_each_lost(const struct audit_input *input, audit_lost_fn *each, void *arg);

#endif /* LOADTEST_AUDIT_LOST_H */

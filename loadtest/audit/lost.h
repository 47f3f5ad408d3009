/* SPDX-License-Identifier: MIT */
/* lost.h -- the lost orders: the client got the answer that the order is accepted, and the
 * database has no row of the request.
 *
 * Not lost are: an unsure or unanswered request, because its client got no order; a queued order
 * without a row, which is a broken promise; and a request whose row has another number than the
 * answer.
 */
#ifndef LOADTEST_AUDIT_LOST_H
#define LOADTEST_AUDIT_LOST_H

#include "loadtest/audit/audit.h"

/* Called once per lost order, in the order of users and requests. */
typedef void audit_lost_fn(const struct ledger_entry *entry, void *arg);

/* Call `each` for every lost order; NULL: only count.  Answers the number of lost orders, which is
 * `lost` in the verdict on the same input. */
int64_t audit_each_lost(const struct audit_input *input, audit_lost_fn *each, void *arg);

#endif /* LOADTEST_AUDIT_LOST_H */

/* SPDX-License-Identifier: MIT */
/* case.h -- the input of the audit, sorted as its rules need it, and the findings of the rules. */
#ifndef LOADTEST_AUDIT_CASE_H
#define LOADTEST_AUDIT_CASE_H

#include "loadtest/audit/audit.h"

/* The input, sorted in each order that the rules need. */
struct audit_case {
    const struct audit_input *in;
    const struct audit_order **by_request; /* by user and request                     */
    const struct audit_order **by_user;    /* by voucher, user and number             */
    const struct ledger_entry **entries;   /* by user, request, file and line         */
    const struct ledger_entry **open;      /* unsure or queued, not in the database, and
                                            * may still get there; by voucher, user and
                                            * request                                 */
    size_t open_count;
};

/* Sort the input, which has to outlive the case.  The caller frees it by audit_case_free(). */
void audit_case_make(struct audit_case *c, const struct audit_input *in);
void audit_case_free(struct audit_case *c);

/* Add `count` cases to a finding.  The verdict of the finding becomes `valid`, unless it is worse
 * already. */
void audit_worsen(struct audit_finding *f, enum verdict valid, int64_t count);

/* Add an example to a finding that has fewer than AUDIT_EXAMPLES. */
void audit_example(struct audit_finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Is the voucher one of those that are audited? */
bool audit_knows(const struct audit_case *c, int64_t voucher);

/* The order that a request of that user made, for any voucher; NULL: none. */
const struct audit_order *audit_order_of(const struct audit_case *c, int64_t user,
                                         const char *request);

/* An order of the user for the voucher; NULL: none. */
const struct audit_order *audit_bought(const struct audit_case *c, int64_t user,
                                       int64_t voucher);

/* The number of open requests for the voucher. */
int64_t audit_open_for(const struct audit_case *c, int64_t voucher);

/* Compare by user and request.  Two users may choose the same id for their requests. */
int audit_compare_keys(int64_t user_a, const char *request_a, int64_t user_b,
                       const char *request_b);

#endif /* LOADTEST_AUDIT_CASE_H */

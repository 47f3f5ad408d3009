/* SPDX-License-Identifier: MIT */
/* rules.h -- what the rules of the audit share: the input, sorted, and how a finding grows.
 *
 * The rules stand in stock_rules.c, order_rules.c and ledger_rules.c; audit.c calls each
 * once.  docs/explanation/how-the-audit-works.md has them in the same order.
 */
#ifndef LOADTEST_AUDIT_RULES_H
#define LOADTEST_AUDIT_RULES_H

#include "loadtest/audit/audit.h"

/* The input once more, in the orders that the rules need. */
struct audit_case {
    const struct audit_input *in;
    const struct audit_order **by_request; /* by user and request                     */
    const struct audit_order **by_user;    /* by voucher, user and number             */
    const struct ledger_entry **entries;   /* by user, request, file and line         */
    const struct ledger_entry **open;      /* unsure or queued, not in the database, and
                                            * may still get there                     */
    size_t open_count;
};

/* Make a finding at least as bad as `valid`, about `count` more. */
void audit_worsen(struct audit_finding *f, enum verdict valid, int64_t count);

/* Keep an example, unless there are enough. */
void audit_example(struct audit_finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Is the voucher one of those that are audited? */
bool audit_knows(const struct audit_case *c, int64_t voucher);

/* The order that a request of that user made, of whatever voucher; NULL: none. */
const struct audit_order *audit_order_of(const struct audit_case *c, int64_t user,
                                         const char *request);

/* An order of the user for the voucher; NULL: none. */
const struct audit_order *audit_bought(const struct audit_case *c, int64_t user,
                                       int64_t voucher);

/* How many open requests are for the voucher. */
int64_t audit_open_for(const struct audit_case *c, int64_t voucher);

/* By user and request: a request's id belongs to its user, two users may choose the same. */
int audit_compare_keys(int64_t user_a, const char *request_a, int64_t user_b,
                       const char *request_b);

/* stock_rules.c: of one voucher. */
void audit_check_stock(const struct audit_case *c, const struct audit_voucher *v,
                       struct audit_finding *findings);

/* order_rules.c */
void audit_check_duplicates(const struct audit_case *c, struct audit_finding *f);
void audit_check_window(const struct audit_case *c, const struct audit_voucher *v,
                        struct audit_finding *f);
void audit_check_clock(const struct audit_case *c, struct audit_finding *f);

/* ledger_rules.c */
void audit_check_told(const struct audit_case *c, struct audit_finding *f);
void audit_check_promises(const struct audit_case *c, struct audit_finding *f);
void audit_check_untold(const struct audit_case *c, struct audit_finding *f);
void audit_check_twice(const struct audit_case *c, struct audit_finding *f);
void audit_check_vouchers(const struct audit_case *c, struct audit_finding *f);

#endif /* LOADTEST_AUDIT_RULES_H */

/* SPDX-License-Identifier: MIT */
/* rules.h -- the rules of the audit.
 *
 * The rules stand in stock_rules.c, order_rules.c and ledger_rules.c; judge.c calls each
 * once.  docs/explanation/how-the-audit-works.md has them in the same order.
 */
#ifndef LOADTEST_AUDIT_RULES_H
#define LOADTEST_AUDIT_RULES_H

#include "loadtest/audit/case.h"

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

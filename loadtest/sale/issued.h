/* SPDX-License-Identifier: MIT */
/* issued.h -- makes the vouchers of a run. */
#ifndef LOADTEST_SALE_ISSUED_H
#define LOADTEST_SALE_ISSUED_H

#include "loadtest/sale/running.h"

/* Make the vouchers of the run: r->vouchers, voucher_list and voucher_count_of_first.  False:
 * running_why() has the reason. */
bool run_issue_vouchers(struct running *r);

#endif /* LOADTEST_SALE_ISSUED_H */

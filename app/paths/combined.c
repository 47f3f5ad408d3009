/* SPDX-License-Identifier: MIT */
/* combined.c -- one transaction for all waiting orders of a voucher in this process. */
#include "app/order_path.h"

const struct order_path order_path_combined = {
    .name = "combined",
    .sell = order_transaction_shared,
};

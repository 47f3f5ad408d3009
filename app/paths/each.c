/* SPDX-License-Identifier: MIT */
/* each.c -- one transaction for each order. */
#include "app/order_path.h"

const struct order_path order_path_each = {
    .name = "each",
    .sell = order_transaction_alone,
};

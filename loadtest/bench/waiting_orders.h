/* SPDX-License-Identifier: MIT */
/* waiting_orders.h -- the memory that orders take in seckilld while they wait to be sold.
 *
 * Threads     The laboratory's main one.
 */
#ifndef LOADTEST_BENCH_WAITING_ORDERS_H
#define LOADTEST_BENCH_WAITING_ORDERS_H

#include "loadtest/bench/order_load.h"

enum { WAITING_ORDERS = 1000 };

/* Connect WAITING_ORDERS clients, let each send an order that is answered, and look at the
 * service's memory; then hold the voucher's row, let each send one more, and look again when all
 * of them wait.  *grown_mib is the difference of what is resident and no file's. */
enum exit_code waiting_orders_measure(struct order_load *load, double *grown_mib);

#endif /* LOADTEST_BENCH_WAITING_ORDERS_H */

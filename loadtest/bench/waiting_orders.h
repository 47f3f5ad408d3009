/* SPDX-License-Identifier: MIT */
/* waiting_orders.h -- the memory that orders take in seckilld while they wait to be sold.
 *
 * Threads     The laboratory's main one.
 */
#ifndef LOADTEST_BENCH_WAITING_ORDERS_H
#define LOADTEST_BENCH_WAITING_ORDERS_H

#include "loadtest/bench/order_load.h"

enum { WAITING_ORDERS = 1000 };

/* Connect WAITING_ORDERS clients, let each send an order that is answered, and read the memory of
 * the service.  Then lock the row of a voucher, let each client send an order for it, and read
 * the memory again when all these orders wait.  *grown_mib is by how much the resident memory
 * that is not backed by a file has grown. */
enum exit_code waiting_orders_measure(struct order_load *load, double *grown_mib);

#endif /* LOADTEST_BENCH_WAITING_ORDERS_H */

/* SPDX-License-Identifier: MIT */
/* orders.h -- orders per second over HTTP, each beside pgbench. */
#ifndef LOADTEST_BENCH_ORDERS_H
#define LOADTEST_BENCH_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/exit_codes.h"
#include "loadtest/lab/lab.h"
#include "loadtest/live/series.h"

enum { BENCH_ORDERS_REPEATS_MAX = 25, BENCH_ORDERS_SIZES_MAX = 8 };

/* The measurements, and how often each is made. */
struct bench_orders_plan {
    const struct lab *lab;
    const char *out;     /* where the run makes its own directory                     */
    char *dir;           /* FILES_PATH_MAX bytes, which get that directory; "" as long as
                          * there is none                                             */
    struct series **series; /* gets the series of the measurements, which the caller ends
                             * and closes; NULL if none has begun                     */
    int clients[BENCH_ORDERS_SIZES_MAX]; /* wrk's connections, a measurement for each */
    int client_count;
    int64_t repeats, processes, duration_ms;
    bool is_quiet; /* do not show the progress */
};

/* Measure, print the table, and keep bench.json in a directory below plan->out.
 * EXIT_THRESHOLD: a target was missed.  Any other failure is told on stderr. */
enum exit_code bench_orders(const struct bench_orders_plan *plan);

#endif /* LOADTEST_BENCH_ORDERS_H */

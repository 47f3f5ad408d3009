/* SPDX-License-Identifier: MIT */
/* start_signal.h -- the start signal: all clients of a run send their first request at the same
 * moment.
 *
 * The signal is a countdown latch in the lab's Redis.  Every thread of every wrk process counts
 * the latch down when it is ready to send, and waits until the latch opens
 * (wrk/start_signal.lua).
 */
#ifndef LOADTEST_SALE_START_SIGNAL_H
#define LOADTEST_SALE_START_SIGNAL_H

#include <stdbool.h>

#include "loadtest/lab/lab.h"
#include "loadtest/sale/control.h"
#include "lock/dlock_primitives.h"

struct start_signal {
    dlock_primitives *prims; /* NULL: there is no start signal */
    char name[64];
    char lock_library[FILES_PATH_MAX]; /* of libdlock.so, for wrk: a path, or the name by
                                        * which it is installed                      */
};

/* Make the latch for `count` threads.  False: the reason is on stderr, and each thread starts
 * when it is ready. */
bool start_signal_make(struct start_signal *start_signal, const struct lab *lab, int count);

/* Delete the latch, which wakes every thread that waits for it.  A zeroed struct is fine. */
void start_signal_remove(struct start_signal *start_signal);

/* The times of the start, from the shared memory. */
struct start_times {
    int fired;         /* threads that sent something                     */
    int by_signal;        /* of those, how many waited for the latch to open */
    int64_t first_ns;  /* by CLOCK_BOOTTIME; 0: nobody yet                */
    double spread_ms;  /* from the first to the last                      */
};
void start_signal_read(const struct control *control, struct start_times *out);

#endif /* LOADTEST_SALE_START_SIGNAL_H */

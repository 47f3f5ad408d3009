/* SPDX-License-Identifier: MIT */
/* start_signal.h -- the start signal: all clients of a run fire in the same moment.
 *
 * A countdown latch in the lab's Redis: every thread of every wrk process counts it
 * down once it could send, and waits until it opens (wrk/start_signal.lua).
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

/* Make the latch for `count` threads.  False: said on stderr why, and they start when
 * each is ready. */
bool start_signal_make(struct start_signal *start_signal, const struct lab *lab, int count);

/* Take away what is left of it.  A zeroed struct is fine. */
void start_signal_remove(struct start_signal *start_signal);

/* The times of the start, as the page of memory tells. */
struct start_times {
    int fired;         /* threads that sent something                     */
    int by_signal;        /* of those, how many waited for the latch to open */
    int64_t first_ns;  /* of the monotonic clock; 0: nobody yet           */
    double spread_ms;  /* from the first to the last                      */
};
void start_signal_read(const struct control *control, struct start_times *out);

#endif /* LOADTEST_SALE_START_SIGNAL_H */

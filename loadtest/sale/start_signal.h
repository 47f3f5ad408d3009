/* SPDX-License-Identifier: MIT */
/* start_signal.h -- the starting gun: all clients of a run fire in the same moment.
 *
 * A countdown latch in the lab's Redis: every thread of every wrk process counts it
 * down once it could send, and waits until it opens (wrk/gun.lua).
 */
#ifndef LOADTEST_SALE_START_SIGNAL_H
#define LOADTEST_SALE_START_SIGNAL_H

#include <stdbool.h>

#include "loadtest/lab/lab.h"
#include "loadtest/sale/control.h"
#include "lock/dlock_primitives.h"

struct gun {
    dlock_primitives *prims; /* NULL: there is no gun */
    char name[64];
    char library[FILES_PATH_MAX]; /* libdlock.so, for wrk */
};

/* Make the latch for `count` threads.  False: said on stderr why, and they start when
 * each is ready. */
bool gun_load(struct gun *gun, const struct lab *lab, int count);

/* Take away what is left of it.  A zeroed struct is fine. */
void gun_unload(struct gun *gun);

/* What the page tells of the start. */
struct gun_start {
    int fired;         /* threads that sent something                     */
    int by_gun;        /* of those, how many waited for the latch to open */
    int64_t first_ns;  /* of the monotonic clock; 0: nobody yet           */
    double spread_ms;  /* from the first to the last                      */
};
void gun_look(const struct control *control, struct gun_start *out);

#endif /* LOADTEST_SALE_START_SIGNAL_H */

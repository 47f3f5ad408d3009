/* SPDX-License-Identifier: MIT */
/* live.h -- the results of a load while it runs: a block on a terminal, lines in a log, JSON
 * lines for programs.
 *
 * The load tells its counts, a thread of this module draws, and another one counts the sale
 * in the database, so neither a slow terminal nor a slow database delays the load.
 *
 * Every function takes NULL for `live` and then does nothing.
 *
 * Threads     All calls come from the same thread.
 */
#ifndef LOADTEST_LIVE_LIVE_H
#define LOADTEST_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "loadtest/live/load_state.h"

struct live;

struct live_options {
    const char *command; /* "load"; lent                                              */
    bool is_quiet;       /* nothing on stderr                                         */
    bool has_log_lines;  /* without a terminal: a line every five seconds              */
};

struct live_run {
    const char *title, *url; /* url: of the database                                   */
    const int64_t *vouchers;
    int voucher_count;
    int64_t limit_ms;        /* the longest time of the run; 0: not known               */
};

/* Start the threads.  NULL: no thread can be started, and the load goes on without being shown. */
struct live *live_open(const struct live_options *options);
/* Take the block away and end the threads. */
void live_close(struct live *live);

/* Is a block drawn: is there a terminal, and may something be shown? */
bool live_draws(const struct live *live);

/* Lines that stand above and below those of a run; "" for none.  They are copied. */
void live_caption(struct live *live, const char *above, const char *below);

/* A run begins, and the block is drawn; its phase is LIVE_STARTING.  The texts and vouchers are
 * copied. */
void live_begin(struct live *live, const struct live_run *run);
void live_set_phase(struct live *live, enum live_phase phase);
/* The run has ended: the block is gone, and nothing is drawn until the next run begins. */
void live_end(struct live *live);

/* Is it time to tell the counts again? */
bool live_wants(struct live *live);
void live_feed(struct live *live, const struct live_counts *counts);

/* Hide the block, so that something can be printed; it comes back by itself after
 * live_resume(). */
void live_pause(struct live *live);
void live_resume(struct live *live);

#endif /* LOADTEST_LIVE_LIVE_H */

/* SPDX-License-Identifier: MIT */
/* window.h -- the counts of the last three seconds of a run, for the current speed and latency.
 *
 * Threads     One at a time.
 */
#ifndef LOADTEST_LIVE_WINDOW_H
#define LOADTEST_LIVE_WINDOW_H

#include "loadtest/live/load_state.h"
#include "loadtest/live/view.h"

enum { LIVE_WINDOW_TELLINGS = 16 };

struct live_window {
    struct {
        int64_t at_ns;
        struct live_counts counts;
    } tellings[LIVE_WINDOW_TELLINGS];
    int64_t count;     /* of this run; the oldest are forgotten                          */
    int64_t answer_ns; /* when the number of answers last grew                            */
};

/* Forget everything: a run begins now. */
void live_window_begin(struct live_window *window);

/* Have 200 ms passed since live_window_tell() was last called? */
bool live_window_is_due(const struct live_window *window);

void live_window_tell(struct live_window *window, const struct live_counts *counts);

/* Fill in the counts, speeds, latencies and silent_ms of a run that began at begin_ns; speeds
 * and latencies are -1 if nothing was told. */
void live_window_look(const struct live_window *window, int64_t begin_ns, struct live_view *view);

#endif /* LOADTEST_LIVE_WINDOW_H */

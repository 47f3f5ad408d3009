/* SPDX-License-Identifier: MIT */
/* window.c -- the counts of the last seconds of a run. */
#include "loadtest/live/window.h"

#include "base/text/duration.h"

enum { TELL_MS = 200, TELLINGS = LIVE_WINDOW_TELLINGS };

void live_window_begin(struct live_window *window)
{
    window->count = 0;
    window->answer_ns = monotonic_ns();
}

bool live_window_is_due(const struct live_window *window)
{
    int64_t last_ns = window->tellings[(window->count + TELLINGS - 1) % TELLINGS].at_ns;

    return window->count == 0 || monotonic_ns() - last_ns >= TELL_MS * INT64_C(1000000);
}

void live_window_tell(struct live_window *window, const struct live_counts *counts)
{
    int64_t n = window->count;

    if (n == 0 || counts->answered > window->tellings[(n - 1) % TELLINGS].counts.answered)
        window->answer_ns = monotonic_ns();
    window->tellings[n % TELLINGS].at_ns = monotonic_ns();
    window->tellings[n % TELLINGS].counts = *counts;
    window->count++;
}

static double per_s(int64_t count, int64_t ns)
{
    return ns > 0 ? (double)count * 1e9 / (double)ns : -1;
}

void live_window_look(const struct live_window *window, int64_t begin_ns, struct live_view *view)
{
    int64_t n = window->count, first = n > TELLINGS ? n - TELLINGS : 0;
    const struct live_counts *last = &window->tellings[(n + TELLINGS - 1) % TELLINGS].counts;
    const struct live_counts *before = &window->tellings[first % TELLINGS].counts;
    int64_t last_ns = window->tellings[(n + TELLINGS - 1) % TELLINGS].at_ns;
    int64_t before_ns = window->tellings[first % TELLINGS].at_ns;
    int64_t in[BUCKETS];

    view->per_s = view->all_per_s = view->p99_ms = view->all_p99_ms = -1;
    if (n == 0)
        return;
    view->sent = last->sent;
    view->answered = last->answered;
    view->accepted = last->accepted;
    view->sold_out = last->sold_out;
    view->dead = last->dead;
    view->all_per_s = per_s(last->accepted, last_ns - begin_ns);
    view->per_s = n > 1 ? per_s(last->accepted - before->accepted, last_ns - before_ns)
                        : view->all_per_s;
    for (int k = 0; k < BUCKETS; k++)
        in[k] = last->buckets[k] - (n > 1 ? before->buckets[k] : 0);
    view->p99_ms = buckets_quantile_ms(in, 0.99);
    view->all_p99_ms = buckets_quantile_ms(last->buckets, 0.99);
    if (last->sent > last->answered)
        view->silent_ms = (monotonic_ns() - window->answer_ns) / 1000000;
}

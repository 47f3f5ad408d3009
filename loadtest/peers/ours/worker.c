/* SPDX-License-Identifier: MIT */
/* worker.c -- counts the pairs of a worker, and checks that no two workers hold the lock at
 * once. */
#include "loadtest/peers/ours/worker.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool worker_goes_on(const struct worker *w)
{
    return now_ns() < w->slice->deadline_ns;
}

void worker_inside(struct worker *w)
{
    volatile int64_t *guard = w->slice->guard;
    int64_t me = (int64_t)getpid() * IN_FLIGHT_MAX + w->index;

    if (!w->slice->is_hot)
        return;
    guard[1] = me;
    guard[0] = guard[0] + 1;
    w->overlaps += guard[1] != me;
}

void worker_done(struct worker *w)
{
    w->total++;
    w->pairs += worker_goes_on(w);
}

void worker_failed(struct worker *w, dlock_status st)
{
    fprintf(stderr, "peers-ours: %s: %s\n", dlock_status_text(st), dlock_error());
    w->errors++;
}

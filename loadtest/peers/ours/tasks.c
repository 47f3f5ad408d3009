/* SPDX-License-Identifier: MIT */
/* tasks.c -- workers without threads: each completion makes the worker's next call. */
#include "loadtest/peers/ours/worker.h"

static void acquire_next(struct worker *w);

static void stop(struct worker *w, dlock_status st)
{
    if (st != DLOCK_OK)
        worker_failed(w, st);
    w->slice->active--;
}

static void released(dlock_status st, dlock_lease *lease, void *arg)
{
    struct worker *w = arg;

    (void)lease;
    if (st != DLOCK_OK) {
        stop(w, st);
        return;
    }
    worker_done(w);
    acquire_next(w);
}

static void granted(dlock_status st, dlock_lease *lease, void *arg)
{
    struct worker *w = arg;

    if (st == DLOCK_OK) {
        worker_inside(w);
        st = dlock_async_release(w->slice->async, lease, released, w);
    }
    if (st != DLOCK_OK)
        stop(w, st);
}

static void acquire_next(struct worker *w)
{
    static const dlock_request waits = {.size = sizeof waits, .wait_ms = -1};
    dlock_status st = DLOCK_OK;

    if (worker_goes_on(w)) {
        st = dlock_async_acquire(w->slice->async, w->name, &waits, NULL, granted, w, NULL);
        if (st == DLOCK_OK)
            return;
    }
    stop(w, st);
}

void tasks_run(struct slice *slice, struct worker *workers, int in_flight)
{
    slice->active = in_flight;
    for (int i = 0; i < in_flight; i++)
        acquire_next(&workers[i]);
    while (slice->active > 0)
        (void)dlock_poll(slice->async, -1);
}

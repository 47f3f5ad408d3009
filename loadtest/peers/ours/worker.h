/* SPDX-License-Identifier: MIT */
/* worker.h -- a slice of pairs by this library, and a worker that makes them. */
#ifndef LOADTEST_PEERS_OURS_WORKER_H
#define LOADTEST_PEERS_OURS_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lock/dlock_async.h"

enum { IN_FLIGHT_MAX = 1024 };

/* Shared by all workers of a slice. */
struct slice {
    dlock_system *sys;
    dlock_async *async; /* NULL: workers are threads that block */
    const char *prefix;
    volatile int64_t *guard; /* the number of pairs, and the number of the holder */
    bool is_hot;
    int64_t deadline_ns;
    int active; /* workers that are no threads and go on */
};

struct worker {
    struct slice *slice;
    pthread_t thread;
    int index;
    char name[DLOCK_NAME_MAX + 1];
    int64_t pairs, total, overlaps, errors;
};

/* Has the slice time for another pair? */
bool worker_goes_on(const struct worker *w);

/* The guarded section: neither word is atomic, so two holders at once lose a count or see
 * each other. */
void worker_inside(struct worker *w);

/* Count a pair that has ended. */
void worker_done(struct worker *w);

/* Count a call that failed, and say so on stderr. */
void worker_failed(struct worker *w, dlock_status st);

/* ---- workers without threads (tasks.c) ---- */

/* Run so many workers by asynchronous calls from the calling thread until the deadline, and
 * to the end of the pairs that are then under way. */
void tasks_run(struct slice *slice, struct worker *workers, int in_flight);

#endif /* LOADTEST_PEERS_OURS_WORKER_H */

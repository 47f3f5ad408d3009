/* SPDX-License-Identifier: MIT */
/* lateness.h -- measures for how long the threads of a test waited for a processor, which other
 * tests may use: a thread sleeps again and again, and adds up the delays of its wake-ups. */
#ifndef TESTS_TOPOLOGY_LATENESS_H
#define TESTS_TOPOLOGY_LATENESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/os/clock.h"

enum { LATENESS_NAP_MS = 10 };

static struct {
    pthread_t thread;
    bool is_measured;
    atomic_bool stopping;
    _Atomic int64_t late_ns; /* the sum of all delays */
} lateness;

static inline void *lateness_add_up(void *arg)
{
    (void)arg;
    while (!atomic_load(&lateness.stopping)) {
        int64_t due_ns = dlock_clock_after(dlock_clock_ns(), LATENESS_NAP_MS);

        dlock_clock_sleep_until(due_ns);
        atomic_fetch_add(&lateness.late_ns, dlock_clock_ns() - due_ns);
    }
    return NULL;
}

/* Begin to measure. Returns false if no thread could be started. */
static inline bool lateness_begin(void)
{
    atomic_store(&lateness.stopping, false);
    lateness.is_measured = pthread_create(&lateness.thread, NULL, lateness_add_up, NULL) == 0;
    return lateness.is_measured;
}

/* End the measurement, if one goes on. */
static inline void lateness_end(void)
{
    atomic_store(&lateness.stopping, true);
    if (lateness.is_measured)
        pthread_join(lateness.thread, NULL);
    lateness.is_measured = false;
}

/* The sum of the delays so far; the difference of two calls is the delay between them. */
static inline int64_t lateness_ns(void)
{
    return atomic_load(&lateness.late_ns);
}

#endif /* TESTS_TOPOLOGY_LATENESS_H */

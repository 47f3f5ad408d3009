/* SPDX-License-Identifier: MIT */
/* lateness.h -- for how long the threads of a test waited for a processor, since other tests may
 * have all of them: a thread sleeps again and again, and adds up how late it wakes. */
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
    _Atomic int64_t late_ns; /* in all */
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

/* Begin to measure; false: there is no thread for that. */
static inline bool lateness_begin(void)
{
    atomic_store(&lateness.stopping, false);
    lateness.is_measured = pthread_create(&lateness.thread, NULL, lateness_add_up, NULL) == 0;
    return lateness.is_measured;
}

/* End it, if it goes on. */
static inline void lateness_end(void)
{
    atomic_store(&lateness.stopping, true);
    if (lateness.is_measured)
        pthread_join(lateness.thread, NULL);
    lateness.is_measured = false;
}

/* Less an earlier answer: what was added since. */
static inline int64_t lateness_ns(void)
{
    return atomic_load(&lateness.late_ns);
}

#endif /* TESTS_TOPOLOGY_LATENESS_H */

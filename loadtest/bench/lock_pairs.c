/* SPDX-License-Identifier: MIT */
/* lock_pairs.c -- acquire and release without contention. */
#include "loadtest/bench/lock_pairs.h"

#include "loadtest/kit/thread_group.h"

struct racer {
    const char *variant;
    dlock_system *sys;
    bench_release *release;
    char names[THREAD_GROUP_MAX][32];
};

static enum thread_group_answer once(void *arg, int index)
{
    struct racer *racer = arg;

    return bench_pair(racer->sys, racer->variant, racer->names[index], racer->release);
}

enum exit_code lock_pairs_measure(const struct bench_locks *b, const char *variant,
                                  bench_release *release, int threads,
                                  int64_t duration_ms,
                                  struct thread_group_score *score)
{
    static struct racer racer;
    struct thread_group group = {threads, once, &racer};

    racer.variant = variant;
    racer.release = release;
    for (int i = 0; i < threads; i++)
        snprintf(racer.names[i], sizeof racer.names[i], LOCK_PAIRS_NAME, i);
    if (!bench_open(b, variant, &racer.sys))
        return EXIT_UNAVAILABLE;
    if (!thread_group_run(&group, duration_ms, score))
        return EXIT_INVALID;
    dlock_close(racer.sys);
    return EXIT_VALID;
}

/* SPDX-License-Identifier: MIT */
/* lock_pairs.h -- acquire and release without contention: each thread has a name of its own.
 */
#ifndef LOADTEST_BENCH_LOCK_PAIRS_H
#define LOADTEST_BENCH_LOCK_PAIRS_H

#include "loadtest/bench/locks.h"

/* The name of thread %d, from 0. */
#define LOCK_PAIRS_NAME "bench:pairs:%d"

/* Measure pairs in this process, with 1 to THREAD_GROUP_MAX threads, which release by `release`.
 * To be called once in a process.  EXIT_UNAVAILABLE: the variant cannot be opened.
 * EXIT_INVALID: a call did not answer OK, or a thread could not be started; the process has to
 * end, because other threads may still hold locks.  The reason of both is on stderr. */
enum exit_code lock_pairs_measure(const struct bench_locks *b, const char *variant,
                                  bench_release *release, int threads,
                                  int64_t duration_ms,
                                  struct thread_group_score *score);

#endif /* LOADTEST_BENCH_LOCK_PAIRS_H */

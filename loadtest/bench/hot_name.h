/* SPDX-License-Identifier: MIT */
/* hot_name.h -- many threads of several processes that all want one lock.
 *
 * A holder writes the instant of its release into shared memory.  The next holder reads this
 * instant, and the time since then is the hand-over.  All processes are on one machine and read one
 * clock, CLOCK_BOOTTIME.
 */
#ifndef LOADTEST_BENCH_HOT_NAME_H
#define LOADTEST_BENCH_HOT_NAME_H

#include "loadtest/bench/locks.h"

enum { HOT_PROCESSES = 2, HOT_THREADS = 32 };
enum { HOT_CONTENDERS = HOT_PROCESSES * HOT_THREADS };

struct hot_figures {
    double grants_per_s;
    double longest_wait_ms;    /* waits that were under way at the end count, too   */
    double handed_over_percent; /* grants to another thread than the last holder's  */
    double hand_over_us;       /* median, of those; 0 if there was none             */
    double calm_trip_us;       /* median round trip while all threads are idle      */
    double busy_trip_us;       /* the same while they contend                       */
    double hand_over_trips;    /* hand_over_us in busy round trips                  */
    double hand_over_calm_trips;
    double fewest_grants, most_grants; /* of one thread                             */
    double share_ratio;        /* the grants of the process with more grants, divided by those
                                * of the other process; 0: the other had none       */
};

/* Measure one contest, for b->duration_ms.  A lock may be handed over `handover` times in a row
 * inside a process.  EXIT_INVALID: two threads held the lock at once. */
enum exit_code hot_name_measure(const struct bench_locks *b, const char *variant,
                                int handover, struct hot_figures *out);

#endif /* LOADTEST_BENCH_HOT_NAME_H */

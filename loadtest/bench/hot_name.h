/* SPDX-License-Identifier: MIT */
/* hot_name.h -- many threads of several processes that all want one lock.
 *
 * A holder only writes down when it gives the lock back.  The next holder reads that instant:
 * the time since then is the hand-over.  All processes are on one
 * machine and read one clock, CLOCK_MONOTONIC.
 */
#ifndef LOADTEST_BENCH_HOT_NAME_H
#define LOADTEST_BENCH_HOT_NAME_H

#include "loadtest/bench/locks.h"

enum { HOT_PROCESSES = 2, HOT_THREADS = 32 };
enum { HOT_CONTENDERS = HOT_PROCESSES * HOT_THREADS };

struct hot_figures {
    double grants_per_s;
    double longest_wait_ms;    /* also of those who still waited at the end         */
    double handed_over_percent; /* grants to another thread than the last holder's  */
    double hand_over_us;       /* median, of those; 0 if there was none             */
    double calm_trip_us;       /* median round trip while all threads are idle      */
    double busy_trip_us;       /* the same while they contend                       */
    double hand_over_trips;    /* hand_over_us in busy round trips                  */
    double hand_over_calm_trips;
    double fewest_grants, most_grants; /* of one thread                             */
    double share_ratio;        /* the grants of the process with more, to the other's; 0:
                                * that had none                                     */
};

/* Measure one contest for so long, with locks that may be handed over `handover` times inside a
 * process.  EXIT_INVALID: two were inside at once. */
enum exit_code hot_name_measure(const struct bench_locks *b, const char *variant,
                                int handover, struct hot_figures *out);

#endif /* LOADTEST_BENCH_HOT_NAME_H */

/* SPDX-License-Identifier: MIT */
/* thread_group.h -- threads that begin together and repeat one function. */
#ifndef LOADTEST_KIT_THREAD_GROUP_H
#define LOADTEST_KIT_THREAD_GROUP_H

#include <stdbool.h>
#include <stdint.h>

enum { THREAD_GROUP_MAX = 128 };

enum thread_group_answer {
    THREAD_GROUP_DONE,
    THREAD_GROUP_MISSED, /* it had no result, and is counted apart; all threads go on       */
    THREAD_GROUP_FAILED, /* the reason is on stderr; all threads stop                       */
};

/* Do the work once, as thread `index` from 0. */
typedef enum thread_group_answer thread_group_fn(void *arg, int index);

struct thread_group {
    int threads; /* 1 to THREAD_GROUP_MAX                                                   */
    thread_group_fn *once;
    void *arg;
};

struct thread_group_score {
    double per_s;  /* how often all threads together did the work, per second       */
    double missed; /* how often the work was MISSED                                 */
};

/* Repeat the work for that time.  Each thread does it once before the clock starts, to connect
 * and to warm up.  False: a thread failed. */
bool thread_group_run(const struct thread_group *group, int64_t duration_ms,
                      struct thread_group_score *score);

/* Do the work `count` times by all threads together, in any order.  Misses count too.  False:
 * a thread failed. */
bool thread_group_repeat(const struct thread_group *group, int64_t count);

#endif /* LOADTEST_KIT_THREAD_GROUP_H */

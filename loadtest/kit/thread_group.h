/* SPDX-License-Identifier: MIT */
/* thread_group.h -- threads that begin together and repeat one function. */
#ifndef LOADTEST_KIT_THREAD_GROUP_H
#define LOADTEST_KIT_THREAD_GROUP_H

#include <stdbool.h>
#include <stdint.h>

enum { THREAD_GROUP_MAX = 128 };

enum thread_group_answer {
    THREAD_GROUP_DONE,
    THREAD_GROUP_MISSED, /* it came to nothing, which is counted apart; all go on           */
    THREAD_GROUP_FAILED, /* and said on stderr why: all stop                                */
};

/* Do the work once, as thread `index` from 0. */
typedef enum thread_group_answer thread_group_fn(void *arg, int index);

struct thread_group {
    int threads; /* 1 to THREAD_GROUP_MAX                                                   */
    thread_group_fn *once;
    void *arg;
};

struct thread_group_score {
    double per_s;  /* how often it was done by all together                         */
    double missed; /* times                                                         */
};

/* Repeat the work for that time.  Each thread does it once before the clock starts, to connect
 * and to warm up.  False: a thread failed. */
bool thread_group_run(const struct thread_group *group, int64_t duration_ms,
                      struct thread_group_score *score);

/* Do the work `count` times by all threads together, in any order.  Misses count too.  False:
 * a thread failed. */
bool thread_group_repeat(const struct thread_group *group, int64_t count);

#endif /* LOADTEST_KIT_THREAD_GROUP_H */

/* SPDX-License-Identifier: MIT */
/* thread_group.h -- threads that begin together and do one thing over and over. */
#ifndef LOADTEST_KIT_THREAD_GROUP_H
#define LOADTEST_KIT_THREAD_GROUP_H

#include <stdbool.h>
#include <stdint.h>

enum { CREW_MAX = 128 };

enum crew_answer {
    CREW_DONE,
    CREW_MISSED, /* it came to nothing, which is counted apart; all go on           */
    CREW_FAILED, /* and said on stderr why: all stop                                */
};

/* Do it once, as thread `index` from 0. */
typedef enum crew_answer crew_fn(void *arg, int index);

struct crew {
    int threads; /* 1 to CREW_MAX                                                   */
    crew_fn *once;
    void *arg;
};

struct crew_score {
    double per_s;  /* how often it was done by all together                         */
    double missed; /* times                                                         */
};

/* For so long.  Each thread does it once before the clock starts, to connect and to
 * warm up.  False: it failed. */
bool crew_run(const struct crew *crew, int64_t duration_ms, struct crew_score *score);

/* `count` times by all together, in any order.  Misses count too.  False: it
 * failed. */
bool crew_repeat(const struct crew *crew, int64_t count);

#endif /* LOADTEST_KIT_THREAD_GROUP_H */

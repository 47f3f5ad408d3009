/* SPDX-License-Identifier: MIT */
/* rate.h -- request rates as people write them: one rate, or steps of rates. */
#ifndef LOADTEST_OPEN_LOOP_RATE_H
#define LOADTEST_OPEN_LOOP_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RATE_MAX = 10000000, RATE_STEPS_MAX = 200, RATE_WHY_MAX = 160 };

/* `count` rates in requests a second: from, from + by, ... */
struct rate_steps {
    int64_t from, by;
    int count;
};

/* Read "2000" (one step) or "1000..20000/1000" (from 1,000 to 20,000 by 1,000; without the
 * last part in ten equal steps).  False: `why` (RATE_WHY_MAX bytes) names the place and
 * what is accepted there; *out is untouched. */
bool rate_parse(const char *text, struct rate_steps *out, char *why);

/* The rate of step `i`, from 0. */
int64_t rate_of(const struct rate_steps *steps, int i);

#endif /* LOADTEST_OPEN_LOOP_RATE_H */

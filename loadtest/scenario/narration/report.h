/* SPDX-License-Identifier: MIT */
/* report.h -- how the performances of a command went. */
#ifndef LOADTEST_SCENARIO_NARRATION_REPORT_H
#define LOADTEST_SCENARIO_NARRATION_REPORT_H

#include "loadtest/scenario/batch.h"

/* The lock and, where there is one, the guard: "lua+fence". */
void performance_lock(const struct performance *p, char *out, size_t size);

/* How long a measurement takes. */
int64_t troupe_length_ms(const struct troupe *t);

/* On stderr, now and then: how far a measurement is. */
void troupe_tell_news(struct troupe *t);
/* A line on stdout for one that has ended, if there are several or it is measured. */
void troupe_tell_end(const struct troupe *t, const struct performance *p);
/* The stories of those that did not come out as expected, and how many there are. */
void troupe_sum_up(const struct troupe *t);

/* The table of a measurement, and the page.  False: said on stderr why. */
bool troupe_write_table(const struct troupe *t);
bool troupe_write_page(const struct troupe *t);

#endif /* LOADTEST_SCENARIO_NARRATION_REPORT_H */

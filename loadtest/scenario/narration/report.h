/* SPDX-License-Identifier: MIT */
/* report.h -- the report of the performances of a command. */
#ifndef LOADTEST_SCENARIO_NARRATION_REPORT_H
#define LOADTEST_SCENARIO_NARRATION_REPORT_H

#include "loadtest/scenario/batch.h"

/* The lock and, where there is one, the guard: "lua+fence". */
void performance_lock(const struct performance *p, char *out, size_t size);

/* The duration of a measurement. */
int64_t batch_length_ms(const struct batch *t);

/* Show the progress of the performances, if the next output is due. */
void batch_tell_news(struct batch *t);
/* Print a line on stdout for a performance that has ended, if there are several or it is a
 * measurement, and tell the series of the run. */
void batch_tell_end(const struct batch *t, const struct performance *p);
/* Print the stories of the performances that were not as expected, and how many were. */
void batch_sum_up(const struct batch *t);

/* The table of a measurement or of stories, also where --markdown says, the same for programs
 * (summary.json, stories.json), and the page.
 * False: the reason is on stderr. */
bool batch_write_table(const struct batch *t);
bool batch_write_stories(const struct batch *t);
bool batch_write_page(const struct batch *t);

#endif /* LOADTEST_SCENARIO_NARRATION_REPORT_H */

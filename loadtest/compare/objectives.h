/* SPDX-License-Identifier: MIT */
/* objectives.h -- the objectives of a comparison, compared with every run that was done. */
#ifndef LOADTEST_COMPARE_OBJECTIVES_H
#define LOADTEST_COMPARE_OBJECTIVES_H

#include "loadtest/compare/compare.h"

enum { COMPARE_OBJECTIVE_MAX = 256 };

/* Does every run keep every objective?  False: `says` names the first objective that does not
 * hold, with the first run that shows it. */
bool comparison_objectives_hold(const struct comparison *c, char says[COMPARE_OBJECTIVE_MAX]);

/* A line for each objective, those that do not hold first; nothing if there are none. */
void comparison_objectives_print(FILE *out, const struct comparison *c);

/* An array with an object for each; the caller owns it. */
json_t *comparison_objectives_json(const struct comparison *c);

#endif /* LOADTEST_COMPARE_OBJECTIVES_H */

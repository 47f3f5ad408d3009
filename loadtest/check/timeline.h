/* SPDX-License-Identifier: MIT */
/* timeline.h -- the holders of a lock over time, drawn with characters.
 *
 * A row for each owner, a column for each slice of time:
 *
 *     .  asks and waits      =  holds, as promised      !  works on after its lease
 *     X  promised to two at once
 *
 * Beneath, a row of faults, and the scale.
 */
#ifndef LOADTEST_CHECK_TIMELINE_H
#define LOADTEST_CHECK_TIMELINE_H

#include <stdio.h>

#include "loadtest/check/check.h"

enum { TIMELINE_WIDTH_DEFAULT = 80, TIMELINE_OWNERS_MAX = 12 };

/* Columns of the terminal that `out` is; TIMELINE_WIDTH_DEFAULT if it is none. */
int timeline_width(FILE *out);

/* Draw the window of an example, `width` columns wide, in colour if `out` may have it.
 * Owners beyond TIMELINE_OWNERS_MAX are left out, and the number of their calls is printed. */
void timeline_draw(FILE *out, int width, const struct history *h,
                   const struct check_example *example);

#endif /* LOADTEST_CHECK_TIMELINE_H */

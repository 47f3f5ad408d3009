/* SPDX-License-Identifier: MIT */
/* style.h -- colours of a terminal, and when they and animation may be used. */
#ifndef LOADTEST_KIT_STYLE_H
#define LOADTEST_KIT_STYLE_H

#include <stdbool.h>
#include <stdio.h>

enum report_style { STYLE_PLAIN, STYLE_GOOD, STYLE_BAD, STYLE_WARN, STYLE_BOLD };

/* May `out` be coloured?  Only a terminal that is not dumb, and not with NO_COLOR. */
bool report_has_color(FILE *out);
/* May a line on `out` be drawn over?  Only on a terminal that is not dumb. */
bool report_is_live(FILE *out);

/* The escape sequence for a style on `out`, or "". */
const char *report_style(FILE *out, enum report_style style);

#endif /* LOADTEST_KIT_STYLE_H */

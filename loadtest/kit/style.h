/* SPDX-License-Identifier: MIT */
/* style.h -- colours of a terminal, and when they and animation may be used.
 *
 * Threads     style_choose() and style_page_stdout() are called before there are others; the
 *             rest reads only.
 */
#ifndef LOADTEST_KIT_STYLE_H
#define LOADTEST_KIT_STYLE_H

#include <stdbool.h>
#include <stdio.h>

enum report_style { STYLE_PLAIN, STYLE_GOOD, STYLE_BAD, STYLE_WARN, STYLE_BOLD };

/* The names of the choices, NULL past the last: "auto", "always", "never". */
const char *style_choice_at(size_t i);
/* From now on: "auto" colours terminals, unless $NO_COLOR is set and not empty; "always"
 * colours stdout and stderr, wherever they go; "never" colours nothing.  Files are not
 * coloured.  NULL changes nothing. */
void style_choose(const char *choice);
/* From now on stdout, a pipe to a pager, counts as the terminal that the pager writes to. */
void style_page_stdout(void);

/* May a line on `out` be overwritten?  True for a terminal that is not dumb. */
bool report_is_live(FILE *out);

/* The escape sequence for a style on `out`, or "". */
const char *report_style(FILE *out, enum report_style style);

#endif /* LOADTEST_KIT_STYLE_H */

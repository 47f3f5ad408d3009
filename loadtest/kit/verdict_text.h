/* SPDX-License-Identifier: MIT */
/* verdict_text.h -- what people are shown: verdicts, and where colour and animation are fine.
 */
#ifndef LOADTEST_KIT_VERDICT_TEXT_H
#define LOADTEST_KIT_VERDICT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "loadtest/audit/audit.h"

enum report_style { STYLE_PLAIN, STYLE_GOOD, STYLE_BAD, STYLE_WARN, STYLE_BOLD };

/* May `out` be coloured?  Only a terminal that is not dumb, and not with NO_COLOR. */
bool report_has_color(FILE *out);
/* May a line on `out` be drawn over?  Only on a terminal that is not dumb. */
bool report_is_live(FILE *out);

/* The escape sequence for a style on `out`, or "". */
const char *report_style(FILE *out, enum report_style style);

/* The verdict first, then each finding with its examples. */
void report_verdict(FILE *out, const struct audit_verdict *verdict, const char *source);

#endif /* LOADTEST_KIT_VERDICT_TEXT_H */

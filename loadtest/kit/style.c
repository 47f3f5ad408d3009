/* SPDX-License-Identifier: MIT */
/* style.c -- colours of a terminal, and when they may be used. */
#include "loadtest/kit/style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool report_is_live(FILE *out)
{
    const char *term = getenv("TERM");

    return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}

bool report_has_color(FILE *out)
{
    const char *no_color = getenv("NO_COLOR");

    return report_is_live(out) && (!no_color || !*no_color);
}

const char *report_style(FILE *out, enum report_style style)
{
    static const char *const codes[] = {
        [STYLE_PLAIN] = "\033[0m",  [STYLE_GOOD] = "\033[34m",
        [STYLE_BAD] = "\033[1;31m", [STYLE_WARN] = "\033[33m", [STYLE_BOLD] = "\033[1m",
    };

    return report_has_color(out) ? codes[style] : "";
}

/* SPDX-License-Identifier: MIT */
/* style.c -- colours of a terminal, and when they may be used. */
#include "loadtest/kit/style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadtest/kit/name_list.h"

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

NAME_LIST(style_choice_at, [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always",
          [COLOR_NEVER] = "never")

static struct {
    enum color color;
    bool stdout_is_paged;
} chosen;

void style_choose(const char *choice)
{
    if (choice)
        chosen.color = (enum color)words_place(style_choice_at, choice);
}

void style_page_stdout(void)
{
    chosen.stdout_is_paged = true;
}

bool report_is_live(FILE *out)
{
    const char *term = getenv("TERM");

    return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}

/* May `out` be coloured? */
static bool has_color(FILE *out)
{
    const char *no_color = getenv("NO_COLOR");

    if (chosen.color != COLOR_AUTO)
        return chosen.color == COLOR_ALWAYS && (out == stdout || out == stderr);
    if (no_color && *no_color)
        return false;
    return report_is_live(out) || (out == stdout && chosen.stdout_is_paged);
}

const char *report_style(FILE *out, enum report_style style)
{
    static const char *const codes[] = {
        [STYLE_PLAIN] = "\033[0m",  [STYLE_GOOD] = "\033[32m",
        [STYLE_BAD] = "\033[1;31m", [STYLE_WARN] = "\033[33m", [STYLE_BOLD] = "\033[1m",
    };

    return has_color(out) ? codes[style] : "";
}

/* SPDX-License-Identifier: MIT */
/* verdict_text.c -- verdicts for people, and when colour is fine. */
#include "loadtest/kit/verdict_text.h"

#include <inttypes.h>
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

static const char *mark(enum audit_valid valid)
{
    return valid == AUDIT_VALID ? "ok " : valid == AUDIT_INVALID ? "BAD" : "?  ";
}

static enum report_style style_of(enum audit_valid valid)
{
    return valid == AUDIT_VALID     ? STYLE_GOOD
           : valid == AUDIT_INVALID ? STYLE_BAD
                                    : STYLE_WARN;
}

void report_verdict(FILE *out, const struct audit_verdict *v, const char *source)
{
    const char *plain = report_style(out, STYLE_PLAIN);

    fprintf(out,
            "%s%s%s: issued %" PRId64 ", orders %" PRId64 ", left %" PRId64
            "; clients were told of %" PRId64 ", unsure of %" PRId64 " (from %s)\n",
            report_style(out, style_of(v->valid)),
            v->valid == AUDIT_VALID     ? "VALID"
            : v->valid == AUDIT_INVALID ? "INVALID"
                                        : "UNKNOWN",
            plain, v->issued, v->orders, v->left, v->told, v->unsure, source);
    for (int i = 0; i < AUDIT_CHECK_COUNT; i++) {
        const struct audit_finding *f = &v->findings[i];

        fprintf(out, "  %s%s%s %-15s", report_style(out, style_of(f->valid)),
                mark(f->valid), plain, audit_check_name((enum audit_check)i));
        if (f->valid == AUDIT_VALID)
            fprintf(out, " no\n");
        else
            fprintf(out, " %" PRId64 "  %s\n", f->count,
                    audit_check_text((enum audit_check)i));
        for (int k = 0; k < f->example_count; k++)
            fprintf(out, "        %s\n", f->examples[k]);
        if (f->count > f->example_count && f->example_count == AUDIT_EXAMPLES)
            fprintf(out, "        ...\n");
    }
}

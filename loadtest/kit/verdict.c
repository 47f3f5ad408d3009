/* SPDX-License-Identifier: MIT */
/* verdict.c -- the verdicts, and the rule that makes one verdict of several. */
#include "loadtest/kit/verdict.h"

#include <stddef.h>

static const struct {
    const char *name, *title, *mark, *beside;
    enum report_style style;
    enum exit_code exit;
} VERDICT_ROWS[VERDICT_COUNT] = {
#define X(id, name, title, mark, beside, style)                                        \
    {name, title, mark, beside, STYLE_##style, EXIT_##id},
    VERDICTS(X)
#undef X
};

enum verdict verdict_worse(enum verdict a, enum verdict b)
{
    return a > b ? a : b;
}

void verdict_count(struct verdict_counts *counts, enum verdict verdict)
{
    counts->of[verdict]++;
}

enum verdict verdict_worst(const struct verdict_counts *counts)
{
    enum verdict worst = VERDICT_VALID;

    for (int v = 0; v < VERDICT_COUNT; v++)
        if (counts->of[v] > 0)
            worst = (enum verdict)v;
    return worst;
}

const char *verdict_name(enum verdict verdict)
{
    return VERDICT_ROWS[verdict].name;
}

const char *verdict_title(enum verdict verdict)
{
    return VERDICT_ROWS[verdict].title;
}

const char *verdict_mark(enum verdict verdict)
{
    return VERDICT_ROWS[verdict].mark;
}

const char *verdict_beside_expectation(enum verdict verdict)
{
    return VERDICT_ROWS[verdict].beside;
}

enum report_style verdict_style(enum verdict verdict)
{
    return VERDICT_ROWS[verdict].style;
}

json_t *verdict_to_json(enum verdict verdict)
{
    return verdict == VERDICT_UNKNOWN ? json_string(verdict_name(verdict))
                                      : json_boolean(verdict == VERDICT_VALID);
}

enum exit_code verdict_exit(enum verdict verdict)
{
    return VERDICT_ROWS[verdict].exit;
}

enum exit_code verdict_worse_exit(enum exit_code a, enum exit_code b)
{
    static const enum exit_code ORDER[] = {EXIT_BUG, EXIT_UNAVAILABLE, EXIT_INVALID,
                                           EXIT_UNKNOWN};

    for (size_t i = 0; i < sizeof ORDER / sizeof ORDER[0]; i++)
        if (a == ORDER[i] || b == ORDER[i])
            return ORDER[i];
    return a != EXIT_VALID ? a : b;
}

/* SPDX-License-Identifier: MIT */
/* rate.c -- request rates as people write them. */
#include "loadtest/open_loop/rate.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { STEPS_WITHOUT_NUMBER = 10 };

static bool refuse(char *why, const char *text, const char *at, const char *expected)
{
    if (*at)
        snprintf(why, RATE_WHY_MAX, "at \"%.20s\" (character %d): expected %s", at,
                 (int)(at - text) + 1, expected);
    else
        snprintf(why, RATE_WHY_MAX, "at its end: expected %s", expected);
    return false;
}

/* A whole number from 1 to RATE_MAX at *at, which moves behind it. */
static bool read_rate(const char **at, int64_t *out)
{
    int64_t value = 0;
    const char *c = *at;

    while (isdigit((unsigned char)*c) && value <= RATE_MAX)
        value = value * 10 + (*c++ - '0');
    if (value < 1 || value > RATE_MAX)
        return false;
    *at = c;
    *out = value;
    return true;
}

bool rate_parse(const char *text, struct rate_steps *out, char *why)
{
    static const char number[] = "a whole number of requests per second, 1 to 10000000";
    struct rate_steps steps = {.count = 1};
    const char *at = text;
    int64_t to;

    if (!read_rate(&at, &steps.from))
        return refuse(why, text, at, number);
    to = steps.from;
    if (strncmp(at, "..", 2) == 0) {
        const char *begin = at += 2;

        if (!read_rate(&at, &to))
            return refuse(why, text, at, number);
        if (to <= steps.from)
            return refuse(why, text, begin, "a rate above the first one");
        steps.by = (to - steps.from) / (STEPS_WITHOUT_NUMBER - 1);
        if (steps.by == 0)
            steps.by = 1;
        if (*at == '/') {
            at++;
            if (!read_rate(&at, &steps.by))
                return refuse(why, text, at, number);
        }
        if ((to - steps.from) / steps.by >= RATE_STEPS_MAX)
            return refuse(why, text, begin, "at most 200 steps");
        steps.count = (int)((to - steps.from) / steps.by) + 1;
    }
    if (*at)
        return refuse(why, text, at, "nothing more, or a form such as 1000..20000/1000");
    *out = steps;
    return true;
}

int64_t rate_of(const struct rate_steps *steps, int i)
{
    return steps->from + steps->by * i;
}

/* SPDX-License-Identifier: MIT */
/* objective.c -- a limit that the answers of a step must keep. */
#include "loadtest/open_loop/objective.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"

static const char expected_name[] =
    "a name: p50, p90, p99, p99.9, p99.99, mean, max, failed, accepted or unanswered";
static const char expected_sign[] = "\"<\" or \">\"";
static const char expected_duration[] = "a duration such as 50ms or 2s";
static const char expected_share[] = "a share such as 0.1%";

static const struct subject {
    const char *name;
    double (*measure)(const struct step_result *, double);
    bool is_share;
} subjects[] = {
    {"mean", step_mean_ms, false},     {"max", step_max_ms, false},
    {"failed", step_failed, true},     {"accepted", step_accepted, true},
    {"unanswered", step_unanswered, true},
};

static bool refuse(char *why, const char *text, const char *at, const char *expected)
{
    snprintf(why, OBJECTIVE_WHY_MAX, "\"%s\", %s%.20s%s: expected %s", text,
             *at ? "at \"" : "at its end", at, *at ? "\"" : "", expected);
    return false;
}

/* "p99.9": the share 0.999.  False: this is no quantile. */
static bool read_quantile(const char *name, double *share)
{
    char *end;

    if (name[0] != 'p' || !isdigit((unsigned char)name[1]))
        return false;
    *share = strtod(name + 1, &end) / 100;
    return *end == '\0' && *share > 0 && *share < 1;
}

/* Digits and at most one point, without sign or exponent, and what follows them. */
static bool read_number(const char *text, double *value, const char **rest)
{
    size_t size = strspn(text, "0123456789.");
    char *end;

    if (size == 0 || !isdigit((unsigned char)text[0]))
        return false;
    *value = strtod(text, &end);
    *rest = text + size;
    return end == *rest;
}

/* The limit behind the sign: "50ms" or "0.1%". */
static bool read_limit(const char *text, bool is_share, double *limit)
{
    const char *unit;
    int64_t ms;

    if (!is_share && duration_parse(text, &ms)) {
        *limit = (double)ms;
        return true;
    }
    if (!read_number(text, limit, &unit))
        return false;
    if (!is_share) { /* 2.5ms, which duration_parse() does not take */
        *limit *= strcmp(unit, "s") == 0 ? 1000 : 1;
        return strcmp(unit, "ms") == 0 || strcmp(unit, "s") == 0;
    }
    *limit /= 100;
    return strcmp(unit, "%") == 0 && *limit <= 1;
}

static bool parse_one(const char *text, struct objective *out, char *why)
{
    size_t name_size = strcspn(text, "<>");
    const struct subject *subject = NULL;
    char name[OBJECTIVE_TEXT_MAX];

    if (strlen(text) >= sizeof out->text)
        return refuse(why, text, "", "at most 47 characters");
    *out = (struct objective){.at_least = text[name_size] == '>'};
    strcpy(out->text, text);
    memcpy(name, text, name_size);
    name[name_size] = '\0';
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        if (strcmp(name, subjects[i].name) == 0)
            subject = &subjects[i];
    if (subject)
        out->measure = subject->measure;
    else if (read_quantile(name, &out->share))
        out->measure = step_quantile_ms;
    else
        return refuse(why, text, text, expected_name);
    if (text[name_size] == '\0')
        return refuse(why, text, text + name_size, expected_sign);
    if (!read_limit(text + name_size + 1, subject && subject->is_share, &out->limit))
        return refuse(why, text, text + name_size + 1,
                      subject && subject->is_share ? expected_share : expected_duration);
    return true;
}

bool objectives_parse(const char *text, struct objectives *out, char *why)
{
    struct objectives all = {0};
    char one[OBJECTIVE_TEXT_MAX * 2];

    while (*text) {
        size_t size = strcspn(text, ",\n");

        if (all.count == OBJECTIVES_MAX)
            return refuse(why, text, text, "at most 16 objectives");
        snprintf(one, sizeof one, "%.*s", (int)size, text);
        if (!parse_one(one, &all.at[all.count++], why))
            return false;
        text += size;
        text += *text != '\0';
    }
    *out = all;
    return true;
}

bool objective_holds(const struct objective *objective, const struct step_result *step,
                     double *value)
{
    double measured = objective->measure(step, objective->share);

    if (value)
        *value = measured;
    return objective->at_least ? measured > objective->limit : measured < objective->limit;
}

bool objectives_hold(const struct objectives *objectives, const struct step_result *step)
{
    for (int i = 0; i < objectives->count; i++)
        if (!objective_holds(&objectives->at[i], step, NULL))
            return false;
    return step_flaw(step) == NULL;
}

/* SPDX-License-Identifier: MIT */
/* objective.c -- a limit that a run must keep: its syntax, its reading and its judgement.
 */
#include "loadtest/objective/objective.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/kit/files.h"

static const char expected_name[] =
    "a name: p50, p90, p95, p99, p99.9, p99.99, mean, max, failed, accepted, unanswered, rate, "
    "oversold, doubles or lost";
static const char expected_sign[] = "\"<\", \"<=\", \"=\", \">=\" or \">\"";

enum unit { UNIT_DURATION, UNIT_SHARE, UNIT_COUNT };

static const char *const expected_limits[] = {
    [UNIT_DURATION] = "a duration such as 50ms or 2s",
    [UNIT_SHARE] = "a share such as 0.1%",
    [UNIT_COUNT] = "a whole number such as 0",
};

static const struct {
    const char *name;
    enum unit unit;
} rows[FIGURE_COUNT + 1] = {
#define X(id, name, unit) {name, UNIT_##unit},
    FIGURES(X)
#undef X
    {"", UNIT_DURATION},
};

/* The longer signs come first: "<=" before "<". */
static const struct {
    const char *text;
    enum objective_sign sign;
} signs[] = {{"<=", SIGN_AT_MOST}, {">=", SIGN_AT_LEAST}, {"<", SIGN_BELOW},
             {">", SIGN_ABOVE},    {"=", SIGN_EQUAL}};

struct measured measured_nothing(void)
{
    struct measured nothing = {0};

    for (int i = 0; i < FIGURE_COUNT; i++)
        nothing.figures[i] = NAN;
    return nothing;
}

static bool refuse(char *why, const char *text, const char *at, const char *expected)
{
    snprintf(why, OBJECTIVE_WHY_MAX, "\"%.60s\", %s%.20s%s: expected %s", text,
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

/* The limit behind the sign: "50ms", "0.1%" or "0". */
static bool read_limit(const char *text, enum unit unit, double *limit)
{
    const char *rest;
    int64_t ms;

    if (unit == UNIT_DURATION && duration_parse(text, &ms)) {
        *limit = (double)ms;
        return true;
    }
    if (!read_number(text, limit, &rest))
        return false;
    if (unit == UNIT_COUNT)
        return *rest == '\0' && !strchr(text, '.');
    if (unit == UNIT_DURATION) { /* 2.5ms, which duration_parse() does not take */
        *limit *= strcmp(rest, "s") == 0 ? 1000 : 1;
        return strcmp(rest, "ms") == 0 || strcmp(rest, "s") == 0;
    }
    *limit /= 100;
    return strcmp(rest, "%") == 0 && *limit <= 1;
}

static bool read_name(const char *name, struct objective *out)
{
    for (int i = 0; i < FIGURE_COUNT; i++) {
        if (strcmp(name, rows[i].name) == 0) {
            out->figure = (enum figure)i;
            return true;
        }
    }
    out->figure = FIGURE_QUANTILE;
    return read_quantile(name, &out->share);
}

/* The text after the sign; NULL: there is no sign. */
static const char *read_sign(const char *text, enum objective_sign *sign)
{
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        size_t size = strlen(signs[i].text);

        if (strncmp(text, signs[i].text, size) == 0) {
            *sign = signs[i].sign;
            return text + size;
        }
    }
    return NULL;
}

static bool parse_one(const char *text, struct objective *out, char *why)
{
    size_t name_size = strcspn(text, "<=>");
    char name[OBJECTIVE_TEXT_MAX];
    const char *limit;

    if (strlen(text) >= sizeof out->text)
        return refuse(why, text, "", "at most 47 characters");
    *out = (struct objective){0};
    strcpy(out->text, text);
    memcpy(name, text, name_size);
    name[name_size] = '\0';
    if (!read_name(name, out))
        return refuse(why, text, text, expected_name);
    limit = read_sign(text + name_size, &out->sign);
    if (!limit)
        return refuse(why, text, text + name_size, expected_sign);
    if (!read_limit(limit, rows[out->figure].unit, &out->limit))
        return refuse(why, text, limit, expected_limits[rows[out->figure].unit]);
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

/* Does the audit alone know the figure, after the run? */
static bool is_of_audit(const struct objective *objective)
{
    return objective->figure == FIGURE_OVERSOLD || objective->figure == FIGURE_DOUBLES ||
           objective->figure == FIGURE_LOST;
}

static struct objectives choose(const struct objectives *objectives, bool of_audit)
{
    struct objectives chosen = {0};

    for (int i = 0; i < objectives->count; i++)
        if (is_of_audit(&objectives->at[i]) == of_audit)
            chosen.at[chosen.count++] = objectives->at[i];
    return chosen;
}

struct objectives objectives_of_audit(const struct objectives *objectives)
{
    return choose(objectives, true);
}

struct objectives objectives_without_audit(const struct objectives *objectives)
{
    return choose(objectives, false);
}

static double value_of(const struct objective *objective, const struct measured *measured)
{
    if (objective->figure != FIGURE_QUANTILE)
        return measured->figures[objective->figure];
    return measured->quantile_ms ? measured->quantile_ms(measured->of, objective->share) : NAN;
}

static bool keeps(const struct objective *objective, double value)
{
    switch (objective->sign) {
    case SIGN_BELOW:
        return value < objective->limit;
    case SIGN_AT_MOST:
        return value <= objective->limit;
    case SIGN_EQUAL:
        return value <= objective->limit && value >= objective->limit;
    case SIGN_AT_LEAST:
        return value >= objective->limit;
    case SIGN_ABOVE:
        break;
    }
    return value > objective->limit;
}

enum objective_state objective_judge(const struct objective *objective,
                                     const struct measured *measured, double *value)
{
    double figure = value_of(objective, measured);

    if (value)
        *value = figure;
    if (isnan(figure))
        return OBJECTIVE_UNJUDGED;
    return keeps(objective, figure) ? OBJECTIVE_HOLDS : OBJECTIVE_MISSED;
}

void objective_value_text(const struct objective *objective, double value,
                          char out[OBJECTIVE_VALUE_MAX])
{
    switch (rows[objective->figure].unit) {
    case UNIT_DURATION:
        snprintf(out, OBJECTIVE_VALUE_MAX, "%.2f ms", value);
        break;
    case UNIT_SHARE:
        snprintf(out, OBJECTIVE_VALUE_MAX, "%.3f %%", value * 100);
        break;
    case UNIT_COUNT:
        snprintf(out, OBJECTIVE_VALUE_MAX, "%.0f", value);
        break;
    }
}

const struct objective *objectives_first_missed(const struct objectives *objectives,
                                                const struct measured *measured, char *says)
{
    char text[OBJECTIVE_VALUE_MAX];
    double value;

    if (says)
        says[0] = '\0';
    for (int i = 0; i < objectives->count; i++) {
        const struct objective *one = &objectives->at[i];
        enum objective_state state = objective_judge(one, measured, &value);

        if (state == OBJECTIVE_HOLDS)
            continue;
        objective_value_text(one, value, text);
        if (says && state == OBJECTIVE_MISSED)
            snprintf(says, OBJECTIVE_SAYS_MAX, "%s is MISSED: %s", one->text, text);
        else if (says)
            snprintf(says, OBJECTIVE_SAYS_MAX, "%s is not judged: nothing was measured",
                     one->text);
        return one;
    }
    return NULL;
}

static const char *const words[] = {
    [OBJECTIVE_HOLDS] = "holds",
    [OBJECTIVE_MISSED] = "MISSED",
    [OBJECTIVE_UNJUDGED] = "not judged",
};

static void print_one(FILE *out, const struct objective *one, const struct measured *measured,
                      bool holding)
{
    char text[OBJECTIVE_VALUE_MAX];
    double value;
    enum objective_state state = objective_judge(one, measured, &value);

    if ((state == OBJECTIVE_HOLDS) != holding)
        return;
    objective_value_text(one, value, text);
    fprintf(out, "  %-10s  %s: %s\n", words[state], one->text,
            state == OBJECTIVE_UNJUDGED ? "nothing was measured" : text);
}

void objectives_print(FILE *out, const struct objectives *objectives,
                      const struct measured *measured)
{
    if (objectives->count > 0)
        fputs("Objectives\n", out);
    for (int holding = 0; holding < 2; holding++)
        for (int i = 0; i < objectives->count; i++)
            print_one(out, &objectives->at[i], measured, holding == 1);
}

json_t *objectives_json(const struct objectives *objectives, const struct measured *measured)
{
    static const char *const names[] = {
        [OBJECTIVE_HOLDS] = "holds",
        [OBJECTIVE_MISSED] = "missed",
        [OBJECTIVE_UNJUDGED] = "not-judged",
    };
    json_t *json = json_array();
    char text[OBJECTIVE_VALUE_MAX];
    double value;

    for (int i = 0; i < objectives->count; i++) {
        enum objective_state state = objective_judge(&objectives->at[i], measured, &value);

        if (!isnan(value))
            objective_value_text(&objectives->at[i], value, text);
        json_array_append_new(
            json, json_pack("{s:s, s:s, s:o, s:s*}", "objective", objectives->at[i].text,
                            "state", names[state], "value",
                            isnan(value) ? json_null() : json_real(value), "measured",
                            isnan(value) ? NULL : text));
    }
    return json;
}

bool objectives_write(const char *path, const struct objectives *objectives,
                      const struct measured *measured)
{
    json_t *json;
    bool ok;

    if (objectives->count == 0)
        return true;
    json = objectives_json(objectives, measured);
    ok = files_write_json(path, json);
    if (!ok)
        eprintf("seckill load: cannot write %s: %s\n", path, strerror(errno));
    json_decref(json);
    return ok;
}

enum exit_code objectives_exit(bool hold, enum exit_code audited, bool found_others)
{
    bool is_judged =
        audited == EXIT_VALID || audited == EXIT_INVALID || audited == EXIT_UNKNOWN;

    return is_judged && !hold && !found_others ? EXIT_THRESHOLD : audited;
}

/* SPDX-License-Identifier: MIT */
/* objectives.c -- the objectives of a comparison, compared with every run that was done. */
#include "loadtest/compare/compare.h"

#include <inttypes.h>

/* The runs that kept and that missed one objective. */
struct tally {
    size_t runs, missed, unjudged;
    const struct cell *first; /* of those that do not hold; NULL: all hold              */
    double first_value;
    bool first_is_missed;
};

static void count_run(struct tally *t, const struct objective *objective,
                      const struct cell *cell, const struct run_record *run)
{
    struct measured measured = wrk_measured(&run->figures);
    double value;
    enum objective_state state = objective_judge(objective, &measured, &value);

    t->runs++;
    t->missed += state == OBJECTIVE_MISSED;
    t->unjudged += state == OBJECTIVE_UNJUDGED;
    /* A missed limit is reported before a limit that was not judged. */
    if (state == OBJECTIVE_HOLDS || t->first_is_missed ||
        (t->first != NULL && state == OBJECTIVE_UNJUDGED))
        return;
    t->first = cell;
    t->first_value = value;
    t->first_is_missed = state == OBJECTIVE_MISSED;
}

static struct tally count(const struct comparison *c, const struct objective *objective)
{
    struct tally t = {0};

    for (size_t i = 0; i < comparison_cell_count(c); i++)
        for (int run = 0; run < c->cells[i].run_count; run++)
            if (c->cells[i].runs[run].outcome != RUN_NOT_DONE)
                count_run(&t, objective, &c->cells[i], &c->cells[i].runs[run]);
    return t;
}

static bool holds(const struct tally *t)
{
    return t->runs > 0 && t->missed == 0 && t->unjudged == 0;
}

/* "p99<50ms is MISSED: oversell, calm, none: 61.20 ms" */
static void describe(const struct objective *objective, const struct tally *t,
                     char says[COMPARE_OBJECTIVE_MAX])
{
    char value[OBJECTIVE_VALUE_MAX];
    size_t others = t->missed + t->unjudged;

    if (t->runs == 0) {
        snprintf(says, COMPARE_OBJECTIVE_MAX, "%s is not judged: no run was done",
                 objective->text);
        return;
    }
    if (holds(t)) {
        snprintf(says, COMPARE_OBJECTIVE_MAX, "%s holds in all %zu runs", objective->text,
                 t->runs);
        return;
    }
    objective_value_text(objective, t->first_value, value);
    others--;
    snprintf(says, COMPARE_OBJECTIVE_MAX, "%s is %s: %s, %s, %s: %s%s", objective->text,
             t->first_is_missed ? "MISSED" : "not judged", t->first->experiment->name,
             t->first->hazard->name, t->first->lock,
             t->first_is_missed ? value : "nothing was measured",
             others > 0 ? ", and other runs" : "");
}

bool comparison_objectives_hold(const struct comparison *c, char says[COMPARE_OBJECTIVE_MAX])
{
    says[0] = '\0';
    for (int i = 0; i < c->objectives.count; i++) {
        struct tally t = count(c, &c->objectives.at[i]);

        if (holds(&t))
            continue;
        describe(&c->objectives.at[i], &t, says);
        return false;
    }
    return true;
}

void comparison_objectives_print(FILE *out, const struct comparison *c)
{
    char says[COMPARE_OBJECTIVE_MAX];

    if (c->objectives.count > 0)
        fputs("\nObjectives\n", out);
    for (int holding = 0; holding < 2; holding++) {
        for (int i = 0; i < c->objectives.count; i++) {
            struct tally t = count(c, &c->objectives.at[i]);

            if (holds(&t) != (holding == 1))
                continue;
            describe(&c->objectives.at[i], &t, says);
            fprintf(out, "  %s\n", says);
        }
    }
}

json_t *comparison_objectives_json(const struct comparison *c)
{
    json_t *json = json_array();
    char says[COMPARE_OBJECTIVE_MAX];

    for (int i = 0; i < c->objectives.count; i++) {
        struct tally t = count(c, &c->objectives.at[i]);

        describe(&c->objectives.at[i], &t, says);
        json_array_append_new(
            json, json_pack("{s:s, s:b, s:I, s:I, s:I, s:s}", "objective",
                            c->objectives.at[i].text, "holds", holds(&t), "runs",
                            (json_int_t)t.runs, "missed", (json_int_t)t.missed, "not_judged",
                            (json_int_t)t.unjudged, "says", says));
    }
    return json;
}

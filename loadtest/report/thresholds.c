/* SPDX-License-Identifier: MIT */
/* thresholds.c -- the limits that the run had to keep, each with what was measured; those that
 * were missed come first. */
#include <string.h>

#include "loadtest/page/scene.h"
#include "loadtest/report/parts.h"
#include "loadtest/report/view.h"

enum state { MISSED, NOT_JUDGED, HOLDS, STATES };

/* A load names the state; a comparison counts the runs. */
static enum state state_of(const json_t *objective)
{
    const char *state = json_text(objective, "state");
    const json_t *holds = json_object_get(objective, "holds");

    if (strcmp(state, "holds") == 0 || json_is_true(holds))
        return HOLDS;
    if (strcmp(state, "missed") == 0 || json_whole(objective, "missed") > 0)
        return MISSED;
    return NOT_JUDGED;
}

static void print_measured(FILE *out, const json_t *objective, enum state state)
{
    char missed[FIGURE_MAX], unjudged[FIGURE_MAX], runs[FIGURE_MAX];

    figure_whole(json_whole(objective, "runs"), runs);
    figure_whole(json_whole(objective, "missed"), missed);
    figure_whole(json_whole(objective, "not_judged"), unjudged);
    if (*json_text(objective, "measured"))
        say(out, T_MEASURED, json_text(objective, "measured"));
    else if (json_whole(objective, "runs") > 0 && state == HOLDS)
        say(out, T_ALL_RUNS, runs);
    else if (json_whole(objective, "runs") > 0)
        say(out, T_RUNS, missed, runs, unjudged);
    else
        say(out, T_NOTHING);
}

static void print_row(FILE *out, const json_t *objective, enum state state)
{
    static const char *const classes[] = {"bad", "doubt", "good"};

    fputs("<tr><th scope=\"row\"><code>", out);
    page_text(out, json_text(objective, "objective"));
    fprintf(out, "</code></th><td><b class=\"%s\">", classes[state]);
    if (state == HOLDS)
        say(out, T_HOLDS);
    else if (state == MISSED)
        say(out, T_MISSED);
    else
        say(out, T_NOT_JUDGED);
    fputs("</b></td><td>", out);
    print_measured(out, objective, state);
    fputs("</td></tr>\n", out);
}

void part_thresholds(FILE *out, const struct run_data *data)
{
    const json_t *of_sale = json_object_get(view_sale(data, "."), "objectives");
    const json_t *results = json_object_get(data->json, "results");
    const json_t *list = of_sale ? of_sale
                                 : json_object_get(json_object_get(results, "summary"),
                                                   "objectives");
    const json_t *objective;
    size_t i;

    if (json_array_size(list) == 0)
        return;
    say_section(out, "thresholds", WORD_THRESHOLDS);
    fputs("<table><tbody>\n", out);
    for (int state = MISSED; state < STATES; state++)
        json_array_foreach(list, i, objective)
        {
            if ((int)state_of(objective) == state)
                print_row(out, objective, (enum state)state);
        }
    fputs("</tbody></table></section>\n", out);
}

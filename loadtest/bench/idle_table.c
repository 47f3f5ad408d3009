/* SPDX-License-Identifier: MIT */
/* idle_table.c -- the figures of the builds beside each other, for people and as JSON. */
#include "loadtest/bench/idle_plan.h"

#include "loadtest/kit/spread.h"

const struct idle_sides idle_ratios[IDLE_RATIO_COUNT] = {
#define X(id, a, b) {IDLE_SIDE_##a, IDLE_SIDE_##b},
    IDLE_RATIOS(X)
#undef X
};

static json_t *result_json(const struct idle_contest *contest, const struct spread *per_s,
                           const struct spread *ratio)
{
    json_t *row = json_pack("{s:s, s:i, s:f}", "lock", contest->variant, "threads",
                            contest->threads, "target", IDLE_RATIO_TARGET);

    for (int i = 0; i < IDLE_SIDE_COUNT; i++) {
        char key[64];

        snprintf(key, sizeof key, "%s_per_s", idle_side_name((enum idle_side)i));
        json_object_set_new(row, key, spread_json(per_s[i]));
    }
    for (int i = 0; i < IDLE_RATIO_COUNT; i++) {
        char key[64];

        snprintf(key, sizeof key, "%s_to_%s", idle_side_name(idle_ratios[i].side),
                 idle_side_name(idle_ratios[i].beside));
        json_object_set_new(row, key, spread_json(ratio[i]));
    }
    json_object_set_new(row, "reached",
                        json_boolean(ratio[IDLE_RATIO_WHOLE].median >= IDLE_RATIO_TARGET));
    json_object_set_new(row, "recorder_reached",
                        json_boolean(ratio[IDLE_RATIO_RECORDER].median >= IDLE_RATIO_TARGET));
    return row;
}

static void print_ratio(struct bench_locks *b, const struct spread *ratio)
{
    fprintf(b->tables, "  %.3f (%.2f - %.2f) %s", ratio->median, ratio->least,
            ratio->most, bench_judge(b, ratio->median >= IDLE_RATIO_TARGET));
}

static void print_contest(struct bench_locks *b, const struct idle_contest *contest,
                          struct idle_figures *f, json_t *list)
{
    struct spread per_s[IDLE_SIDE_COUNT], ratio[IDLE_RATIO_COUNT];

    for (int i = 0; i < IDLE_SIDE_COUNT; i++)
        per_s[i] = spread_of(f->per_s[i], (size_t)b->rounds);
    for (int i = 0; i < IDLE_RATIO_COUNT; i++)
        ratio[i] = spread_of(f->ratio[i], (size_t)b->rounds);
    fprintf(b->tables, "%-9s %7d %8.0f %8.0f %8.0f", contest->variant, contest->threads,
            per_s[IDLE_SIDE_BARE].median, per_s[IDLE_SIDE_IDLE].median,
            per_s[IDLE_SIDE_RECORDED].median);
    print_ratio(b, &ratio[IDLE_RATIO_WHOLE]);
    print_ratio(b, &ratio[IDLE_RATIO_RECORDER]);
    fprintf(b->tables, "  %.3f\n", ratio[IDLE_RATIO_POINTS].median);
    json_array_append_new(list, result_json(contest, per_s, ratio));
}

void idle_print(struct bench_locks *b, const struct idle_contest contests[IDLE_CONTESTS],
                struct idle_figures figures[IDLE_CONTESTS])
{
    json_t *list = json_array();

    fprintf(b->tables,
            "\nPairs of acquire and release per second: of a build without fault points "
            "and recorder\n(bare), of this one (idle), and of this one with its "
            "recorder on (recorded).  The ratios\n(least - most) of recorded to bare and "
            "to idle have to be %.2f at least; the last column\nis that of idle to "
            "bare, which are the fault points alone\n\n"
            "%-9s %7s %8s %8s %8s  %-27s  %-27s  %s\n",
            IDLE_RATIO_TARGET, "lock", "threads", "bare", "idle", "recorded",
            "recorded / bare", "recorded / idle", "idle / bare");
    for (int i = 0; i < IDLE_CONTESTS; i++)
        print_contest(b, &contests[i], &figures[i], list);
    json_object_set_new(b->results, "idle", list);
}

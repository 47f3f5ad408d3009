/* SPDX-License-Identifier: MIT */
/* points.c -- answers and latencies of the load, step by step. */
#include "loadtest/show/points.h"

#include <math.h>
#include <string.h>

#include "base/text/duration.h"

/* The time that `share` of the window's orders did not exceed; -1: there are fewer than
 * `enough`. */
static int64_t quantile_us(const struct sight *sight, double share, int64_t enough)
{
    int64_t total = 0, seen = 0, in[CONTROL_BUCKETS];

    for (int k = 0; k < CONTROL_BUCKETS; k++) {
        in[k] = sight->buckets[SIGHT_WINDOW][k] - sight->buckets[0][k];
        total += in[k];
    }
    for (int k = 0; total >= enough && k < CONTROL_BUCKETS; k++) {
        seen += in[k];
        if ((double)seen >= share * (double)total)
            return (int64_t)llround(control_bucket_end_us(k));
    }
    return -1;
}

void sight_add_point(struct sight *sight)
{
    const struct control *control = &sight->sale->wrk.control;
    struct sight_point *point = &sight->points[sight->point_count % SIGHT_STEPS];
    int64_t now[3] = {sight->accepted, sight->sold_out, control_sum(control, CONTROL_OTHER)};

    memmove(sight->buckets[0], sight->buckets[1], SIGHT_WINDOW * sizeof sight->buckets[0]);
    memset(sight->buckets[SIGHT_WINDOW], 0, sizeof sight->buckets[0]);
    control_add_latency(control, sight->buckets[SIGHT_WINDOW]);
    *point = (struct sight_point){.accepted = now[0] - sight->last[0],
                                  .sold_out = now[1] - sight->last[1],
                                  .other = now[2] - sight->last[2],
                                  .p50_us = quantile_us(sight, 0.5, 1),
                                  .p99_us = quantile_us(sight, 0.99, SIGHT_ENOUGH)};
    memcpy(sight->last, now, sizeof now);
    sight->point_count++;
    /* The next one is due a step after this one was, whenever that was taken. */
    sight->point_ns += SIGHT_STEP_MS * INT64_C(1000000);
    if (monotonic_ns() - sight->point_ns > SIGHT_STEP_MS * INT64_C(1000000))
        sight->point_ns = monotonic_ns();
}

static json_t *known(int64_t value)
{
    return value < 0 ? json_null() : json_integer(value);
}

json_t *sight_points_json(const struct sight *sight)
{
    int64_t first = sight->point_count > SIGHT_STEPS ? sight->point_count - SIGHT_STEPS : 0;
    json_t *accepted = json_array(), *sold_out = json_array(), *other = json_array(),
           *p50 = json_array(), *p99 = json_array();

    for (int64_t i = first; i < sight->point_count; i++) {
        const struct sight_point *point = &sight->points[i % SIGHT_STEPS];

        json_array_append_new(accepted, json_integer(point->accepted));
        json_array_append_new(sold_out, json_integer(point->sold_out));
        json_array_append_new(other, json_integer(point->other));
        json_array_append_new(p50, known(point->p50_us));
        json_array_append_new(p99, known(point->p99_us));
    }
    return json_pack("{s:I, s:i, s:o, s:o, s:o, s:o, s:o}", "from_ms",
                     (json_int_t)(first * SIGHT_STEP_MS), "step_ms", SIGHT_STEP_MS, "accepted",
                     accepted, "sold_out", sold_out, "other", other, "p50_us", p50, "p99_us", p99);
}

/* SPDX-License-Identifier: MIT */
/* points.c -- answers and latencies of the load, step by step. */
#include "loadtest/show/points.h"

#include <math.h>
#include <string.h>

#include "base/text/duration.h"

#define STEP_NS (POINTS_STEP_MS * INT64_C(1000000))

/* The time that `share` of the window's orders did not exceed; -1: there are fewer than
 * `enough`. */
static int64_t quantile_us(const struct show_points *points, double share, int64_t enough)
{
    int64_t total = 0, in[CONTROL_BUCKETS];

    for (int k = 0; k < CONTROL_BUCKETS; k++) {
        in[k] = points->buckets[POINTS_WINDOW][k] - points->buckets[0][k];
        total += in[k];
    }
    return total >= enough ? llround(buckets_quantile_ms(in, share) * 1000) : -1;
}

void points_resume(struct show_points *points)
{
    points->due_ns = monotonic_ns() + STEP_NS;
}

bool points_is_due(const struct show_points *points)
{
    return monotonic_ns() >= points->due_ns;
}

void points_add(struct show_points *points, const struct control *control)
{
    struct show_point *point = &points->kept[points->count % POINTS_KEPT];
    int64_t now[3] = {control_sum(control, CONTROL_ACCEPTED),
                      control_sum(control, CONTROL_SOLD_OUT),
                      control_sum(control, CONTROL_OTHER)};

    memmove(points->buckets[0], points->buckets[1], POINTS_WINDOW * sizeof points->buckets[0]);
    memset(points->buckets[POINTS_WINDOW], 0, sizeof points->buckets[0]);
    control_add_latency(control, points->buckets[POINTS_WINDOW]);
    *point = (struct show_point){.accepted = now[0] - points->last[0],
                                 .sold_out = now[1] - points->last[1],
                                 .other = now[2] - points->last[2],
                                 .p50_us = quantile_us(points, 0.5, 1),
                                 .p99_us = quantile_us(points, 0.99, POINTS_ENOUGH)};
    memcpy(points->last, now, sizeof now);
    points->count++;
    /* The next point is due a step after this one was, not a step after this one was taken,
     * unless a whole step was missed. */
    points->due_ns += STEP_NS;
    if (monotonic_ns() > points->due_ns)
        points->due_ns = monotonic_ns() + STEP_NS;
}

static json_t *known(int64_t value)
{
    return value < 0 ? json_null() : json_integer(value);
}

json_t *points_json(const struct show_points *points)
{
    int64_t first = points->count > POINTS_KEPT ? points->count - POINTS_KEPT : 0;
    json_t *accepted = json_array(), *sold_out = json_array(), *other = json_array(),
           *p50 = json_array(), *p99 = json_array();

    for (int64_t i = first; i < points->count; i++) {
        const struct show_point *point = &points->kept[i % POINTS_KEPT];

        json_array_append_new(accepted, json_integer(point->accepted));
        json_array_append_new(sold_out, json_integer(point->sold_out));
        json_array_append_new(other, json_integer(point->other));
        json_array_append_new(p50, known(point->p50_us));
        json_array_append_new(p99, known(point->p99_us));
    }
    return json_pack("{s:I, s:i, s:o, s:o, s:o, s:o, s:o}", "from_ms",
                     (json_int_t)(first * POINTS_STEP_MS), "step_ms", POINTS_STEP_MS, "accepted",
                     accepted, "sold_out", sold_out, "other", other, "p50_us", p50, "p99_us", p99);
}

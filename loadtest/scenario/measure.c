/* SPDX-License-Identifier: MIT */
/* measure.c -- measured scenarios: their duration, their random numbers, and the count of
 * lost updates. */
#include "loadtest/scenario/measure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "loadtest/check/checks/checks.h"
#include "loadtest/scenario/result.h"
#include "loadtest/scenario/stage.h"

struct scenario_tally *stage_tally(struct stage *s)
{
    return &s->result->tally;
}

int64_t stage_duration_ms(const struct stage *s)
{
    return s->duration_ms;
}

/* ---- chance ---- */

void stage_begin_measuring(struct stage *s, int64_t duration_ms, uint64_t seed)
{
    s->duration_ms = duration_ms > 0 ? duration_ms : s->setup->scenario->duration_ms;
    s->result->tally.is_short = s->duration_ms < s->setup->scenario->duration_ms;
    for (int i = 0; i <= SCENARIO_ACTORS_MAX; i++)
        s->streams[i] = scenario_chance(&seed);
}

int64_t stage_draw(struct stage *s, int stream, int64_t below)
{
    if (stream < 0 || stream > SCENARIO_ACTORS_MAX || below < 1)
        stage_fail(s, "no number below %" PRId64 " from stream %d", below, stream);
    return (int64_t)(scenario_chance(&s->streams[stream]) % (uint64_t)below);
}

/* ---- updates ---- */

/* The greatest number of holders that worked at the same time, with or without a valid
 * lease.  The number can only grow when a holder is granted the lock, so these instants
 * suffice. */
static int most_at_once(const struct stage *s)
{
    const struct check *c = s->check;
    int most = 0;

    for (size_t i = 0; i < c->hold_count; i++) {
        int64_t at_ns = c->holds[i].granted_ns;
        int count = 0;

        for (size_t j = 0; j < c->hold_count; j++)
            count += c->holds[j].granted_ns <= at_ns && at_ns < c->holds[j].worked_ns;
        most = count > most ? count : most;
    }
    return most;
}

/* Each update writes one less than its client read.  The last update is the end of a chain
 * in which each client read the value that the client before it wrote.  The stock gives
 * the length of this chain, and every update outside the chain is lost.
 *
 * An update whose COMMIT was not answered counts if its order is in the database: the
 * client can find the order by the number of its request. */
bool stage_count_updates(struct stage *s)
{
    struct scenario_result *r = s->result;
    struct scenario_tally *t = &r->tally;

    if (!scenario_is_measured(s->setup->scenario))
        return true;
    t->updates = s->sold;
    t->lost = s->sold - (s->issued - s->left);
    if (t->acknowledged == 0)
        snprintf(r->why, sizeof r->why, "no update was acknowledged");
    else if (s->sold < t->acknowledged || s->sold > t->acknowledged + t->unsure)
        snprintf(r->why, sizeof r->why,
                 "there are %" PRId64 " orders, of which clients were told %" PRId64
                 " and not told %" PRId64,
                 s->sold, t->acknowledged, t->unsure);
    else if (t->lost < 0)
        snprintf(r->why, sizeof r->why, "more was taken from the stock than sold");
    else
        t->is_counted = true;
    if (t->is_counted)
        t->at_once = most_at_once(s);
    return t->is_counted;
}

void scenario_interval(int64_t part, int64_t whole, double *low, double *high)
{
    const double z = 1.959964; /* 2.5 % of a normal distribution are beyond it */
    double n = (double)whole, share = whole > 0 ? (double)part / n : 0;
    double middle = share + z * z / (2 * n);
    double reach = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n));

    *low = *high = 0;
    if (whole <= 0)
        return;
    *low = part == 0 ? 0 : 100 * (middle - reach) / (1 + z * z / n);
    *high = part == whole ? 100 : 100 * (middle + reach) / (1 + z * z / n);
}

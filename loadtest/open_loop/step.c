/* SPDX-License-Identifier: MIT */
/* step.c -- one step of an open loop, and the results of its requests. */
#include "loadtest/open_loop/step.h"

void latency_add(struct latency *latency, int64_t duration_ns)
{
    int64_t ns = duration_ns > 0 ? duration_ns : 0;

    latency->buckets[histogram_bucket((uint64_t)ns / 1000, LATENCY_BITS, LATENCY_BUCKETS)]++;
    latency->count++;
    latency->sum_ns += (double)ns;
    if (ns > latency->max_ns)
        latency->max_ns = ns;
}

double latency_quantile_ms(const struct latency *latency, double share)
{
    double max_ms = (double)latency->max_ns / 1e6;
    size_t bucket = buckets_quantile(latency->buckets, LATENCY_BUCKETS, share);
    double end_ms = (double)histogram_end(bucket, LATENCY_BITS) / 1e3;

    return bucket < LATENCY_BUCKETS - 1 && end_ms < max_ms ? end_ms : max_ms;
}

void latency_add_to(const struct latency *latency, int64_t buckets[BUCKETS])
{
    for (size_t i = 0; i < LATENCY_BUCKETS && latency->count > 0; i++)
        if (latency->buckets[i] > 0)
            buckets[bucket_of_us(histogram_end(i, LATENCY_BITS) - 1)] += latency->buckets[i];
}

double latency_mean_ms(const struct latency *latency)
{
    return latency->count > 0 ? latency->sum_ns / (double)latency->count / 1e6 : 0;
}

static const double lag_allowed_ms = 1, lag_allowed_share = 0.1, whole_processor = 0.95;
static const double reached_share = 0.95;

/* The quantiles that files and tables show. */
static const struct quantile {
    const char *name;
    double share;
} quantiles[] = {{"p50_ms", 0.5},   {"p90_ms", 0.9},     {"p99_ms", 0.99},
                 {"p99.9_ms", 0.999}, {"p99.99_ms", 0.9999}, {"max_ms", 1}};

double step_quantile_ms(const struct step_result *step, double share)
{
    return latency_quantile_ms(&step->latency, share);
}

double step_max_ms(const struct step_result *step)
{
    return latency_quantile_ms(&step->latency, 1);
}

static double share_of(const struct step_result *step, int64_t count)
{
    return step->due > 0 ? (double)count / (double)step->due : 0;
}

static double unanswered(const struct step_result *step)
{
    return share_of(step, step->unanswered + step->unsent);
}

double step_failed(const struct step_result *step)
{
    return share_of(step, answers_failed(&step->answers)) + unanswered(step);
}

static double quantile_ms(const void *of, double share)
{
    return step_quantile_ms(of, share);
}

/* The figures that objectives are compared with, without the audit's counts.  Borrows *step. */
static struct measured measured_of(const struct step_result *step)
{
    struct measured measured = measured_nothing();
    int64_t accepted = answers_accepted(&step->answers);

    if (step->latency.count > 0) {
        measured.quantile_ms = quantile_ms;
        measured.of = step;
        measured.figures[FIGURE_MEAN] = latency_mean_ms(&step->latency);
        measured.figures[FIGURE_MAX] = step_max_ms(step);
    }
    measured.figures[FIGURE_FAILED] = step_failed(step);
    measured.figures[FIGURE_UNANSWERED] = unanswered(step);
    measured.figures[FIGURE_ACCEPTED] = share_of(step, accepted);
    if (step->duration_ms > 0)
        measured.figures[FIGURE_RATE] = (double)accepted * 1000 / (double)step->duration_ms;
    return measured;
}

bool step_holds(const struct step_result *step, const struct objectives *objectives, char *says)
{
    struct measured measured = measured_of(step);
    struct objectives own = objectives_without_audit(objectives);

    return objectives_first_missed(&own, &measured, says) == NULL && step_flaw(step) == NULL;
}

const char *step_flaw(const struct step_result *step)
{
    double lag_ms = latency_quantile_ms(&step->lag, 0.99);

    if (step->is_cut_short)
        return "interrupted";
    if (step->is_ramp)
        return "the rate rose";
    if (step->processor > whole_processor)
        return "the generator used a whole processor";
    if (lag_ms > lag_allowed_ms && lag_ms > lag_allowed_share * step_quantile_ms(step, 0.99))
        return "the generator was late";
    return NULL;
}

bool step_falls_short(const struct step_result *step)
{
    return step->answered_per_s < reached_share * (double)step->rate;
}

bool step_sustains(const struct step_result *step, const struct objectives *objectives)
{
    return !step_falls_short(step) && step_holds(step, objectives, NULL);
}

static json_t *latency_json(const struct latency *latency)
{
    json_t *json = json_object();

    json_object_set_new(json, "count", json_integer((json_int_t)latency->count));
    json_object_set_new(json, "mean_ms", json_real(latency_mean_ms(latency)));
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++)
        json_object_set_new(json, quantiles[i].name,
                            json_real(latency_quantile_ms(latency, quantiles[i].share)));
    return json;
}

json_t *step_json(const struct step_result *step)
{
    const char *flaw = step_flaw(step);

    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:f, s:f, s:o, s:o, s:o, "
                     "s:b, s:b, s:s*, s:o*}",
                     "rate", (json_int_t)step->rate, "duration_ms",
                     (json_int_t)step->duration_ms, "due", (json_int_t)step->due, "sent",
                     (json_int_t)step->sent, "unsent", (json_int_t)step->unsent,
                     "unanswered", (json_int_t)step->unanswered, "queued",
                     (json_int_t)step->queued, "outcomes", answers_json(&step->answers),
                     "answered_per_s", step->answered_per_s, "generator_processor",
                     step->processor, "latency", latency_json(&step->latency),
                     "latency_accepted", latency_json(&step->accepted), "generator_lag",
                     latency_json(&step->lag), "counts", flaw == NULL,
                     "reached", !step_falls_short(step), "flaw", flaw, "ramp",
                     step->is_ramp ? json_true() : NULL);
}

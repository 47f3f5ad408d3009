/* SPDX-License-Identifier: MIT */
/* wrk_figures.c -- the figures of a run of wrk, from the file that its script writes. */
#include "loadtest/open_loop/wrk_figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "loadtest/open_loop/answers.h"

static const struct {
    const char *key;
    double share;
} quantiles[WRK_QUANTILES] = {{"p50_ms", 0.5},  {"p90_ms", 0.9},     {"p95_ms", 0.95},
                              {"p99_ms", 0.99}, {"p99.9_ms", 0.999}, {"p99.99_ms", 0.9999}};

static int quantile_of(double share)
{
    for (int i = 0; i < WRK_QUANTILES; i++)
        if (fabs(share - quantiles[i].share) < 1e-9)
            return i;
    return -1;
}

static double quantile_ms(const void *of, double share)
{
    const struct wrk_figures *figures = of;
    int i = quantile_of(share);

    return i < 0 ? NAN : figures->quantiles_ms[i];
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double sum_of(const json_t *outcomes, bool (*is_one)(enum answer_kind))
{
    double sum = 0;
    const char *name;
    json_t *count;

    json_object_foreach((json_t *)(uintptr_t)outcomes, name, count) {
        if (is_one(answer_kind_of(name)))
            sum += json_number_value(count);
    }
    return sum;
}

static void take_shares(double figures[FIGURE_COUNT], const json_t *load)
{
    const json_t *outcomes = json_object_get(load, "outcomes");
    double sent = number(load, "sent"), unanswered = number(load, "unanswered");

    if (!(sent > 0))
        return;
    figures[FIGURE_UNANSWERED] = unanswered / sent;
    figures[FIGURE_FAILED] = (sum_of(outcomes, answer_is_failure) + unanswered) / sent;
    figures[FIGURE_ACCEPTED] = sum_of(outcomes, answer_is_accepted) / sent;
}

/* The findings that are figures, too. */
static const struct {
    enum figure figure;
    enum audit_check check;
} audited[] = {{FIGURE_OVERSOLD, AUDIT_OVERSOLD},
               {FIGURE_DOUBLES, AUDIT_DUPLICATE},
               {FIGURE_LOST, AUDIT_LOST_UPDATE}};

enum { AUDITED_COUNT = sizeof audited / sizeof audited[0] };

static double count_of(const struct audit_verdict *verdict, enum audit_check check)
{
    const struct audit_finding *finding = &verdict->findings[check];

    return finding->valid == VERDICT_UNKNOWN ? NAN : (double)finding->count;
}

void figures_audit(double figures[FIGURE_COUNT], const struct audit_verdict *verdict)
{
    for (int i = 0; i < AUDITED_COUNT; i++)
        figures[audited[i].figure] = count_of(verdict, audited[i].check);
}

static bool is_about(const struct objectives *objectives, enum audit_check check)
{
    for (int i = 0; i < AUDITED_COUNT; i++)
        for (int k = 0; audited[i].check == check && k < objectives->count; k++)
            if (objectives->at[k].figure == audited[i].figure)
                return true;
    return false;
}

bool figures_found_others(const struct objectives *objectives,
                          const struct audit_verdict *verdict)
{
    for (int i = 0; i < AUDIT_CHECK_COUNT; i++)
        if (verdict->findings[i].valid == VERDICT_INVALID &&
            !is_about(objectives, (enum audit_check)i))
            return true;
    return false;
}

void wrk_figures_read(struct wrk_figures *out, const char *dir,
                      const struct run_result *result)
{
    char path[FILES_PATH_MAX];
    struct measured nothing = measured_nothing();
    const json_t *latency;
    json_t *load;

    memcpy(out->figures, nothing.figures, sizeof out->figures);
    files_join(path, dir, "load.json");
    load = access(path, R_OK) == 0 ? files_read_json(path) : NULL;
    latency = json_object_get(load, "latency_accepted");
    for (int i = 0; i < WRK_QUANTILES; i++)
        out->quantiles_ms[i] = number(latency, quantiles[i].key);
    out->figures[FIGURE_MEAN] = number(latency, "mean_ms");
    out->figures[FIGURE_MAX] = number(latency, "max_ms");
    take_shares(out->figures, load);
    if (load)
        out->figures[FIGURE_RATE] = result->orders_per_s;
    figures_audit(out->figures, &result->verdict);
    json_decref(load);
}

struct measured wrk_measured(const struct wrk_figures *figures)
{
    struct measured measured = {.quantile_ms = quantile_ms, .of = figures};

    memcpy(measured.figures, figures->figures, sizeof measured.figures);
    return measured;
}

bool objectives_suit_wrk(const struct objectives *objectives, char *why)
{
    for (int i = 0; i < objectives->count; i++) {
        const struct objective *one = &objectives->at[i];

        if (one->figure == FIGURE_QUANTILE && quantile_of(one->share) < 0) {
            snprintf(why, OBJECTIVE_WHY_MAX,
                     "\"%s\": wrk's figures have p50, p90, p95, p99, p99.9 and p99.99", one->text);
            return false;
        }
    }
    return true;
}

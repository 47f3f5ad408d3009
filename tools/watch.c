/* SPDX-License-Identifier: MIT */
/* watch.c -- alert rules and a dashboard from the list of metrics. */
#include "tools/watch.h"

#include <stdbool.h>
#include <string.h>

#include "app/metrics_list.h"
#include "base/text/text.h"

enum { QUERY_MAX = 512, PANEL_WIDTH = 12, PANEL_HEIGHT = 8 };

/* A string of JSON, which is a string of YAML too. */
static void write_string(FILE *out, const char *value)
{
    struct text text = {0};

    text_add_json(&text, value);
    fputs(text.broken ? "null" : text.bytes, out);
    text_free(&text);
}

static void write_rule(FILE *out, const char *name, const char *query, const char *for_time,
                       const char *severity, const char *says)
{
    fprintf(out, "      - alert: %s\n        expr: ", name);
    write_string(out, query);
    fprintf(out, "\n        for: %s\n        labels: {severity: %s}\n"
                 "        annotations:\n          summary: ",
            for_time, severity);
    write_string(out, says);
    fputc('\n', out);
}

void watch_rules(FILE *out)
{
    fputs("# Alert rules for Prometheus; written by `make docs` from tools/watch.def.\n"
          "groups:\n  - name: seckill\n    rules:\n",
          out);
#define ALERT(name, figure, limit, for_time, severity, says)                           \
    write_rule(out, name, figure " " limit, for_time, severity, says);
#include "tools/watch.def"
}

/* ---- the dashboard ---- */

struct dashboard {
    FILE *out;
    int panels; /* that were begun */
};

static void begin_panel(struct dashboard *d, const char *title, const char *help,
                        const char *unit)
{
    int i = d->panels++;

    fprintf(d->out, "%s\n    {\"id\": %d, \"type\": \"timeseries\", \"title\": ",
            i > 0 ? "," : "", i + 1);
    write_string(d->out, title);
    fputs(", \"description\": ", d->out);
    write_string(d->out, help);
    fprintf(d->out,
            ",\n     \"datasource\": {\"type\": \"prometheus\", \"uid\": \"${datasource}\"}, "
            "\"gridPos\": {\"x\": %d, \"y\": %d, \"w\": %d, \"h\": %d},\n"
            "     \"fieldConfig\": {\"defaults\": {\"unit\": \"%s\"}, \"overrides\": []},\n"
            "     \"targets\": [",
            i % 2 * PANEL_WIDTH, i / 2 * PANEL_HEIGHT, PANEL_WIDTH, PANEL_HEIGHT, unit);
}

static void write_target(const struct dashboard *d, char id, const char *query,
                         const char *legend)
{
    fprintf(d->out, "%s\n       {\"refId\": \"%c\", \"expr\": ", id > 'A' ? "," : "", id);
    write_string(d->out, query);
    fputs(", \"legendFormat\": ", d->out);
    write_string(d->out, legend);
    fputc('}', d->out);
}

static void end_panel(const struct dashboard *d)
{
    fputs("]}", d->out);
}

/* The labels of a metric behind `first`, each between `before` and `after`. */
static void list_labels(const struct metrics_entry *e, char out[QUERY_MAX], const char *first,
                        const char *before, const char *after)
{
    int len = snprintf(out, QUERY_MAX, "%s", first);

    for (int l = 0; l < METRICS_LABELS_MAX && len < QUERY_MAX; l++)
        if (e->labels[l] != METRICS_NO_LABEL)
            len += snprintf(out + len, (size_t)(QUERY_MAX - len), "%s%s%s", before,
                            metrics_label_name(e->labels[l]), after);
}

static void write_quantile(const struct dashboard *d, const struct metrics_entry *e, char id,
                           const char *quantile, const char *labels, const char *legend)
{
    char query[3 * QUERY_MAX], named[QUERY_MAX + 32];

    (void)snprintf(query, sizeof query,
                   "histogram_quantile(%s, sum by (le, %s) (rate(%s_bucket[$__rate_interval])))",
                   quantile, labels, e->name);
    (void)snprintf(named, sizeof named, "%s quantile %s", legend, quantile);
    write_target(d, id, query, named);
}

/* A counter by its rate, a gauge as it is, a histogram by its median and its 99th
 * hundredth. */
static void write_metric(struct dashboard *d, const struct metrics_entry *e)
{
    char labels[QUERY_MAX], legend[QUERY_MAX], query[3 * QUERY_MAX];
    bool is_counter = e->type == METRICS_COUNTER;

    list_labels(e, labels, "instance", ", ", "");
    list_labels(e, legend, "{{instance}}", " {{", "}}");
    begin_panel(d, e->name, e->help,
                metrics_is_of_sizes(e)            ? "short"
                : e->type == METRICS_HISTOGRAM ? "s"
                : is_counter                    ? "cps"
                                                : "short");
    if (e->type == METRICS_HISTOGRAM) {
        write_quantile(d, e, 'A', "0.5", labels, legend);
        write_quantile(d, e, 'B', "0.99", labels, legend);
    } else {
        (void)snprintf(query, sizeof query, "sum by (%s) (%s%s%s)", labels,
                       is_counter ? "rate(" : "", e->name,
                       is_counter ? "[$__rate_interval])" : "");
        write_target(d, 'A', query, legend);
    }
    end_panel(d);
}

static void write_panel(struct dashboard *d, const char *title, const char *query,
                        const char *legend, const char *help)
{
    begin_panel(d, title, help, "short");
    write_target(d, 'A', query, legend);
    end_panel(d);
}

void watch_dashboard(FILE *out)
{
    struct dashboard d = {.out = out};
    const struct metrics_entry *e;

    fputs("{\n  \"title\": \"Seckill\", \"uid\": \"seckill\", \"schemaVersion\": 36,\n"
          "  \"description\": \"Written by `make docs` from app/metrics.def and "
          "tools/watch.def.\",\n"
          "  \"refresh\": \"10s\", \"annotations\": {\"list\": []}, "
          "\"time\": {\"from\": \"now-15m\", \"to\": \"now\"},\n"
          "  \"templating\": {\"list\": [{\"name\": \"datasource\", \"type\": \"datasource\",\n"
          "    \"label\": \"Data source\", \"query\": \"prometheus\"}]},\n"
          "  \"panels\": [",
          out);
#define PANEL(title, query, legend, help) write_panel(&d, title, query, legend, help);
#include "tools/watch.def"
    for (size_t i = 0; (e = metrics_at(i)) != NULL; i++)
        write_metric(&d, e);
    fputs("\n  ]\n}\n", out);
}

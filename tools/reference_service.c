/* SPDX-License-Identifier: MIT */
/* reference_service.c -- the pages of docs/reference about the service's HTTP side, and the
 * cells of all pages. */
#include <stdlib.h>
#include <string.h>

#include "app/metrics.h"
#include "app/outcome.h"
#include "app/routes.h"
#include "tools/reference.h"

/* A cell of a table: no bar and no line's end may stand in it. */
void reference_cell(FILE *out, const char *text)
{
    fputs("| ", out);
    for (; text != NULL && *text != '\0'; text++) {
        if (*text == '|')
            fputs("\\|", out);
        else
            fputc(*text == '\n' ? ' ' : *text, out);
    }
    fputc(' ', out);
}

void reference_code_cell(FILE *out, const char *text)
{
    if (text == NULL || *text == '\0') {
        fputs("| ", out);
        return;
    }
    fputs("| `", out);
    for (; *text != '\0'; text++) /* a bar in code needs a backslash, too */
        fprintf(out, "%s%c", *text == '|' ? "\\" : "", *text);
    fputs("` ", out);
}

void reference_end_row(FILE *out)
{
    fputs("|\n", out);
}

void reference_routes(FILE *out)
{
    static const char *const needs[] = {
        [NEED_NOTHING] = "nothing",
        [NEED_BUYER] = "a buyer's token",
        [NEED_OPERATOR] = "an operator's token",
        [NEED_ADMIN] = "the admin token",
    };
    const struct route *r;

    fputs("# Routes\n\n"
          "What both listeners of the service answer: `orders` is `--listen`, `admin` is "
          "`--admin-listen`. HEAD is\nanswered wherever GET is. Each answer names its "
          "[outcome](outcomes.md) in `X-Outcome`.\n\n"
          "| listener | method | path | needs | only |\n|---|---|---|---|---|\n",
          out);
    for (size_t i = 0; (r = route_at(i)) != NULL; i++) {
        reference_cell(out, r->listener == LISTENER_ORDERS ? "orders" : "admin");
        reference_cell(out, r->method);
        reference_code_cell(out, r->path);
        reference_cell(out, needs[r->needs]);
        reference_cell(out, r->flags & ROUTE_FAULT ? "with `--allow-faults`" : "");
        reference_end_row(out);
    }
}

void reference_outcomes(FILE *out)
{
    fputs("# Outcomes\n\n"
          "How a request can end. The name stands in the header `X-Outcome`, in logs and in "
          "metrics. The first status\nis that of `/api/v1`, the second that of the face that "
          "course projects know, where a refusal for business\nreasons is a 200 with "
          "`\"success\": false` and the message.\n\n"
          "| outcome | `/api/v1` | course face | title | message | comes with Retry-After |\n"
          "|---|---|---|---|---|---|\n",
          out);
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        const struct outcome_info *info = outcome_info((enum outcome)i);

        reference_code_cell(out, info->name);
        fprintf(out, "| %d | %d ", info->status, info->course_status);
        reference_cell(out, info->title);
        reference_cell(out, info->course_message);
        reference_cell(out, outcome_is_passing((enum outcome)i) ? "yes" : "");
        reference_end_row(out);
    }
}

void reference_outcomes_in_lua(FILE *out)
{
    fputs("-- SPDX-License-Identifier: MIT\n"
          "-- outcomes.lua -- what X-Outcome can say; written by `make docs` from\n"
          "-- app/outcome.def.\n"
          "return {\n",
          out);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        fprintf(out, "    [\"%s\"] = true,\n", outcome_info((enum outcome)i)->name);
    fputs("}\n", out);
}

/* Each metric once, with the type and the help that Prometheus reads. */
static void metric_rows(FILE *out, char *text)
{
    char name[256] = "", help[1024] = "", type[64] = "";

    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (sscanf(line, "# HELP %255s %1023[^\n]", name, help) == 2)
            continue;
        if (sscanf(line, "# TYPE %255s %63s", name, type) != 2)
            continue;
        reference_code_cell(out, name);
        reference_cell(out, type);
        reference_cell(out, help);
        reference_end_row(out);
    }
}

void reference_metrics(FILE *out)
{
    struct metrics_facts facts = {.lock = "", .admission = "", .stock_guard = "", .process = ""};
    struct metrics *m = metrics_new();
    dlock_metrics locks = {0};
    struct text text = {0};

    if (m == NULL)
        abort();
    metrics_write(m, &facts, &text);
    metrics_write_locks(&locks, "", &text);
    if (text.broken)
        abort();
    fputs("# Metrics\n\n"
          "`GET /metrics` on the admin listener, with the admin token. A metric of a histogram "
          "has the endings `_bucket`,\n`_sum` and `_count`.\n\n"
          "| metric | type | what it counts |\n|---|---|---|\n",
          out);
    metric_rows(out, text.bytes);
    text_free(&text);
    metrics_free(m);
}


/* SPDX-License-Identifier: MIT */
/* step_table.c -- the steps of an open loop as lines of a table. */
#include "loadtest/open_loop/step_table.h"

#include <inttypes.h>

void step_table_head(FILE *out, const struct objectives *objectives)
{
    fprintf(out,
            "requests per second              latency in ms, from when a request was due       "
            "         generator\n"
            "%9s %9s %9s %9s %9s %9s %9s %9s %9s %9s%s\n",
            "asked", "answered", "p50", "p99", "p99.9", "p99.99", "max", "failed %", "lag p99",
            "processor", objectives->count > 0 ? "  objectives" : "");
    fflush(out);
}

static void print_verdict(FILE *out, const struct objectives *objectives,
                          const struct step_result *step)
{
    const char *flaw = step_flaw(step);
    char says[OBJECTIVE_SAYS_MAX];

    if (flaw) {
        fprintf(out, "  not counted: %s", flaw);
        return;
    }
    if (step_falls_short(step))
        fputs("  rate not reached", out);
    if (!step_holds(step, objectives, says))
        fprintf(out, "  %s", says);
    else if (objectives_without_audit(objectives).count > 0)
        fputs("  hold", out);
}

void step_table_row(FILE *out, const struct objectives *objectives,
                    const struct step_result *step)
{
    fprintf(out, "%9" PRId64 " %9.0f %9.2f %9.2f %9.2f %9.2f %9.2f %9.3f %9.2f %8.0f %%",
            step->rate, step->answered_per_s, step_quantile_ms(step, 0.5),
            step_quantile_ms(step, 0.99), step_quantile_ms(step, 0.999),
            step_quantile_ms(step, 0.9999), step_max_ms(step), step_failed(step) * 100,
            latency_quantile_ms(&step->lag, 0.99), step->processor * 100);
    print_verdict(out, objectives, step);
    fputc('\n', out);
    fflush(out);
}

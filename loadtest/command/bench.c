/* SPDX-License-Identifier: MIT */
/* bench.c -- `seckill bench`: orders per second over HTTP, each beside pgbench. */
#include <stdlib.h>

#include "base/text/settings.h"
#include "loadtest/bench/orders.h"
#include "loadtest/command/commands.h"
#include "loadtest/command/run_report.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/sale/service.h"

enum { CLIENTS_MAX = 1000 };

struct bench_settings {
    const char *dir, *out, *clients, *markdown;
    int64_t repeats, processes, duration_ms;
    bool quiet, json_lines;
};

#define AT(field) offsetof(struct bench_settings, field)
static const struct setting settings[] = {
    OPTION(COUNT, "repeats", AT(repeats), .fallback = "5", .meta = "N", .min = 1,
           .max = BENCH_ORDERS_REPEATS_MAX, .help = "the number of measurements of each line"),
    OPTION(TEXT, "clients", AT(clients), .fallback = "16,64,256", .meta = "N,N,...",
           .help = "the connections of wrk, one measurement for each number; the targets, and "
                   "figures without a number of clients, are for 64"),
    OPTION(COUNT, "processes", AT(processes), .fallback = "1", .meta = "N", .min = 1,
           .max = SERVICE_MAX, .help = "seckilld processes that share the clients"),
    OPTION(DURATION, "duration", AT(duration_ms), .fallback = "4s", .meta = "TIME",
           .min = 1000, .max = 600000, .help = "the duration of each measurement"),
    COMMAND_MARKDOWN(AT(markdown)),
    COMMAND_OUT(AT(out)),
    COMMAND_OWN_DIR(AT(dir)),
    COMMAND_QUIET(AT(quiet)),
    COMMAND_JSON_LINES(AT(json_lines)),
};

const struct setting_program command_bench_program = {
    .name = "seckill bench",
    .synopsis = "[OPTIONS]",
    .intro =
        "Measure accepted orders per second over HTTP, without a lock and with `reentrant`, as\n"
        "ratios to pgbench with the same SQL and the number of clients that makes it fastest.\n"
        "For `combined` also: the ratio to pgbench with the SQL of a batch of 64 orders, the\n"
        "ratio to an HTTP handler that does nothing, the speed of \"sold out\", the time of a\n"
        "single client compared with `each`, and the memory of 1,000 waiting orders.\n\n"
        "  seckill bench\n"
        "  seckill bench --clients=64 --processes=2 --duration=10s --repeats=5",
    EXITS({EXIT_VALID, "every target was reached"}, {EXIT_INVALID, "a run under load was invalid"},
          {EXIT_THRESHOLD, "a target was missed"}, {EXIT_USAGE, NULL}, {EXIT_UNAVAILABLE, NULL},
          {EXIT_BUG, NULL}, {EXIT_CANNOT_WRITE, NULL}, {EXIT_INTERRUPTED, NULL}),
    SETTINGS(settings),
};

/* Read "16,64,256" into `plan`.  False: the reason is on stderr. */
static bool read_clients(const char *text, struct bench_orders_plan *plan)
{
    const char *at = text;

    for (bool more = true; more; at++) {
        char *end = NULL;
        long n = *at >= '1' && *at <= '9' ? strtol(at, &end, 10) : 0;

        if (n < 1 || n > CLIENTS_MAX || plan->client_count == BENCH_ORDERS_SIZES_MAX ||
            (*end != ',' && *end != '\0')) {
            eprintf("seckill bench: --clients must be up to %d numbers from 1 to %d with "
                    "commas between them, such as 16,64,256, not \"%s\"\n",
                    BENCH_ORDERS_SIZES_MAX, CLIENTS_MAX, text);
            return false;
        }
        plan->clients[plan->client_count++] = (int)n;
        at = end;
        more = *at == ',';
    }
    return true;
}

/* Measure, and write the report. */
static enum exit_code measure(const struct bench_orders_plan *plan)
{
    enum exit_code rc = bench_orders(plan);

    if (*plan->dir && rc == EXIT_INTERRUPTED) {
        /* The medians need every round. */
        runs_take_back(plan->dir);
        command_explain_exit(rc, "interrupted; a bench that is cut short has no result");
    } else if (*plan->dir)
        rc = run_report(stdout, plan->dir, "bench", rc);
    return rc;
}

/* Write `end`, which has the counts of the measurements only if they have begun. */
static void tell_end(const struct series *series, enum exit_code rc, const char *dir)
{
    dir = runs_are_kept() ? dir : NULL;
    if (series)
        series_end(series, (int)rc, dir);
    else
        json_lines_write(
            "end", json_pack("{s:i, s:o}", "exit", (int)rc, "dir", json_lines_text(dir)));
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct bench_settings *v = values;
    char dir[FILES_PATH_MAX] = "";
    struct series *series = NULL;
    struct lab lab;
    struct bench_orders_plan plan = {.lab = &lab,
                                     .out = v->out,
                                     .dir = dir,
                                     .series = &series,
                                     .repeats = v->repeats,
                                     .processes = v->processes,
                                     .is_quiet = v->quiet,
                                     .duration_ms = v->duration_ms};
    enum exit_code rc = EXIT_USAGE;

    (void)s;
    if (read_clients(v->clients, &plan))
        rc = command_begin_json_lines(&command_bench_program, v->json_lines, v->quiet)
                 ? EXIT_VALID
                 : EXIT_CANNOT_WRITE;
    if (rc == EXIT_VALID)
        rc = lab_open(&lab, lab_choose_dir(v->dir), 0);
    if (rc != EXIT_VALID)
        return rc;
    rc = measure(&plan);
    tell_end(series, rc, dir);
    series_close(series);
    lab_close(&lab);
    return rc;
}

COMMAND_FUNCTION(bench, command_run_long)

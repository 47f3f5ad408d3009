/* SPDX-License-Identifier: MIT */
/* plan.c -- `seckill plan`: the servers that a sale needs, from rates that were measured. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/text/settings.h"
#include "loadtest/command/commands.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/plan/report.h"

enum { POINTS_MAX = 32 };

struct plan_settings {
    const char *bench, *points, *markdown;
    int64_t buyers, vouchers, window_ms, tries, stock, hot, peak, utilisation, outage_ms,
        locks, connections;
    bool json;
};

#define AT(field) offsetof(struct plan_settings, field)
#define LARGE 1000000000
#define ARRIVALS_MAX 1e9
static const struct setting settings[] = {
    OPTION(TEXT, "bench", AT(bench), .meta = "FILE|DIR",
           .help = "the measurement of `seckill bench`: the directory of its run, or the "
                   "bench.json in it"),
    OPTION(COUNT, "buyers", AT(buyers), .fallback = "0", .meta = "N", .min = 0, .max = LARGE,
           .help = "the number of buyers"),
    OPTION(COUNT, "vouchers", AT(vouchers), .fallback = "1", .meta = "N", .min = 1,
           .max = LARGE, .help = "the number of vouchers on sale"),
    OPTION(DURATION, "window", AT(window_ms), .fallback = "60s", .meta = "TIME", .min = 1,
           .max = 86400000, .help = "the time in which the buyers come"),
    OPTION(COUNT, "tries", AT(tries), .fallback = "1", .meta = "N", .min = 1, .max = 1000,
           .help = "the requests that each buyer sends"),
    OPTION(COUNT, "stock", AT(stock), .fallback = "1000", .meta = "N", .min = 1, .max = LARGE,
           .help = "stock of each voucher"),
    OPTION(COUNT, "hot", AT(hot), .fallback = "0", .meta = "PERCENT", .min = 0, .max = 100,
           .help = "the percentage of the requests for the hottest voucher; 0: all vouchers get "
                   "the same share"),
    OPTION(COUNT, "peak", AT(peak), .fallback = "1", .meta = "N", .min = 1, .max = 1000,
           .help = "the busiest second has N times the average of the window"),
    OPTION(COUNT, "utilisation", AT(utilisation), .fallback = "60", .meta = "PERCENT", .min = 1,
           .max = 99, .help = "the most that any part may be busy, in percent of the time"),
    OPTION(DURATION, "outage", AT(outage_ms), .fallback = "0", .meta = "TIME", .min = 0,
           .max = 3600000,
           .help = "the duration of an outage, such as a fail-over, after which its requests "
                   "are sent again"),
    OPTION(COUNT, "locks-per-s", AT(locks), .fallback = "0", .meta = "N", .min = 0,
           .max = LARGE,
           .help = "the pairs of acquire and release per second of one Redis, as `seckill "
                   "bench-locks` measured; 0: the orders per second under a lock in the bench, "
                   "which is a lower bound"),
    OPTION(COUNT, "connections", AT(connections), .fallback = "8", .meta = "N", .min = 1,
           .max = 1024, .help = "--database-connections of the service"),
    OPTION(TEXT, "points", AT(points), .meta = "FILE",
           .help = "instead of a plan: compare measured orders per second at several numbers of "
                   "partitions with the prediction from the first four (`make prove-plan`)"),
    OPTION(SWITCH, "json", AT(json), .fallback = "off", .help = "the plan as JSON on stdout"),
    COMMAND_MARKDOWN(AT(markdown)),
};

const struct setting_program command_plan_program = {
    .name = "seckill plan",
    .synopsis = "--buyers=N --bench=FILE|DIR [OPTIONS]",
    .intro =
        "Compute the partitions, Redis servers and replicas that a sale needs, and which of\n"
        "them saturates first, from rates that `seckill bench` measured on this machine.  The\n"
        "command prints each formula with its numbers, and each number with its source.\n\n"
        "  seckill bench                              measures; ten minutes\n"
        "  seckill plan --buyers=1000000 --vouchers=100 --window=60s --bench=runs/latest\n"
        "  seckill plan --buyers=1000000 --vouchers=100 --hot=20 --tries=3 --peak=5 \\\n"
        "      --outage=2s --bench=runs/latest\n\n"
        "One voucher is one row in one database, so more servers do not sell it faster.",
    EXITS({EXIT_VALID, "done"},
          {EXIT_THRESHOLD, "the hottest voucher has more orders than one row can take"},
          {EXIT_USAGE, "the command line is wrong, or the bench does not have the needed "
                       "rates"},
          {EXIT_CANNOT_WRITE, NULL}),
    SETTINGS(settings),
};

static struct plan_sale sale_of(const struct plan_settings *v)
{
    return (struct plan_sale){
        .buyers = (double)v->buyers,
        .tries = (double)v->tries,
        .window_s = (double)v->window_ms / 1000,
        .peak = (double)v->peak,
        .vouchers = (double)v->vouchers,
        .stock = (double)v->stock,
        .hot = v->hot > 0 ? (double)v->hot / 100 : 1 / (double)v->vouchers,
        .utilisation = (double)v->utilisation / 100,
        .outage_s = (double)v->outage_ms / 1000,
    };
}

/* Show a text, and write the page that --markdown asks for. */
static enum exit_code show(const char *title, char *text)
{
    bool ok;

    fputs(text, stdout);
    ok = result_page_write_text(title, text);
    free(text);
    return ok ? EXIT_VALID : EXIT_CANNOT_WRITE;
}

static enum exit_code show_points(const char *path)
{
    struct plan_point points[POINTS_MAX];
    char *text = NULL;
    size_t size = 0;
    int count = 0;
    FILE *out;

    if (!points_read(path, points, POINTS_MAX, &count))
        return EXIT_USAGE;
    out = result_page_stream(&text, &size);
    plan_print_points(out, points, count);
    fclose(out);
    return show("A plan beside measured points", text);
}

static enum exit_code show_plan(const struct plan_report *report, bool as_json)
{
    enum exit_code rc = EXIT_VALID;
    char *text = NULL;
    size_t size = 0;
    FILE *out;

    if (as_json) {
        files_print_json(plan_to_json(report));
    } else {
        out = result_page_stream(&text, &size);
        plan_print(out, report);
        fclose(out);
        rc = show("What a sale needs", text);
    }
    return rc == EXIT_VALID && !report->plan.lane_is_enough ? EXIT_THRESHOLD : rc;
}

/* Of all vouchers one has at least the average share of the requests. */
static bool is_hot(const struct plan_settings *v)
{
    if (v->hot == 0 || v->hot * v->vouchers >= 100)
        return true;
    fprintf(stderr,
            "seckill plan: --hot=%" PRId64 ": the hottest of %" PRId64 " voucher%s has at least "
            "%.3g percent of the requests; --hot=0 gives each the same share\n",
            v->hot, v->vouchers, v->vouchers == 1 ? "" : "s", 100 / (double)v->vouchers);
    return false;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct plan_settings *v = values;
    struct plan_report report = {.sale = sale_of(v), .database_connections = v->connections};

    (void)s;
    if (v->points)
        return show_points(v->points);
    if (v->buyers == 0 || !v->bench) {
        fprintf(stderr, "seckill plan: --%s is missing%s\n", v->buyers == 0 ? "buyers" : "bench",
                v->buyers == 0 ? ", such as --buyers=1000000"
                               : ": a plan needs rates of this machine\n  measure them: seckill "
                                 "bench; then --bench=runs/latest");
        return EXIT_USAGE;
    }
    if (!is_hot(v))
        return EXIT_USAGE;
    if (report.sale.buyers * report.sale.tries * report.sale.peak / report.sale.window_s >
        ARRIVALS_MAX) {
        fprintf(stderr,
                "seckill plan: buyers * tries * peak / window is above %.0f requests a second, "
                "which no sale has: is --window in the unit that you meant (60s, 5m)?\n",
                ARRIVALS_MAX);
        return EXIT_USAGE;
    }
    if (!rates_read(v->bench, &report.read))
        return EXIT_USAGE;
    if (v->locks > 0) {
        report.read.rates.locks = (double)v->locks;
        snprintf(report.read.locks_origin, sizeof report.read.locks_origin,
                 "pairs of acquire and release, as --locks-per-s says");
    }
    plan_compute(&report.sale, &report.read.rates, &report.plan);
    return show_plan(&report, v->json);
}

COMMAND_FUNCTION(plan, command_run)

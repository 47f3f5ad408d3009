/* SPDX-License-Identifier: MIT */
/* compare.c -- `seckill compare`: its settings, its plan of runs, and its exit status. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "base/text/settings.h"
#include "loadtest/command/commands.h"
#include "loadtest/command/run_report.h"
#include "loadtest/compare/compare.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/name_list.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/sale/hazard_catalogue.h"
#include "loadtest/sale/users.h"
#include "lock/dlock.h"

enum { NAMES_MAX = 3000 }; /* of the cells in the last line */

struct compare_settings {
    const char *dir, *out, *markdown, *locks, *hazards, *experiments, *order_path, *objective,
        *color;
    int64_t repeats, hazard_repeats, processes, connections, stock;
    int64_t duration_ms, lease_ms, calm_lease_ms;
    bool front, record, quiet, json_lines;
};

#define AT(field) offsetof(struct compare_settings, field)
static const struct setting settings[] = {
    OPTION(NAMES, "locks", AT(locks), .meta = "A,B,...", .choices = words_lock_at,
           .help = "the locks; default: all locks of `seckill locks`"),
    OPTION(NAMES, "hazards", AT(hazards), .meta = "A,B,...", .choices = hazard_name_at,
           .help = "the hazards; default: all"),
    OPTION(NAMES, "experiments", AT(experiments), .meta = "A,B,...",
           .choices = experiment_name_at,
           .help = "the experiments; fencing is for locks with a fence; default: all"),
    OPTION(COUNT, "repeats", AT(repeats), .fallback = "3", .meta = "N", .min = 1,
           .max = COMPARE_REPEATS_MAX, .help = "runs of each calm cell"),
    OPTION(COUNT, "hazard-repeats", AT(hazard_repeats), .fallback = "1", .meta = "N",
           .min = 1, .max = COMPARE_REPEATS_MAX,
           .help = "runs of each cell with another hazard"),
    OPTION(DURATION, "duration", AT(duration_ms), .fallback = "8s", .meta = "TIME",
           .min = 500, .max = 3600000,
           .help = "the longest time of a run; a run ends earlier when it has shown its "
                   "outcome"),
    OPTION(COUNT, "processes", AT(processes), .fallback = "2", .meta = "N", .min = 1,
           .max = SERVICE_MAX,
           .help = "the number of seckilld processes; with 1 process even `local` holds"),
    COMMAND_FRONT(AT(front)),
    OPTION(COUNT, "connections", AT(connections), .fallback = "32", .meta = "N", .min = 2,
           .max = 256, .help = "wrk's connections"),
    OPTION(COUNT, "stock", AT(stock), .fallback = "100", .meta = "N", .min = 10,
           .max = 1000000,
           .help = "the stock of the voucher in `oversell`; a calm sale with "
                   "--order-path=stream has at least 2560, because a writer may sell 128 orders "
                   "in one transaction"),
    OPTION(CHOICE, "order-path", AT(order_path), .fallback = "each",
           .choices = order_path_name_at,
           .help = "the way in which orders become rows; with `each` the threads of a process "
                   "compete too"),
    OPTION(DURATION, "lease", AT(lease_ms), .fallback = "600ms", .meta = "TIME",
           .min = 100, .max = 60000, .help = "the lease of the locks under a hazard"),
    OPTION(DURATION, "calm-lease", AT(calm_lease_ms), .fallback = "10s", .meta = "TIME",
           .min = 100, .max = 3600000, .help = "the lease of the locks without a hazard"),
    OPTION(LINES, "objective", AT(objective), .meta = "LIMIT",
           .help = "a limit that every run has to keep, such as 'p99<50ms' or 'oversold=0'; may "
                   "be given again.  Names: " OBJECTIVE_NAMES ".  Signs: < <= = >= >.  If all "
                   "cells are as expected, a limit that is missed, or that nothing was measured "
                   "for, ends with the exit status 3"),
    COMMAND_RECORD(AT(record)),
    COMMAND_MARKDOWN(AT(markdown)),
    COMMAND_OF_RUNS,
};

const struct setting_program command_compare_program = {
    .name = "seckill compare",
    .synopsis = "[OPTIONS]",
    .intro = "Run every lock under every hazard in every experiment, audit each run, and report\n"
             "every unexpected result: a broken lock that did not break is as unexpected as a\n"
             "sound lock that broke.\n\n"
             "  seckill compare                             the whole table, in about ten minutes\n"
             "  seckill compare --locks=owner,lua --hazards=check-gap\n"
             "  seckill compare --locks=local,lua --front   all orders through one HAProxy\n"
             "  seckill compare --experiments=oversell --hazards=calm --repeats=10",
    .outro =
        "If a run fails, for example because a process does not start, the command repeats it.  "
        "If it fails again, its cell is unknown, and the comparison goes on.",
    EXITS({EXIT_VALID, "all is as expected"}, {EXIT_INVALID, "a cell is UNEXPECTED"},
          {EXIT_UNKNOWN, "a cell is unknown or has no expectation (a lock without a row in "
                         "loadtest/expect/expectations.def)"},
          {EXIT_THRESHOLD, "all is as expected, and an objective is missed, or nothing was "
                           "measured for it"},
          {EXIT_USAGE, NULL},
          {EXIT_UNAVAILABLE, "PostgreSQL, Redis, wrk or the lab cannot be started at all"},
          {EXIT_CANNOT_WRITE, NULL}, {EXIT_INTERRUPTED, NULL}),
    SETTINGS(settings),
};

static bool choose(struct comparison *c, const struct compare_settings *v)
{
    const char *names[COMPARE_HAZARDS_MAX];
    char why[OBJECTIVE_WHY_MAX];

    if (v->objective && (!objectives_parse(v->objective, &c->objectives, why) ||
                         !objectives_suit_wrk(&c->objectives, why))) {
        eprintf("seckill compare: --objective: %s\n", why);
        return false;
    }
    c->lock_count =
        words_read(command_compare_program.name, "locks", v->locks, words_lock_at, c->locks,
                   COMPARE_LOCKS_MAX);
    c->hazard_count =
        words_read(command_compare_program.name, "hazards", v->hazards, hazard_name_at, names,
                   COMPARE_HAZARDS_MAX);
    for (size_t i = 0; i < c->hazard_count; i++)
        c->hazards[i] = hazard_find(names[i]);
    c->experiment_count = words_read(command_compare_program.name, "experiments", v->experiments,
                                     experiment_name_at, names,
                                     COMPARE_EXPERIMENTS_MAX);
    for (size_t i = 0; i < c->experiment_count; i++)
        c->experiments[i] = experiment_find(names[i]);
    return comparison_cell_count(c) > 0;
}

static void make_cells(struct comparison *c, const struct compare_settings *v)
{
    c->cells = memory_need(calloc(comparison_cell_count(c), sizeof *c->cells));
    c->processes = (int)v->processes;
    c->has_front = v->front;
    c->connections = (int)v->connections;
    c->stock = v->stock;
    c->duration_ms = v->duration_ms;
    c->record = v->record;
    c->is_quiet = v->quiet;
    (void)order_path_id_find(v->order_path, &c->path);
    c->lease_ms = v->lease_ms;
    c->calm_lease_ms = v->calm_lease_ms;
    for (size_t e = 0; e < c->experiment_count; e++) {
        for (size_t h = 0; h < c->hazard_count; h++) {
            for (size_t l = 0; l < c->lock_count; l++) {
                struct cell *cell = comparison_cell(c, e, h, l);

                cell->experiment = c->experiments[e];
                cell->hazard = c->hazards[h];
                cell->lock = c->locks[l];
                cell->expected = expectation_among(
                    experiment_expectation(cell->experiment, cell->lock, cell->hazard, c->path),
                    c->processes);
                cell->needs_late_write = experiment_needs_late_write(
                    cell->experiment, cell->lock, cell->hazard, c->path);
                if (!experiment_takes(cell->experiment, cell->lock))
                    continue;
                cell->run_count = (int)(cell->hazard == &hazard_calm
                                            ? v->repeats
                                            : v->hazard_repeats);
            }
        }
    }
}

/* The names of the cells with that verdict, with commas. */
static void name_cells(const struct comparison *c, enum cell_outcome outcome,
                       char out[NAMES_MAX])
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < comparison_cell_count(c) && used < NAMES_MAX; i++) {
        const struct cell *cell = &c->cells[i];

        if (cell->run_count > 0 && cell_outcome_of(cell) == outcome)
            used += (size_t)snprintf(out + used, NAMES_MAX - used, "%s%s/%s/%s",
                                     used > 0 ? ", " : "", cell->experiment->name,
                                     cell->hazard->name, cell->lock);
    }
}

/* Explain the exit status in the last line, for people and for logs in which the exit status cannot
 * be seen. */
static void explain(const struct comparison *c, enum exit_code rc)
{
    size_t planned = comparison_planned(c), unexpected = comparison_count(c, CELL_UNEXPECTED);
    size_t unknown = comparison_count(c, CELL_UNKNOWN);
    size_t unjudged = comparison_count(c, CELL_NO_EXPECTATION);
    char names[NAMES_MAX], more[NAMES_MAX];

    name_cells(c, rc == EXIT_INVALID ? CELL_UNEXPECTED : CELL_UNKNOWN, names);
    name_cells(c, CELL_NO_EXPECTATION, more);
    if (rc == EXIT_VALID && !c->is_quiet)
        command_explain_exit(rc, "%s%zu %s as expected", planned == 1 ? "" : "all ", planned,
                             planned == 1 ? "cell is" : "cells are");
    else if (rc == EXIT_INVALID)
        command_explain_exit(rc, "%zu %s UNEXPECTED: %s", unexpected,
                             unexpected == 1 ? "cell is" : "cells are", names);
    else if (rc == EXIT_UNKNOWN && unknown > 0)
        command_explain_exit(rc, "%zu %s unknown: %s%s%s", unknown,
                             unknown == 1 ? "cell is" : "cells are", names,
                             unjudged > 0 ? "; without an expectation: " : "", more);
    else if (rc == EXIT_UNKNOWN)
        command_explain_exit(rc, "%zu %s no expectation: %s", unjudged,
                             unjudged == 1 ? "cell has" : "cells have", more);
}

static void tell_end(const struct comparison *c, enum exit_code rc)
{
    if (!json_lines_are_on())
        return;
    json_lines_write("end", json_pack("{s:i, s:o, s:i, s:i, s:i, s:i, s:o}", "exit", (int)rc,
                                      "dir", json_lines_text(runs_are_kept() ? c->dir : NULL),
                                      "as_expected",
                                      (int)comparison_count(c, CELL_AS_EXPECTED), "unexpected",
                                      (int)comparison_count(c, CELL_UNEXPECTED), "unknown",
                                      (int)comparison_count(c, CELL_UNKNOWN), "not_done",
                                      (int)comparison_count(c, CELL_NOT_DONE), "objectives",
                                      comparison_objectives_json(c)));
}

/* Write the summaries and the report.  Answers the exit status of the command. */
static enum exit_code keep(const struct comparison *c, enum exit_code rc)
{
    enum exit_code reported;

    if (!compare_write_json(c) || !compare_write_markdown(c)) {
        command_explain_exit(EXIT_CANNOT_WRITE,
                             "the summaries cannot be written to %s; the table above is all that "
                             "is left",
                             c->dir);
        return EXIT_CANNOT_WRITE;
    }
    printf("kept in %s (summary.md, summary.json)\n", c->dir);
    reported = run_report(stdout, c->dir, "compare", rc);
    if (reported != rc)
        command_explain_exit(reported, "the report cannot be written to %s", c->dir);
    return reported;
}

/* The table comes first, since a full disk may keep the summaries from being written.  `end` comes
 * last, since it has the exit status. */
static enum exit_code conclude(struct comparison *c, enum exit_code rc)
{
    char says[COMPARE_OBJECTIVE_MAX];

    c->was_interrupted = rc != EXIT_VALID;
    compare_print(stdout, c);
    comparison_objectives_print(stdout, c);
    fflush(stdout);
    if (rc == EXIT_VALID)
        rc = comparison_exit_code(c);
    explain(c, rc);
    if (rc == EXIT_VALID && !comparison_objectives_hold(c, says)) {
        rc = EXIT_THRESHOLD;
        command_explain_exit(rc, "%s", says);
    }
    rc = keep(c, rc);
    tell_end(c, rc);
    return rc;
}

/* Has a run of a cell ended with an outcome? */
static bool has_result(const struct comparison *c)
{
    for (size_t i = 0; i < comparison_cell_count(c); i++)
        if (c->cells[i].runs[0].outcome != RUN_NOT_DONE)
            return true;
    return false;
}

static enum exit_code run_in_lab(struct comparison *c, const struct compare_settings *v,
                                 struct lab *lab)
{
    int64_t begin_ns = monotonic_ns();
    enum exit_code rc;

    rc = users_ensure(lab, users_for_sale(c->stock, c->duration_ms, c->processes));
    if (rc != EXIT_VALID)
        return rc;
    files_utc_stamp(c->started, sizeof c->started);
    if (!runs_make(c->dir, v->out))
        return EXIT_CANNOT_WRITE;
    rc = comparison_run(c, lab);
    if (rc == EXIT_INTERRUPTED && !has_result(c)) {
        runs_take_back(c->dir);
        return rc;
    }
    c->elapsed_ms = (monotonic_ns() - begin_ns) / 1000000;
    return conclude(c, rc);
}

static enum exit_code run_cells(struct comparison *c, const struct compare_settings *v)
{
    lab_topologies wanted = 0;
    struct lab lab;
    enum exit_code rc;

    for (size_t i = 0; i < c->lock_count; i++)
        wanted |= lab_lock_needs(c->locks[i]);
    rc = lab_open(&lab, lab_choose_dir(v->dir), wanted);
    if (rc != EXIT_VALID)
        return rc;
    rc = run_in_lab(c, v, &lab);
    lab_close(&lab);
    return rc;
}

/* If one of these is missing, no cell can be run, however often it is tried. */
static bool has_programs(void)
{
    char path[FILES_PATH_MAX];

    files_sibling(path, "seckilld");
    if (access(path, X_OK) != 0) {
        eprintf("seckill compare: cannot run %s: %s\n  build it: make\n", path, strerror(errno));
        return false;
    }
    if (files_find_program(path, "wrk"))
        return true;
    eprintf("seckill compare: wrk is not installed\n  install it: make deps\n");
    return false;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct compare_settings *v = values;
    struct comparison c = {0};
    enum exit_code rc = EXIT_USAGE;

    (void)s;
    if (!choose(&c, v))
        return EXIT_USAGE;
    make_cells(&c, v);
    if (comparison_planned(&c) == 0)
        eprintf("seckill compare: none of these locks has a fence, so none can "
                        "take part in fencing; try --locks=fenced,zk-seq\n");
    else if (!has_programs())
        rc = EXIT_UNAVAILABLE;
    else if (!command_begin_json_lines(&command_compare_program, v->json_lines,
                                       v->quiet))
        rc = EXIT_CANNOT_WRITE;
    else {
        rc = run_cells(&c, v);
        if (!runs_are_kept())
            tell_end(&c, rc);
    }
    free(c.cells);
    return rc;
}

COMMAND_FUNCTION(compare, command_run_long)

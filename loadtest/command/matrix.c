/* SPDX-License-Identifier: MIT */
/* matrix.c -- `seckill matrix`: every scenario under every lock, with load. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "db/guard.h"
#include "loadtest/check/timeline.h"
#include "loadtest/command/commands.h"
#include "loadtest/command/run_report.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/name_list.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/live/series.h"
#include "loadtest/matrix/matrix.h"
#include "loadtest/page/matrix.h"
#include "loadtest/page/story.h"
#include "loadtest/scenario/catalogue.h"

enum { SCENARIOS_MAX = 256, LOCKS_MAX = 64, LOCK_LIST_MAX = 4096 };

struct matrix_settings {
    const char *scenarios, *locks, *guard, *part, *expect, *out, *markdown, *dir, *color;
    int64_t seed, seeds, jobs, labs, limit_ms;
    bool keep, list, quiet, json_lines;
};

/* The outcomes of a performance: all but "not spoken of". */
static const char *outcome_at(size_t i)
{
    return i + 1 < SCENARIO_OUTCOME_COUNT
               ? scenario_outcome_name((enum scenario_outcome)(i + 1), false)
               : NULL;
}

/* The stories that are a part of the matrix. */
static const char *scenario_name_at(size_t i)
{
    const struct scenario *scenario;

    for (size_t at = 0; (scenario = scenario_at(at)) != NULL; at++)
        if (scenario_is_in_all(scenario) && i-- == 0)
            return scenario->name;
    return NULL;
}

#define AT(field) offsetof(struct matrix_settings, field)
#define WHAT(kind, flag, at, ...) GROUPED(kind, flag, at, "What", __VA_ARGS__)
#define HOW(kind, flag, at, ...) GROUPED(kind, flag, at, "How", __VA_ARGS__)
static const struct setting settings[] = {
    WHAT(NAMES, "scenarios", AT(scenarios), .meta = "A,B,...", .choices = scenario_name_at,
         .help = "the scenarios; default: all scenarios that `seckill scenario run all` "
                 "performs"),
    WHAT(NAMES, "locks", AT(locks), .meta = "A,B,...", .choices = words_lock_at,
         .help = "the locks; default: all locks of `seckill locks`"),
    WHAT(CHOICE, "guard", AT(guard), .meta = "GUARD", .choices = guard_name_at,
         .help = "only the performances under this stock guard"),
    WHAT(COUNT, "seed", AT(seed), .fallback = "1", .meta = "N", .max = INT32_MAX,
         .help = "the first seed; the same seed gives the same leases, background load "
                 "and delays again"),
    WHAT(COUNT, "seeds", AT(seeds), .fallback = "5", .meta = "N", .min = 1,
         .max = MATRIX_SEEDS_MAX,
         .help = "the number of seeds; each cell is performed once for each"),
    WHAT(TEXT, "part", AT(part), .fallback = "1/1", .meta = "K/N",
         .help = "perform only every Nth performance, beginning with the Kth, to share "
                 "the work of several machines"),
    HOW(DURATION, "limit", AT(limit_ms), .fallback = "0", .meta = "TIME",
        .max = 86400000,
        .help = "begin no further performance after this time, and judge those that "
                "are done; 0: no limit"),
    HOW(COUNT, "jobs", AT(jobs), .fallback = "4", .meta = "N", .min = 1, .max = 8,
        .help = "the number of performances at a time"),
    HOW(COUNT, "labs", AT(labs), .fallback = "2", .meta = "N", .min = 1, .max = 8,
        .help = "the number of performances at a time that inject faults into servers, "
                "each in its own lab"),
    HOW(SWITCH, "keep", AT(keep), .fallback = "off",
        .help = "keep the records and the page of every performance, not only of "
                "unexpected ones"),
    HOW(SWITCH, "list", AT(list), .fallback = "off",
        .help = "print the cells with their expected outcomes, and perform nothing"),
    HOW(CHOICE, "expect", AT(expect), .meta = "OUTCOME", .choices = outcome_at,
        .help = "require this outcome of every cell, to see that the matrix can fail"),
    COMMAND_MARKDOWN(AT(markdown)),
    COMMAND_OF_RUNS,
};

const struct setting_program command_matrix_program = {
    .name = "seckill matrix",
    .synopsis = "[OPTIONS]",
    .intro =
        "Perform every scenario under every lock that has a row for it, with several seeds,\n"
        "and report each outcome that is not the expected one.  During each scenario a\n"
        "background load acquires and releases other locks of the same kind on the same\n"
        "servers.  The background load is checked too, and only a fault of its servers, or a\n"
        "machine that was too slow, explains a violation there.\n\n"
        "A seed determines the durations of leases and work, the size and the pauses of the\n"
        "background load, the delays on its connections, the server that comes first, and\n"
        "the order of the performances.\n\n"
        "  seckill matrix --list                       the cells with their expected outcomes\n"
        "  seckill matrix                              all cells, with five seeds\n"
        "  seckill matrix --scenarios=wrong-delete --locks=naive,lua --seeds=1\n"
        "  seckill matrix --limit=3m --seeds=1         as many cells as fit into three minutes\n"
        "  seckill matrix --part=1/2                   half of the cells; --part=2/2: the rest\n"
        "  seckill matrix --scenarios=nested --locks=lua --expect=holds   the report of\n"
        "                                              a failure\n\n"
        "If a broken lock does not break, its cell is as UNEXPECTED as that of a sound lock\n"
        "that breaks.  The output has, for each cell that is not as expected, the command that\n"
        "performs the cell again; matrix.html has this command for every cell.",
    EXITS({EXIT_VALID, "all that was done is as expected"}, {EXIT_INVALID, "a cell is UNEXPECTED"},
          {EXIT_UNKNOWN, "a scenario did not happen"}, {EXIT_USAGE, NULL}, {EXIT_UNAVAILABLE, NULL},
          {EXIT_BUG, NULL}, {EXIT_CANNOT_WRITE, NULL},
          {EXIT_INTERRUPTED, "interrupted; what was done until then is in the reports"}),
    SETTINGS(settings),
};

/* Print the table, and then write the files, for which a full disk may have no room.  Answers the
 * exit status of the command. */
static enum exit_code conclude(const struct matrix *m, enum exit_code rc)
{
    matrix_print(stdout, m, timeline_width(stdout));
    if (!matrix_write_json(m) || !matrix_write_markdown(m) || !matrix_write_page(m)) {
        command_explain_exit(EXIT_CANNOT_WRITE,
                             "the results cannot be written to %s; the table above is all that is "
                             "left",
                             m->dir);
        return EXIT_CANNOT_WRITE;
    }
    printf("kept in %s (matrix.html, matrix.md, matrix.json)\n", m->dir);
    return run_report(stdout, m->dir, "matrix", rc != EXIT_VALID ? rc : matrix_exit_code(m));
}

/* "2/5".  False: it is not, and said so. */
static bool read_part(const char *text, int *part, int *parts)
{
    char more;

    if (sscanf(text, "%d/%d%c", part, parts, &more) == 2 && *part >= 1 &&
        *part <= *parts && *parts <= MATRIX_PARTS_MAX)
        return true;
    eprintf("seckill matrix: --part=%s: wanted K/N with 1 <= K <= N <= %d, such as 1/2\n", text,
            MATRIX_PARTS_MAX);
    return false;
}

/* Names again, with commas, as the setups are chosen by. */
static void join(char out[LOCK_LIST_MAX], const char *const *names, size_t count)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < count && used < LOCK_LIST_MAX; i++)
        used += (size_t)snprintf(out + used, LOCK_LIST_MAX - used, "%s%s",
                                 i > 0 ? "," : "", names[i]);
}

static size_t setup_all(const struct matrix_settings *v, struct scenario_setup **out)
{
    const char *scenarios[SCENARIOS_MAX], *locks[LOCKS_MAX];
    size_t count = 0, scenario_count, lock_count;
    char list[LOCK_LIST_MAX];
    struct scenario_setup *some;

    scenario_count = words_read(command_matrix_program.name, "scenarios", v->scenarios,
                                scenario_name_at, scenarios, SCENARIOS_MAX);
    lock_count =
        words_read(command_matrix_program.name, "locks", v->locks, words_lock_at, locks, LOCKS_MAX);
    if (scenario_count == 0 || lock_count == 0)
        return 0;
    join(list, locks, lock_count);
    for (size_t i = 0; i < scenario_count; i++) {
        size_t more = scenario_setups(scenario_find(scenarios[i]), list,
                                      v->guard ? guard_find(v->guard) : NULL, &some);

        *out = memory_need(realloc(*out, (count + more + 1) * sizeof **out));
        memcpy(*out + count, some, more * sizeof *some);
        count += more;
        free(some);
    }
    if (count == 0)
        eprintf("seckill matrix: nothing to perform: none of these scenarios has an "
                        "expected outcome for these locks and this guard\n"
                        "  see: seckill matrix --list\n");
    return count;
}

static enum exit_code list(const struct matrix *m)
{
    char expected[256];
    struct matrix_totals t = matrix_sum(m);

    for (size_t i = 0; i < m->cell_count; i++) {
        const struct scenario_setup *setup = &m->cells[i].setup;

        matrix_expected_text(&m->cells[i], expected, sizeof expected);
        printf("%-5s %-26s %-13s %-12s %s\n", setup->scenario->number,
               setup->scenario->name, setup->lock->name, setup->guard->name, expected);
    }
    printf("\n%zu scenarios, %zu locks, %zu cells, %zu performances with %d seeds\n",
           t.scenarios, t.locks, t.cells, t.planned, m->seed_count);
    return EXIT_VALID;
}

static enum exit_code perform(struct matrix *m, const struct matrix_settings *v)
{
    enum exit_code rc;

    if (!command_begin_json_lines(&command_matrix_program, v->json_lines, v->quiet) ||
        !runs_make_named(m->dir, v->out, "matrix-"))
        return EXIT_CANNOT_WRITE;
    files_utc_stamp(m->started, sizeof m->started);
    rc = matrix_perform(m, v->dir, v->limit_ms);
    if (rc == EXIT_INTERRUPTED && matrix_sum(m).done == 0) {
        runs_take_back(m->dir);
        series_end(m->series, (int)rc, NULL);
        return rc;
    }
    rc = conclude(m, rc);
    series_end(m->series, (int)rc, m->dir);
    return rc;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct matrix_settings *v = values;
    struct expectation instead = {0};
    struct matrix m = {.first_seed = (uint32_t)v->seed,
                       .seed_count = (int)v->seeds,
                       .pages = &story_pages,
                       .jobs = (int)v->jobs,
                       .labs = (int)v->labs,
                       .keep = v->keep,
                       .is_quiet = v->quiet};
    struct scenario_setup *setups = NULL;
    enum exit_code rc = EXIT_USAGE;
    int part, parts;
    size_t count;

    (void)s;
    if (!read_part(v->part, &part, &parts))
        return EXIT_USAGE;
    if (v->expect != NULL) {
        size_t place = words_place(outcome_at, v->expect);

        /* outcome_at() leaves the first out. */
        instead.outcome = (enum scenario_outcome)(place + 1);
        m.expected_instead = &instead;
    }
    count = setup_all(v, &setups);
    if (matrix_make(&m, setups, count)) {
        matrix_plan(&m, part, parts);
        rc = v->list ? list(&m) : perform(&m, v);
    }
    matrix_free(&m);
    free(setups);
    return rc;
}

COMMAND_FUNCTION(matrix, command_run_long)

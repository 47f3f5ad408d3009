/* SPDX-License-Identifier: MIT */
/* run.c -- performs the planned performances, shows the progress, and keeps the results.  Of a
 * performance that was as expected only the numbers are kept. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/progress.h"
#include "loadtest/live/series.h"
#include "loadtest/matrix/matrix.h"
#include "loadtest/scenario/result.h"
#include "loadtest/scenario/pages.h"
#include "loadtest/scenario/plan.h"
#include "loadtest/scenario/run.h"
#include "loadtest/scenario/variation.h"

enum { NAME_MAX_SIZE = 200 };

struct session {
    struct matrix *m;
    struct matrix_place *order;
    int64_t limit_ms, begin_ns;
};

static struct matrix_cell *cell_at(const struct session *s, size_t i)
{
    return &s->m->cells[s->order[i].cell];
}

/* Report an unexpected performance at once, for people who watch. */
static void say_odd(const struct matrix_cell *cell, const struct matrix_run *run,
                    uint32_t seed)
{
    progress_say("%s: %s, %s, %s, seed %" PRIu32 ": %s", verdict_beside_expectation(run->verdict),
                 cell->setup.scenario->name, cell->setup.lock->name, cell->setup.guard->name, seed,
                 run->why);
}

/* ---- the files that are kept ---- */

static void keep_story(struct matrix_cell *cell, const char *dir, bool is_odd)
{
    char path[FILES_PATH_MAX];

    if (cell->story != NULL && (cell->story_is_odd || !is_odd))
        return;
    files_join(path, dir, "story.txt");
    free(cell->story);
    cell->story = files_read(path, NULL);
    files_join(path, dir, STORY_ZH_FILE);
    free(cell->story_zh);
    cell->story_zh = files_read(path, NULL);
    cell->story_is_odd = is_odd;
}

/* --out may be relative, and a tree is removed by its whole path only. */
static void remove_run(const char *dir)
{
    char *whole = realpath(dir, NULL);

    if (whole == NULL || !files_remove_tree(whole))
        eprintf("seckill matrix: cannot remove %s: %s\n", dir, strerror(errno));
    free(whole);
}

/* Remove the records of a performance.  The settings of the first performance with seckilld
 * stay. */
static void remove_but_settings(struct matrix *m, const char *dir)
{
    char path[FILES_PATH_MAX], *text = NULL;

    files_join(path, dir, "service.json");
    if (!m->has_service)
        text = files_read(path, NULL);
    remove_run(dir);
    m->has_service = m->has_service || text != NULL;
    if (text != NULL && (!files_make_dir(dir) || !files_write(path, text)))
        eprintf("seckill matrix: cannot write %s: %s\n", path, strerror(errno));
    free(text);
}

static void keep_or_remove(struct matrix *m, const struct matrix_cell *cell,
                           struct matrix_run *run, const char *dir)
{
    char part[FILES_PATH_MAX], page[FILES_PATH_MAX], *parts[] = {part};

    run->is_kept = m->keep || run->verdict != VERDICT_VALID;
    snprintf(run->dir, sizeof run->dir, "%s", strrchr(dir, '/') + 1);
    if (!run->is_kept) {
        remove_but_settings(m, dir);
        return;
    }
    files_join(part, dir, "page.part");
    files_join(page, dir, "page.html");
    /* write_page() prints its failure on stderr. */
    m->pages->write_page(page, cell->setup.scenario->name, parts, 1);
}

/* ---- the listener of the scenarios ---- */

static struct scenario_variation vary(void *arg, size_t i, char *name, size_t size)
{
    const struct session *s = arg;
    const struct scenario_setup *setup = &cell_at(s, i)->setup;
    uint32_t seed = matrix_seed(s->m, s->order[i].seed);

    snprintf(name, size, "%s-%s-%s-seed-%" PRIu32, setup->scenario->name,
             setup->lock->name, setup->guard->name, seed);
    return scenario_vary(seed, setup->scenario->name, setup->lock->name,
                         setup->guard->name);
}

static bool may_begin(void *arg)
{
    const struct session *s = arg;

    if (s->limit_ms == 0 || monotonic_ns() - s->begin_ns < s->limit_ms * 1000000)
        return true;
    s->m->was_limited = true;
    return false;
}

static void tell_series(struct session *s, size_t i)
{
    const struct matrix_cell *cell = cell_at(s, i);
    const struct matrix_run *run = &cell->runs[s->order[i].seed];
    uint32_t seed = matrix_seed(s->m, s->order[i].seed);
    json_t *more = NULL;
    char name[NAME_MAX_SIZE];

    series_hide(s->m->series);
    snprintf(name, sizeof name, "%s, %s, seed %" PRIu32, cell->setup.scenario->name,
             cell->setup.lock->name, seed);
    if (json_lines_are_on())
        more = json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:o, s:s}", "run", name, "scenario",
                         cell->setup.scenario->name, "lock", cell->setup.lock->name, "guard",
                         cell->setup.guard->name, "seed", (json_int_t)seed, "verdict",
                         verdict_beside_expectation(run->verdict), "outcome",
                         run->verdict == VERDICT_UNKNOWN
                             ? json_null()
                             : json_string(scenario_outcome_name(run->outcome, false)),
                         "why", run->verdict == VERDICT_VALID ? "" : run->why);
    series_done(s->m->series, &run->verdict, run->took_ms, more);
}

static void on_end(void *arg, size_t i, const struct scenario_result *result,
                   const char *dir)
{
    struct session *s = arg;
    struct matrix_cell *cell = cell_at(s, i);
    struct matrix_run *run = &cell->runs[s->order[i].seed];
    bool is_odd;

    matrix_record(run, result);
    is_odd = run->verdict != VERDICT_VALID;
    tell_series(s, i);
    if (is_odd && !s->m->is_quiet)
        say_odd(cell, run, matrix_seed(s->m, s->order[i].seed));
    keep_story(cell, dir, is_odd);
    keep_or_remove(s->m, cell, run, dir);
}

static struct series *open_series(const struct matrix *m, size_t count, int64_t limit_ms)
{
    const struct series_options shown = {
        .command = "matrix",
        .piece = "performance",
        .good = verdict_beside_expectation(VERDICT_VALID),
        .bad = verdict_beside_expectation(VERDICT_INVALID),
        .count = count,
        .limit_ms = limit_ms,
        .is_quiet = m->is_quiet};

    return series_open(&shown);
}

enum exit_code matrix_perform(struct matrix *m, const char *lab_dir, int64_t limit_ms)
{
    struct session s = {.m = m, .limit_ms = limit_ms, .begin_ns = monotonic_ns()};
    struct scenario_listener listener = {
        .vary = vary, .may_begin = may_begin, .on_end = on_end, .arg = &s};
    struct scenario_run run = {.dir = lab_dir,
                               .out = m->dir,
                               .pages = m->pages,
                               .jobs = m->jobs,
                               .labs = m->labs,
                               .listener = &listener};
    struct scenario_setup *setups;
    size_t count = matrix_order(m, &s.order);
    enum exit_code rc;

    m->series = run.series = open_series(m, count, limit_ms);
    setups = memory_need(calloc(count + 1, sizeof *setups));
    for (size_t i = 0; i < count; i++)
        setups[i] = cell_at(&s, i)->setup;
    rc = scenario_run_all(&run, setups, count, NULL);
    series_hide(m->series);
    m->elapsed_ms = (monotonic_ns() - s.begin_ns) / 1000000;
    m->was_interrupted = interrupted();
    free(setups);
    free(s.order);
    return rc;
}

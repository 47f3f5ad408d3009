/* SPDX-License-Identifier: MIT */
/* run.c -- perform what is planned, show how far it is, and keep of each
 * performance what is worth it: of one that was as expected, the numbers. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/progress.h"
#include "loadtest/matrix/matrix.h"
#include "loadtest/scenario/result.h"
#include "loadtest/scenario/pages.h"
#include "loadtest/scenario/plan.h"
#include "loadtest/scenario/run.h"
#include "loadtest/scenario/variation.h"

struct session {
    struct matrix *m;
    struct matrix_place *order;
    size_t odd;
    int64_t limit_ms;
    struct progress progress;
};

static struct matrix_cell *cell_at(const struct session *s, size_t i)
{
    return &s->m->cells[s->order[i].cell];
}

/* ---- progress ---- */

static void show_progress(struct session *s, const struct matrix_cell *last)
{
    const char *scenario = last->setup.scenario->name, *lock = last->setup.lock->name;

    if (s->odd > 0)
        progress_show(&s->progress, "%zu not as expected, %s, %s", s->odd, scenario, lock);
    else
        progress_show(&s->progress, "%s, %s", scenario, lock);
}

/* Report an unexpected performance at once, for people who watch. */
static void say_odd(const struct matrix_cell *cell, const struct matrix_run *run,
                    uint32_t seed)
{
    progress_say("%s: %s, %s, %s, seed %" PRIu32 ": %s", verdict_beside_expectation(run->verdict),
                 cell->setup.scenario->name, cell->setup.lock->name, cell->setup.guard->name, seed,
                 run->why);
}

/* ---- what is kept ---- */

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
        fprintf(stderr, "seckill matrix: cannot remove %s: %s\n", dir, strerror(errno));
    free(whole);
}

static void keep_or_remove(const struct matrix *m, const struct matrix_cell *cell,
                           struct matrix_run *run, const char *dir)
{
    char part[FILES_PATH_MAX], page[FILES_PATH_MAX], *parts[] = {part};

    run->is_kept = m->keep || run->verdict != VERDICT_VALID;
    snprintf(run->dir, sizeof run->dir, "%s", strrchr(dir, '/') + 1);
    if (!run->is_kept) {
        remove_run(dir);
        return;
    }
    files_join(part, dir, "page.part");
    files_join(page, dir, "page.html");
    /* write_page() prints its failure on stderr. */
    m->pages->write_page(page, cell->setup.scenario->name, parts, 1);
}

/* ---- what the runner asks and tells ---- */

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

    if (s->limit_ms == 0 || monotonic_ns() - s->progress.begin_ns < s->limit_ms * 1000000)
        return true;
    s->m->was_limited = true;
    return false;
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
    s->progress.done++;
    s->odd += is_odd;
    if (is_odd)
        say_odd(cell, run, matrix_seed(s->m, s->order[i].seed));
    keep_story(cell, dir, is_odd);
    keep_or_remove(s->m, cell, run, dir);
    show_progress(s, cell);
}

enum exit_code matrix_perform(struct matrix *m, const char *lab_dir, int64_t limit_ms)
{
    struct session s = {.m = m, .limit_ms = limit_ms};
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

    progress_begin(&s.progress, count);
    setups = memory_need(calloc(count + 1, sizeof *setups));
    for (size_t i = 0; i < count; i++)
        setups[i] = cell_at(&s, i)->setup;
    rc = scenario_run_all(&run, setups, count);
    progress_end();
    m->elapsed_ms = (monotonic_ns() - s.progress.begin_ns) / 1000000;
    m->was_interrupted = interrupted();
    free(setups);
    free(s.order);
    return rc;
}

/* SPDX-License-Identifier: MIT */
/* matrix_run.c -- perform what is planned, show how far it is, and keep of each
 * performance what is worth it: of one that was as expected, the numbers. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "loadtest/interrupt.h"
#include "loadtest/matrix.h"
#include "loadtest/report.h"
#include "loadtest/scenario_run.h"

enum { SAY_EVERY_MS = 10000 }; /* where a line cannot be drawn over                    */

struct session {
    struct matrix *m;
    struct matrix_place *order;
    size_t count, done, odd;
    int64_t begin_ns, limit_ms, said_ns;
};

static struct matrix_cell *cell_at(const struct session *s, size_t i)
{
    return &s->m->cells[s->order[i].cell];
}

/* ---- progress ---- */

static void print_left(int64_t left_ms)
{
    if (left_ms < 0)
        return;
    if (left_ms >= 90000)
        fprintf(stderr, ", about %" PRId64 " min left", (left_ms + 59999) / 60000);
    else
        fprintf(stderr, ", about %" PRId64 " s left", (left_ms + 999) / 1000);
}

static void show_progress(struct session *s, const struct matrix_cell *last)
{
    int64_t now_ns = monotonic_ns(), elapsed_ms = (now_ns - s->begin_ns) / 1000000;
    bool live = report_is_live(stderr);

    if (!live && now_ns - s->said_ns < (int64_t)SAY_EVERY_MS * 1000000)
        return;
    s->said_ns = now_ns;
    fprintf(stderr, "%s[%zu/%zu] ", live ? "\r\033[K" : "", s->done, s->count);
    if (s->odd > 0)
        fprintf(stderr, "%zu not as expected, ", s->odd);
    fprintf(stderr, "%s, %s", last->cast.scenario->name, last->cast.lock->name);
    print_left(matrix_left_ms(s->done, s->count, elapsed_ms));
    if (!live)
        fputc('\n', stderr);
    fflush(stderr);
}

/* At once, for who watches. */
static void say_odd(const struct matrix_cell *cell, const struct matrix_run *run,
                    uint32_t seed)
{
    const char *end = report_is_live(stderr) ? "\r\033[K" : "";

    fprintf(stderr, "%s%s: %s, %s, %s, seed %" PRIu32 ": %s\n", end,
            matrix_verdict_name(run->verdict), cell->cast.scenario->name,
            cell->cast.lock->name, cell->cast.guard, seed, run->why);
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

    run->is_kept = m->keep || run->verdict != MATRIX_AS_EXPECTED;
    snprintf(run->dir, sizeof run->dir, "%s", strrchr(dir, '/') + 1);
    if (!run->is_kept) {
        remove_run(dir);
        return;
    }
    files_join(part, dir, "page.part");
    files_join(page, dir, "page.html");
    /* That it fails is said on stderr. */
    scenario_write_page(page, cell->cast.scenario->name, parts, 1);
}

/* ---- what the runner asks and tells ---- */

static struct scenario_variation vary(void *arg, size_t i, char *name, size_t size)
{
    const struct session *s = arg;
    const struct scenario_cast *cast = &cell_at(s, i)->cast;
    uint32_t seed = matrix_seed(s->m, s->order[i].seed);

    snprintf(name, size, "%s-%s-%s-seed-%" PRIu32, cast->scenario->name,
             cast->lock->name, cast->guard, seed);
    return scenario_vary(seed, cast->scenario->name, cast->lock->name, cast->guard);
}

static bool may_begin(void *arg)
{
    const struct session *s = arg;

    if (s->limit_ms == 0 || monotonic_ns() - s->begin_ns < s->limit_ms * 1000000)
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
    is_odd = run->verdict != MATRIX_AS_EXPECTED;
    s->done++;
    s->odd += is_odd;
    if (is_odd)
        say_odd(cell, run, matrix_seed(s->m, s->order[i].seed));
    keep_story(cell, dir, is_odd);
    keep_or_remove(s->m, cell, run, dir);
    show_progress(s, cell);
}

enum exit_code matrix_perform(struct matrix *m, const char *lab_dir, int64_t limit_ms)
{
    struct session s = {.m = m, .begin_ns = monotonic_ns(), .limit_ms = limit_ms};
    struct scenario_listener listener = {
        .vary = vary, .may_begin = may_begin, .on_end = on_end, .arg = &s};
    struct scenario_run run = {.dir = lab_dir,
                               .out = m->dir,
                               .jobs = m->jobs,
                               .labs = m->labs,
                               .listener = &listener};
    struct scenario_cast *casts;
    enum exit_code rc;

    s.count = matrix_order(m, &s.order);
    casts = check_need(calloc(s.count + 1, sizeof *casts));
    for (size_t i = 0; i < s.count; i++)
        casts[i] = cell_at(&s, i)->cast;
    s.said_ns = s.begin_ns;
    rc = scenario_run_all(&run, casts, s.count);
    if (report_is_live(stderr))
        fprintf(stderr, "\r\033[K");
    m->elapsed_ms = (monotonic_ns() - s.begin_ns) / 1000000;
    m->was_interrupted = interrupted();
    free(casts);
    free(s.order);
    return rc;
}

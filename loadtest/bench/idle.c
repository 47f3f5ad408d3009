/* SPDX-License-Identifier: MIT */
/* idle.c -- what the fault points and the recorder cost where no fault is made:
 * this build of the lock library beside one without them (lock/bare.h).
 *
 * Threads that differ from one process to the next differ by more than what is to be
 * seen.  So one process has both builds loaded, and the same threads work for each side
 * in turn, a slice of time after another.  One slice before all others and one after them
 * are not counted: there the threads come and go one by one. */
#include "loadtest/bench/locks.h"

#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "base/text/version.h"
#include "loadtest/bench/cell.h"
#include "loadtest/bench/lock_build.h"
#include "loadtest/bench/lock_pairs.h"
#include "loadtest/kit/spread.h"
#include "lock/record/record.h"

#define RATIO_TARGET 0.97

enum { SLICE_MS = 25, SLICE_NS = SLICE_MS * 1000000 };

/* A hundredth is to be seen here, which takes longer than the factors of the others: three
 * seconds are true to one and a half. */
enum { TIMES_LONGER = 10 };

/* The competitors.  Idle: every fault point is there and none is armed. */
#define SIDES(X)                                                                       \
    X(BARE, "bare")                                                                    \
    X(IDLE, "idle")                                                                    \
    X(RECORDED, "recorded")

enum side {
#define X(id, name) SIDE_##id,
    SIDES(X)
#undef X
        SIDE_COUNT
};

static const char *const side_names[] = {
#define X(id, name) name,
    SIDES(X)
#undef X
};

/* The order of the slices, over and over.  The first moments of a slice are its predecessor's,
 * so every side comes once after each, itself too: a de Bruijn sequence. */
static const enum side turn[] = {
    SIDE_RECORDED, SIDE_RECORDED, SIDE_IDLE, SIDE_IDLE, SIDE_BARE,
    SIDE_BARE,     SIDE_RECORDED, SIDE_BARE, SIDE_IDLE,
};

enum { TURN_SLICES = sizeof turn / sizeof turn[0], SLICES_EACH = SIDE_COUNT };

/* The comparisons; each is judged, but for the points alone. */
#define RATIOS(X)                                                                      \
    X(WHOLE, RECORDED, BARE)                                                           \
    X(RECORDER, RECORDED, IDLE)                                                        \
    X(POINTS, IDLE, BARE)

enum ratio {
#define X(id, a, b) RATIO_##id,
    RATIOS(X)
#undef X
        RATIO_COUNT
};

static const struct {
    enum side side, beside;
} ratios[] = {
#define X(id, a, b) {SIDE_##a, SIDE_##b},
    RATIOS(X)
#undef X
};

static const struct contest {
    const char *variant;
    int threads;
} contests[] = {{"lua", 1}, {"lua", 64}, {"reentrant", 1}, {"reentrant", 64}};

enum { CONTEST_COUNT = sizeof contests / sizeof contests[0] };

struct plan {
    const struct bench_locks *b;
    const struct contest *contest;
    const char *libraries[SIDE_COUNT];
    const char *records; /* where the recorded side leaves its own                  */
};

struct figures {
    double per_s[SIDE_COUNT][BENCH_ROUNDS_MAX];
    double ratio[RATIO_COUNT][BENCH_ROUNDS_MAX];
};

static void complain(const char *what, const char *why)
{
    fprintf(stderr, "seckill bench-locks: %s: %s\n", what, why);
}

/* --- in the cell: the sides --- */

struct competitor {
    struct lock_build build;
    dlock_system *sys;
};

/* Only a build without a recorder refuses to record. */
static bool is_bare(const struct lock_build *build, dlock_options options,
                    const char *records)
{
    dlock_system *sys;

    options.record_dir = records;
    if (build->open(&sys, &options) != DLOCK_OK)
        return strstr(build->error(), "bare build") != NULL;
    build->close(sys);
    return false;
}

static enum exit_code open_side(const struct plan *plan, enum side side,
                                struct competitor *out)
{
    struct lab_urls urls = {0};
    dlock_options options =
        bench_options(plan->b, plan->contest->variant, &urls);
    dlock_status st;

    if (!lock_build_load(&out->build, plan->libraries[side]))
        return EXIT_BUG;
    if (side == SIDE_BARE && !is_bare(&out->build, options, plan->records)) {
        complain(plan->libraries[side], "is not a bare build");
        return EXIT_BUG;
    }
    if (side == SIDE_RECORDED)
        options.record_dir = plan->records;
    st = out->build.open(&out->sys, &options);
    if (st == DLOCK_OK)
        return EXIT_VALID;
    complain(plan->libraries[side], out->build.error());
    return EXIT_UNAVAILABLE;
}

/* --- in the cell: the race --- */

struct race {
    const struct plan *plan;
    struct competitor sides[SIDE_COUNT];
    pthread_barrier_t ready;
    int64_t begin_ns;
    int64_t slices; /* that count */
    atomic_bool failed;
};

/* One cache line and more each, so that counting does not slow the others down. */
struct runner {
    _Alignas(128) pthread_t thread;
    struct race *race;
    char name[32];
    int64_t done[SIDE_COUNT];
};

/* The slice before the first that counts is the last of a turn. */
static enum side side_of(int64_t slice)
{
    return turn[(slice + TURN_SLICES - 1) % TURN_SLICES];
}

static bool pair(struct runner *runner, enum side side, bool counts)
{
    const struct competitor *c = &runner->race->sides[side];
    dlock_lease lease;

    if (c->build.acquire(c->sys, runner->name, -1, &lease) == DLOCK_OK &&
        c->build.release(c->sys, &lease) == DLOCK_OK) {
        runner->done[side] += counts;
        return true;
    }
    complain(side_names[side], c->build.error());
    atomic_store(&runner->race->failed, true);
    return false;
}

/* A pair that begins in a slice counts for the slice, and may end a little later: for every side. */
static void *run_runner(void *arg)
{
    struct runner *runner = arg;
    struct race *race = runner->race;
    int64_t slice;

    for (int i = 0; i < SIDE_COUNT; i++)
        pair(runner, (enum side)i, false); /* connects */
    pthread_barrier_wait(&race->ready);
    while (slice = (monotonic_ns() - race->begin_ns) / SLICE_NS,
           slice <= race->slices + 1 && !atomic_load(&race->failed))
        if (!pair(runner, side_of(slice), slice >= 1 && slice <= race->slices))
            break;
    return NULL;
}

static enum exit_code run_race(struct race *race, int64_t done[SIDE_COUNT])
{
    static struct runner runners[THREAD_GROUP_MAX];
    int threads = race->plan->contest->threads;

    pthread_barrier_init(&race->ready, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        runners[i].race = race;
        snprintf(runners[i].name, sizeof runners[i].name, LOCK_PAIRS_NAME, i);
        if (pthread_create(&runners[i].thread, NULL, run_runner, &runners[i]) != 0) {
            complain("a thread", "cannot be started");
            return EXIT_INVALID; /* the process ends; the others wait for it */
        }
    }
    race->begin_ns = monotonic_ns();
    pthread_barrier_wait(&race->ready);
    for (int i = 0; i < threads; i++) {
        pthread_join(runners[i].thread, NULL);
        for (int side = 0; side < SIDE_COUNT; side++)
            done[side] += runners[i].done[side];
    }
    return atomic_load(&race->failed) ? EXIT_INVALID : EXIT_VALID;
}

/* Was the recorder really on, and had it room for everything?  One that drops what it
 * is told costs less. */
static bool is_recorded(const char *records, int64_t pairs)
{
    dlock_record_header header = {0};
    char pattern[FILES_PATH_MAX];
    FILE *file = NULL;
    glob_t found = {0};
    bool ok = false;

    files_path(pattern, "%s/*%s", records, DLOCK_RECORD_SUFFIX);
    if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1)
        file = fopen(found.gl_pathv[0], "re");
    globfree(&found);
    if (file && fread(&header, sizeof header, 1, file) == 1)
        ok = header.dropped == 0 && header.closed_ns > 0 &&
             header.blocks * DLOCK_RECORD_BLOCK_SLOTS >= (uint64_t)pairs;
    if (file)
        fclose(file);
    if (!ok)
        complain(records, "the records are not complete; is the disk full?");
    return ok;
}

struct result {
    double per_s[SIDE_COUNT];
};

static enum exit_code race_cell(const void *arg, void *shared)
{
    static struct race race;
    struct result *result = shared;
    int64_t turns, done[SIDE_COUNT] = {0};
    enum exit_code rc = EXIT_VALID;

    race.plan = arg;
    turns = TIMES_LONGER * race.plan->b->duration_ms / (TURN_SLICES * SLICE_MS);
    race.slices = (turns < 1 ? 1 : turns) * TURN_SLICES;
    for (int i = 0; i < SIDE_COUNT && rc == EXIT_VALID; i++)
        rc = open_side(race.plan, (enum side)i, &race.sides[i]);
    if (rc == EXIT_VALID)
        rc = run_race(&race, done);
    if (rc != EXIT_VALID)
        return rc;
    for (int i = 0; i < SIDE_COUNT; i++) {
        int64_t slices = race.slices / TURN_SLICES * SLICES_EACH;

        race.sides[i].build.close(race.sides[i].sys);
        result->per_s[i] = (double)done[i] * 1e9 / (double)(slices * SLICE_NS);
    }
    return is_recorded(race.plan->records, done[SIDE_RECORDED]) ? EXIT_VALID : EXIT_BUG;
}

/* --- rounds --- */

static enum exit_code measure_contest(const struct plan *plan, int round,
                                      struct figures *f)
{
    struct result *result = cell_share(sizeof *result);
    enum exit_code rc = EXIT_BUG;
    struct child child;

    if (cell_start(&child, race_cell, plan, result))
        rc = cell_wait(&child, bench_limit_ms(TIMES_LONGER * plan->b->duration_ms), "idle");
    if (!files_remove_tree(plan->records) && rc == EXIT_VALID) {
        complain(plan->records, "cannot be removed");
        rc = EXIT_BUG;
    }
    for (int i = 0; i < SIDE_COUNT; i++)
        f->per_s[i][round] = result->per_s[i];
    for (int i = 0; i < RATIO_COUNT && rc == EXIT_VALID; i++)
        f->ratio[i][round] =
            f->per_s[ratios[i].side][round] / f->per_s[ratios[i].beside][round];
    cell_unshare(result, sizeof *result);
    return rc;
}

/* --- results --- */

static json_t *result_json(const struct contest *contest, const struct spread *per_s,
                           const struct spread *ratio)
{
    json_t *row = json_pack("{s:s, s:i, s:f}", "lock", contest->variant, "threads",
                            contest->threads, "target", RATIO_TARGET);

    for (int i = 0; i < SIDE_COUNT; i++) {
        char key[64];

        snprintf(key, sizeof key, "%s_per_s", side_names[i]);
        json_object_set_new(row, key, spread_json(per_s[i]));
    }
    for (int i = 0; i < RATIO_COUNT; i++) {
        char key[64];

        snprintf(key, sizeof key, "%s_to_%s", side_names[ratios[i].side],
                 side_names[ratios[i].beside]);
        json_object_set_new(row, key, spread_json(ratio[i]));
    }
    json_object_set_new(row, "reached",
                        json_boolean(ratio[RATIO_WHOLE].median >= RATIO_TARGET));
    json_object_set_new(row, "recorder_reached",
                        json_boolean(ratio[RATIO_RECORDER].median >= RATIO_TARGET));
    return row;
}

static void print_ratio(struct bench_locks *b, const struct spread *ratio)
{
    fprintf(b->tables, "  %.3f (%.2f - %.2f) %s", ratio->median, ratio->least,
            ratio->most, bench_judge(b, ratio->median >= RATIO_TARGET));
}

static void print_contest(struct bench_locks *b, const struct contest *contest,
                          struct figures *f, json_t *list)
{
    struct spread per_s[SIDE_COUNT], ratio[RATIO_COUNT];

    for (int i = 0; i < SIDE_COUNT; i++)
        per_s[i] = spread_of(f->per_s[i], (size_t)b->rounds);
    for (int i = 0; i < RATIO_COUNT; i++)
        ratio[i] = spread_of(f->ratio[i], (size_t)b->rounds);
    fprintf(b->tables, "%-9s %7d %8.0f %8.0f %8.0f", contest->variant, contest->threads,
            per_s[SIDE_BARE].median, per_s[SIDE_IDLE].median,
            per_s[SIDE_RECORDED].median);
    print_ratio(b, &ratio[RATIO_WHOLE]);
    print_ratio(b, &ratio[RATIO_RECORDER]);
    fprintf(b->tables, "  %.3f\n", ratio[RATIO_POINTS].median);
    json_array_append_new(list, result_json(contest, per_s, ratio));
}

static void print_all(struct bench_locks *b, struct figures *figures)
{
    json_t *list = json_array();

    fprintf(b->tables,
            "\nPairs of acquire and release per second: of a build without fault points "
            "and recorder\n(bare), of this one (idle), and of this one with its "
            "recorder on (recorded).  The ratios\n(least - most) of recorded to bare and "
            "to idle have to be %.2f at least; the last column\nis that of idle to "
            "bare, which are the fault points alone\n\n"
            "%-9s %7s %8s %8s %8s  %-27s  %-27s  %s\n",
            RATIO_TARGET, "lock", "threads", "bare", "idle", "recorded",
            "recorded / bare", "recorded / idle", "idle / bare");
    for (int i = 0; i < CONTEST_COUNT; i++)
        print_contest(b, &contests[i], &figures[i], list);
    json_object_set_new(b->results, "idle", list);
}

/* --bare, or what `make BUILD=bare` leaves beside this program. */
static bool find_bare(const struct bench_locks *b, char *out)
{
    if (b->bare)
        return realpath(b->bare, out) && access(out, R_OK) == 0;
    files_sibling(out, "bare/" SECKILL_LIBRARY);
    return access(out, R_OK) == 0;
}

static enum exit_code measure_rounds(struct bench_locks *b, struct plan *plan)
{
    static struct figures figures[CONTEST_COUNT];
    enum exit_code rc = EXIT_VALID;

    for (int r = 0; r < b->rounds && rc == EXIT_VALID; r++) {
        for (int i = 0; i < CONTEST_COUNT && rc == EXIT_VALID; i++) {
            plan->contest = &contests[i];
            bench_progress(b, r, "%s, %d threads, beside a bare build",
                           contests[i].variant, contests[i].threads);
            rc = measure_contest(plan, r, &figures[i]);
        }
    }
    if (rc == EXIT_VALID)
        print_all(b, figures);
    return rc;
}

enum exit_code bench_idle(struct bench_locks *b)
{
    char bare[FILES_PATH_MAX], whole[FILES_PATH_MAX], dir[FILES_PATH_MAX],
        records[FILES_PATH_MAX];
    struct plan plan = {.b = b, .libraries = {bare, whole, whole}, .records = records};

    if (!find_bare(b, bare)) {
        bool is_wanted = b->is_chosen || b->bare;

        fprintf(is_wanted ? stderr : b->tables,
                "\nidle: there is no library to measure against, %s; build it: make "
                "BUILD=bare\n",
                b->bare ? b->bare : bare);
        return is_wanted ? EXIT_UNAVAILABLE : EXIT_VALID;
    }
    files_sibling(whole, SECKILL_LIBRARY);
    if (!realpath(b->dir, dir)) {
        complain(b->dir, strerror(errno));
        return EXIT_BUG;
    }
    files_join(records, dir, "records");
    return measure_rounds(b, &plan);
}

/* SPDX-License-Identifier: MIT */
/* idle_race.c -- one process that has three builds of the lock library loaded, and threads that
 * work for each of them in turn.
 *
 * The slice before all others and the slice after them are not counted, since the threads start
 * and end one by one there. */
#include "loadtest/bench/idle_plan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/bench/lock_build.h"
#include "loadtest/bench/lock_pairs.h"
#include "loadtest/check/history.h"
#include "lock/record/record.h"

enum { SLICE_MS = 25, SLICE_NS = SLICE_MS * 1000000 };

/* The order of the slices, which is repeated.  Work of one slice may end in the next slice.
 * Therefore each side follows each side once, itself included: a de Bruijn sequence. */
static const enum idle_side turn[] = {
    IDLE_SIDE_RECORDED, IDLE_SIDE_RECORDED, IDLE_SIDE_IDLE, IDLE_SIDE_IDLE, IDLE_SIDE_BARE,
    IDLE_SIDE_BARE,     IDLE_SIDE_RECORDED, IDLE_SIDE_BARE, IDLE_SIDE_IDLE,
};

enum { TURN_SLICES = sizeof turn / sizeof turn[0], SLICES_EACH = IDLE_SIDE_COUNT };

const char *idle_side_name(enum idle_side side)
{
    static const char *const names[] = {
#define X(id, name) name,
        IDLE_SIDES(X)
#undef X
    };

    return names[side];
}

void idle_complain(const char *what, const char *why)
{
    fprintf(stderr, "seckill bench-locks: %s: %s\n", what, why);
}

/* ---- the sides ---- */

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

/* The reason was said.  A library that --bare names is the mistake of the user. */
static enum exit_code refuse_library(bool is_users)
{
    if (is_users)
        fputs("  --bare takes the library that this command builds: make BUILD=bare\n", stderr);
    return is_users ? EXIT_USAGE : EXIT_BUG;
}

static enum exit_code open_side(const struct idle_plan *plan, enum idle_side side,
                                struct competitor *out)
{
    struct lab_urls urls = {0};
    dlock_options options =
        bench_options(plan->b, plan->contest->variant, &urls);
    bool is_users = side == IDLE_SIDE_BARE && plan->b->bare != NULL;
    dlock_status st;

    if (!lock_build_load(&out->build, plan->libraries[side]))
        return refuse_library(is_users);
    if (side == IDLE_SIDE_BARE && !is_bare(&out->build, options, plan->records)) {
        idle_complain(plan->libraries[side], "is not a bare build");
        return refuse_library(is_users);
    }
    if (side == IDLE_SIDE_RECORDED)
        options.record_dir = plan->records;
    st = out->build.open(&out->sys, &options);
    if (st == DLOCK_OK)
        return EXIT_VALID;
    idle_complain(plan->libraries[side], out->build.error());
    return EXIT_UNAVAILABLE;
}

/* ---- the race ---- */

struct race {
    const struct idle_plan *plan;
    struct competitor sides[IDLE_SIDE_COUNT];
    pthread_barrier_t ready;
    int64_t begin_ns;
    int64_t slices; /* that count */
    atomic_bool failed;
};

/* Each runner has a cache line and more of its own, so that its counting does not slow the
 * others down. */
struct runner {
    _Alignas(128) pthread_t thread;
    struct race *race;
    char name[32];
    int64_t done[IDLE_SIDE_COUNT];
};

/* The slices that count begin with a turn; the slice before them is the last slice of a turn. */
static enum idle_side side_of(int64_t slice)
{
    return turn[(slice + TURN_SLICES - 1) % TURN_SLICES];
}

static bool pair(struct runner *runner, enum idle_side side, bool counts)
{
    const struct competitor *c = &runner->race->sides[side];
    dlock_lease lease;

    if (c->build.acquire(c->sys, runner->name, -1, &lease) == DLOCK_OK &&
        c->build.release(c->sys, &lease) == DLOCK_OK) {
        runner->done[side] += counts;
        return true;
    }
    idle_complain(idle_side_name(side), c->build.error());
    atomic_store(&runner->race->failed, true);
    return false;
}

/* A pair that begins in a slice counts for the slice, and may end a little later, on every
 * side. */
static void *run_runner(void *arg)
{
    struct runner *runner = arg;
    struct race *race = runner->race;
    int64_t slice;

    for (int i = 0; i < IDLE_SIDE_COUNT; i++)
        pair(runner, (enum idle_side)i, false); /* connects */
    pthread_barrier_wait(&race->ready);
    while (slice = (monotonic_ns() - race->begin_ns) / SLICE_NS,
           slice <= race->slices + 1 && !atomic_load(&race->failed))
        if (!pair(runner, side_of(slice), slice >= 1 && slice <= race->slices))
            break;
    return NULL;
}

static enum exit_code run_race(struct race *race, int64_t done[IDLE_SIDE_COUNT])
{
    static struct runner runners[THREAD_GROUP_MAX];
    int threads = race->plan->contest->threads;

    pthread_barrier_init(&race->ready, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        runners[i].race = race;
        snprintf(runners[i].name, sizeof runners[i].name, LOCK_PAIRS_NAME, i);
        if (pthread_create(&runners[i].thread, NULL, run_runner, &runners[i]) != 0) {
            idle_complain("a thread", "cannot be started");
            return EXIT_INVALID; /* the end of the process ends the other threads */
        }
    }
    race->begin_ns = monotonic_ns();
    pthread_barrier_wait(&race->ready);
    for (int i = 0; i < threads; i++) {
        pthread_join(runners[i].thread, NULL);
        for (int side = 0; side < IDLE_SIDE_COUNT; side++)
            done[side] += runners[i].done[side];
    }
    return atomic_load(&race->failed) ? EXIT_INVALID : EXIT_VALID;
}

/* The only file of records in the directory.  NULL: there is none, or several. */
static FILE *open_records(const char *records)
{
    struct dirent **entries = NULL;
    int count = history_find(records, &entries);
    char path[FILES_PATH_MAX];
    FILE *file = NULL;

    if (count == 1) {
        files_join(path, records, entries[0]->d_name);
        file = fopen(path, "re");
    }
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return file;
}

/* Did the recorder record every call?  A recorder without room drops calls, and costs less. */
static bool is_recorded(const char *records, int64_t pairs)
{
    dlock_record_header header = {0};
    FILE *file = open_records(records);
    bool ok = false;

    if (file && fread(&header, sizeof header, 1, file) == 1)
        ok = header.dropped == 0 && header.closed_ns > 0 &&
             header.blocks * DLOCK_RECORD_BLOCK_SLOTS >= (uint64_t)pairs;
    if (file)
        fclose(file);
    if (!ok)
        idle_complain(records, "the records are not complete; is the disk full?");
    return ok;
}

enum exit_code idle_race(const void *arg, void *shared)
{
    static struct race race;
    struct idle_result *result = shared;
    int64_t turns, done[IDLE_SIDE_COUNT] = {0};
    enum exit_code rc = EXIT_VALID;

    race.plan = arg;
    turns = IDLE_TIMES_LONGER * race.plan->b->duration_ms / (TURN_SLICES * SLICE_MS);
    race.slices = (turns < 1 ? 1 : turns) * TURN_SLICES;
    for (int i = 0; i < IDLE_SIDE_COUNT && rc == EXIT_VALID; i++)
        rc = open_side(race.plan, (enum idle_side)i, &race.sides[i]);
    if (rc == EXIT_VALID)
        rc = run_race(&race, done);
    if (rc != EXIT_VALID)
        return rc;
    for (int i = 0; i < IDLE_SIDE_COUNT; i++) {
        int64_t slices = race.slices / TURN_SLICES * SLICES_EACH;

        race.sides[i].build.close(race.sides[i].sys);
        result->per_s[i] = (double)done[i] * 1e9 / (double)(slices * SLICE_NS);
    }
    return is_recorded(race.plan->records, done[IDLE_SIDE_RECORDED]) ? EXIT_VALID : EXIT_BUG;
}

/* SPDX-License-Identifier: MIT */
/* bench_idle.c -- what the fault points and the recorder cost where no fault is made:
 * this build beside one without them (lock/bare.h).
 *
 * Two builds are two programs, so each measurement is a process of one or the other,
 * which answers in one line (bench_once.h).  A side has two turns in a round, as far
 * before the middle as after it, so that a machine that gets slower or faster meanwhile
 * meets all sides alike. */
#include "loadtest/bench_locks.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loadtest/bench_once.h"
#include "loadtest/cell.h"
#include "loadtest/environment.h"
#include "loadtest/interrupt.h"
#include "loadtest/spread.h"
#include "lock/record.h"

#define RATIO_TARGET 0.97

/* Who competes.  Idle: every fault point is there and none is armed. */
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

static const enum side turns[] = {SIDE_RECORDED, SIDE_IDLE, SIDE_BARE,
                                  SIDE_BARE,     SIDE_IDLE, SIDE_RECORDED};

enum { TURN_COUNT = sizeof turns / sizeof turns[0], TURNS_EACH = 2 };

/* What is compared; each is judged, but for the points alone. */
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
    const char *bare;                /* the program of that build                   */
    char whole[FILES_PATH_MAX];      /* and that of this one                        */
    char records[FILES_PATH_MAX];    /* made by the recorded side, for one turn     */
};

struct figures {
    double per_s[SIDE_COUNT][BENCH_ROUNDS_MAX];
    double ratio[RATIO_COUNT][BENCH_ROUNDS_MAX];
};

/* --- one turn --- */

static void complain(const char *program, const char *why)
{
    fprintf(stderr, "seckill bench-locks: %s %s\n", program, why);
}

/* Was the recorder really on, and had it room for everything?  One that drops what it
 * is told costs less. */
static bool is_recorded(const struct plan *plan, double pairs_per_s)
{
    double pairs = pairs_per_s * (double)plan->b->duration_ms / 1000;
    dlock_record_header header = {0};
    char pattern[FILES_PATH_MAX];
    FILE *file = NULL;
    glob_t found = {0};
    bool ok = false;

    files_path(pattern, "%s/*%s", plan->records, DLOCK_RECORD_SUFFIX);
    if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1)
        file = fopen(found.gl_pathv[0], "re");
    globfree(&found);
    if (file && fread(&header, sizeof header, 1, file) == 1)
        ok = header.dropped == 0 && header.closed_ns > 0 &&
             (double)(header.blocks * DLOCK_RECORD_BLOCK_SLOTS) >= 2 * pairs;
    if (file)
        fclose(file);
    if (!ok)
        fprintf(stderr,
                "seckill bench-locks: the records in %s are not complete; is the disk "
                "full?\n",
                plan->records);
    return ok;
}

/* Run `argv` and keep what it prints.  It dies with us, and is killed if it hangs. */
static enum exit_code ask(const struct plan *plan, const char *const *argv,
                          char answer[BENCH_ONCE_LINE_MAX])
{
    struct child_options options = child_options_default(argv);
    int output = memfd_create("bench-once", MFD_CLOEXEC);
    char **env = environment_make(plan->b->lab, NULL);
    enum exit_code rc = EXIT_BUG;
    struct child child;
    ssize_t size;

    options.stdout_fd = output;
    options.stderr_fd = STDERR_FILENO;
    options.env = env;
    options.death_signal = SIGKILL;
    if (child_start(&child, &options))
        rc = cell_wait(&child, bench_limit_ms(plan->b->duration_ms), argv[0]);
    else
        fprintf(stderr, "seckill bench-locks: cannot start %s: %s\n", argv[0],
                strerror(errno));
    size = pread(output, answer, BENCH_ONCE_LINE_MAX - 1, 0);
    answer[size > 0 ? size : 0] = '\0';
    if (output >= 0)
        close(output);
    environment_free(env);
    return rc;
}

static enum exit_code take_turn(const struct plan *plan, enum side side, double *per_s)
{
    const char *program = side == SIDE_BARE ? plan->bare : plan->whole;
    char lock[64], threads[32], duration[48], dir[FILES_PATH_MAX],
        record[FILES_PATH_MAX], answer[BENCH_ONCE_LINE_MAX], why[160];
    const char *argv[] = {program, "bench-once", lock, threads, duration, dir,
                          side == SIDE_RECORDED ? record : NULL, NULL};
    enum exit_code rc;

    snprintf(lock, sizeof lock, "--lock=%s", plan->contest->variant);
    snprintf(threads, sizeof threads, "--threads=%d", plan->contest->threads);
    snprintf(duration, sizeof duration, "--duration=%" PRId64 "ms",
             plan->b->duration_ms);
    files_path(dir, "--dir=%s", plan->b->lab->dir);
    files_path(record, "--record=%s", plan->records);
    rc = ask(plan, argv, answer);
    if (interrupted())
        return (enum exit_code)INTERRUPT_EXIT;
    if (rc != EXIT_VALID) {
        complain(program, "did not measure");
        return rc == EXIT_UNAVAILABLE ? rc : EXIT_BUG;
    }
    if (!bench_once_read(answer, side == SIDE_BARE, per_s, why, sizeof why)) {
        complain(program, why);
        return EXIT_BUG;
    }
    return side != SIDE_RECORDED || is_recorded(plan, *per_s) ? EXIT_VALID : EXIT_BUG;
}

/* --- rounds --- */

/* The first of one round is in the middle of the next. */
static enum side side_of(int turn, int round)
{
    return round % 2 ? (enum side)(SIDE_COUNT - 1 - turns[turn]) : turns[turn];
}

static enum exit_code measure_contest(const struct plan *plan, int round,
                                      struct figures *f)
{
    enum exit_code rc = EXIT_VALID;

    for (int i = 0; i < SIDE_COUNT; i++)
        f->per_s[i][round] = 0;
    for (int i = 0; i < TURN_COUNT && rc == EXIT_VALID; i++) {
        enum side side = side_of(i, round);
        double per_s = 0;

        rc = take_turn(plan, side, &per_s);
        f->per_s[side][round] += per_s / TURNS_EACH;
        if (!files_remove_tree(plan->records) && rc == EXIT_VALID) {
            complain(plan->records, "cannot be removed");
            rc = EXIT_BUG;
        }
    }
    for (int i = 0; i < RATIO_COUNT && rc == EXIT_VALID; i++)
        f->ratio[i][round] =
            f->per_s[ratios[i].side][round] / f->per_s[ratios[i].beside][round];
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
        return realpath(b->bare, out) && access(out, X_OK) == 0;
    files_sibling(out, "bare/seckill");
    return access(out, X_OK) == 0;
}

enum exit_code bench_idle(struct bench_locks *b)
{
    static struct figures figures[CONTEST_COUNT];
    enum exit_code rc = EXIT_VALID;
    char bare[FILES_PATH_MAX], dir[FILES_PATH_MAX];
    struct plan plan = {.b = b, .bare = bare};

    if (!find_bare(b, bare)) {
        bool is_wanted = b->is_chosen || b->bare;

        fprintf(is_wanted ? stderr : b->tables,
                "\nidle: there is no program to measure against, %s; build it: make "
                "BUILD=bare\n",
                b->bare ? b->bare : bare);
        return is_wanted ? EXIT_UNAVAILABLE : EXIT_VALID;
    }
    files_sibling(plan.whole, "seckill");
    if (!realpath(b->dir, dir)) {
        complain(b->dir, strerror(errno));
        return EXIT_BUG;
    }
    files_join(plan.records, dir, "records");
    for (int r = 0; r < b->rounds && rc == EXIT_VALID; r++) {
        for (int i = 0; i < CONTEST_COUNT && rc == EXIT_VALID; i++) {
            plan.contest = &contests[i];
            bench_progress(b, r, "%s, %d threads, beside a bare build",
                           contests[i].variant, contests[i].threads);
            rc = measure_contest(&plan, r, &figures[i]);
        }
    }
    if (rc == EXIT_VALID)
        print_all(b, figures);
    return rc;
}

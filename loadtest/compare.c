/* SPDX-License-Identifier: MIT */
/* compare.c -- `seckill compare`: every lock under every hazard. */
#include "loadtest/compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/settings.h"
#include "loadtest/command.h"
#include "loadtest/interrupt.h"
#include "loadtest/report.h"
#include "loadtest/runs.h"
#include "loadtest/seed.h"
#include "loadtest/words.h"
#include "lock/dlock.h"

enum {
    USERS_NEEDED = 20000,
    PER_USER_STOCK = 1000000, /* never the limit when it is about users             */
    CALM_SLOT_MS = 4,
    CALM_SLOT_USERS = 100,
    HAZARD_SLOT_MS = 5,
    HAZARD_SLOT_USERS = 20, /* all of them within 100 ms        */
    ATTEMPTS_MAX = 3,
    FLAGS_MAX = 16,
};

struct compare_settings {
    const char *dir, *out, *locks, *hazards, *experiments;
    int64_t repeats, hazard_repeats, processes, connections, stock;
    int64_t duration_ms, lease_ms, calm_lease_ms;
    bool record;
};

#define AT(field) offsetof(struct compare_settings, field)
static const struct setting settings[] = {
    {.type = SETTING_TEXT,
     .name = "locks",
     .offset = AT(locks),
     .meta = "A,B,...",
     .group = "Options",
     .help = "which locks, or all; default all that `seckill locks` lists"},
    {.type = SETTING_TEXT,
     .name = "hazards",
     .offset = AT(hazards),
     .meta = "A,B,...",
     .group = "Options",
     .help = "of calm, slow, freeze, check-gap; default all"},
    {.type = SETTING_TEXT,
     .name = "experiments",
     .offset = AT(experiments),
     .meta = "A,B,...",
     .group = "Options",
     .help = "of oversell, one-per-user, fencing (for locks with a fence); default all"},
    {.type = SETTING_COUNT,
     .name = "repeats",
     .offset = AT(repeats),
     .fallback = "3",
     .meta = "N",
     .min = 1,
     .max = COMPARE_REPEATS_MAX,
     .group = "Options",
     .help = "runs of each calm cell"},
    {.type = SETTING_COUNT,
     .name = "hazard-repeats",
     .offset = AT(hazard_repeats),
     .fallback = "1",
     .meta = "N",
     .min = 1,
     .max = COMPARE_REPEATS_MAX,
     .group = "Options",
     .help = "runs of each cell with another hazard"},
    {.type = SETTING_DURATION,
     .name = "duration",
     .offset = AT(duration_ms),
     .fallback = "8s",
     .meta = "TIME",
     .min = 500,
     .max = 3600000,
     .group = "Options",
     .help =
         "how long a run may take at most; it ends by itself when it has shown enough"},
    {.type = SETTING_COUNT,
     .name = "processes",
     .offset = AT(processes),
     .fallback = "2",
     .meta = "N",
     .min = 1,
     .max = SERVICE_MAX,
     .group = "Options",
     .help = "seckilld processes; with one of them even `local` is right"},
    {.type = SETTING_COUNT,
     .name = "connections",
     .offset = AT(connections),
     .fallback = "32",
     .meta = "N",
     .min = 2,
     .max = 256,
     .group = "Options",
     .help = "wrk's connections"},
    {.type = SETTING_COUNT,
     .name = "stock",
     .offset = AT(stock),
     .fallback = "100",
     .meta = "N",
     .min = 10,
     .max = 1000000,
     .group = "Options",
     .help = "of the voucher in `oversell`"},
    {.type = SETTING_DURATION,
     .name = "lease",
     .offset = AT(lease_ms),
     .fallback = "600ms",
     .meta = "TIME",
     .min = 100,
     .max = 60000,
     .group = "Options",
     .help = "of the locks under a hazard"},
    {.type = SETTING_DURATION,
     .name = "calm-lease",
     .offset = AT(calm_lease_ms),
     .fallback = "10s",
     .meta = "TIME",
     .min = 100,
     .max = 3600000,
     .group = "Options",
     .help = "of the locks when nothing goes wrong"},
    {.type = SETTING_SWITCH,
     .name = "record",
     .offset = AT(record),
     .fallback = "off",
     .group = "Options",
     .help = "record every lock call and every write, for `seckill check`"},
    COMMAND_OUT(AT(out)),
    COMMAND_OWN_DIR(AT(dir)),
};

static const struct setting_program program = {
    .name = "seckill compare",
    .synopsis = "[OPTIONS]",
    .intro = "Run every lock under every hazard in every experiment, audit each run, "
             "and say\n"
             "where that is not what was to be expected: a broken lock that did not "
             "break is as\n"
             "unexpected as a sound one that did.\n\n"
             "  seckill compare                             the whole table\n"
             "  seckill compare --locks=owner,lua --hazards=check-gap\n"
             "  seckill compare --experiments=oversell --hazards=calm --repeats=10",
    .outro =
        "Exit status: 0 all as expected, 1 a cell is UNEXPECTED, 2 a cell is unknown.",
    .settings = settings,
    .count = sizeof settings / sizeof settings[0],
};

static bool choose(struct comparison *c, const struct compare_settings *v)
{
    const char *names[COMPARE_HAZARDS_MAX];

    c->lock_count =
        words_read(program.name, "locks", v->locks, words_lock_at, c->locks,
                   COMPARE_LOCKS_MAX);
    c->hazard_count =
        words_read(program.name, "hazards", v->hazards, hazard_name_at, names,
                   COMPARE_HAZARDS_MAX);
    for (size_t i = 0; i < c->hazard_count; i++)
        c->hazards[i] = hazard_find(names[i]);
    c->experiment_count = words_read(program.name, "experiments", v->experiments,
                                     experiment_name_at, names,
                                     COMPARE_EXPERIMENTS_MAX);
    for (size_t i = 0; i < c->experiment_count; i++)
        c->experiments[i] = experiment_find(names[i]);
    return comparison_cell_count(c) > 0;
}

static void make_cells(struct comparison *c, const struct compare_settings *v)
{
    c->cells = calloc(comparison_cell_count(c), sizeof *c->cells);
    if (!c->cells)
        abort();
    c->processes = (int)v->processes;
    c->connections = (int)v->connections;
    c->stock = v->stock;
    c->lease_ms = v->lease_ms;
    c->calm_lease_ms = v->calm_lease_ms;
    for (size_t e = 0; e < c->experiment_count; e++) {
        for (size_t h = 0; h < c->hazard_count; h++) {
            for (size_t l = 0; l < c->lock_count; l++) {
                struct cell *cell = comparison_cell(c, e, h, l);

                cell->experiment = c->experiments[e];
                cell->hazard = c->hazards[h];
                cell->lock = c->locks[l];
                cell->expected = experiment_expectation(cell->experiment, cell->lock,
                                                        cell->hazard->name);
                /* "local" is right in one process, and so is its calm. */
                if (c->processes == 1)
                    cell->expected = EXPECT_NOTHING;
                if (!experiment_takes(cell->experiment, cell->lock))
                    continue;
                cell->run_count =
                    (int)(strcmp(cell->hazard->name, "calm") == 0 ? v->repeats
                                                                  : v->hazard_repeats);
            }
        }
    }
}

static void record(struct run_record *out, const struct experiment *experiment,
                   const struct run_result *result)
{
    out->outcome = run_outcome_of(experiment, result);
    snprintf(out->note, sizeof out->note, "%s", result->note);
    for (int i = 0; i < AUDIT_CHECK_COUNT; i++) {
        out->counts[i] = result->verdict.findings[i].count;
        out->valid[i] = result->verdict.findings[i].valid;
    }
    out->orders = result->verdict.orders;
    out->issued = result->verdict.issued;
    out->left = result->verdict.left;
    out->unanswered = result->unanswered;
    out->elapsed_ms = result->elapsed_ms;
    out->orders_per_s = result->orders_per_s;
    out->p99_ms = result->p99_ms;
}

static void fill_flags(const char **flags, const struct cell *cell, const char *lock,
                       const char *lease)
{
    size_t n = 0;

    flags[n++] = lock;
    flags[n++] = lease;
    flags[n++] = "--log-level=warn";
    for (size_t i = 0; cell->experiment->flags[i] && n < FLAGS_MAX - 1; i++)
        flags[n++] = cell->experiment->flags[i];
    flags[n] = NULL;
}

/* One attempt at one run of a cell. */
static enum exit_code attempt(const struct comparison *c,
                              const struct compare_settings *v, const struct lab *lab,
                              lab_db *db, struct cell *cell, struct run_record *out,
                              struct run_result *result)
{
    bool calm = strcmp(cell->hazard->name, "calm") == 0;
    /* Where there is no gap nobody is held, and nothing hurries: more users take turns.
     */
    bool many = calm || (strcmp(cell->hazard->name, "check-gap") == 0 &&
                         !expectation_has_gap(cell->lock));
    char dir[FILES_PATH_MAX], lock[64], lease[64];
    const char *flags[FLAGS_MAX];
    struct run_plan plan = {
        .lab = lab,
        .db = db,
        .dir = dir,
        .experiment = cell->experiment->name,
        .lock = cell->lock,
        .flags = flags,
        .hazard = cell->hazard,
        .processes = c->processes,
        .connections = c->connections,
        .stock = cell->experiment->is_per_user ? PER_USER_STOCK : c->stock,
        .voucher_count = cell->experiment->voucher_count,
        .duration_ms = v->duration_ms,
        .is_per_user = cell->experiment->is_per_user,
        .slot_ms = many ? CALM_SLOT_MS : HAZARD_SLOT_MS,
        .slot_users = many ? CALM_SLOT_USERS : HAZARD_SLOT_USERS,
        .lease_ms = calm ? v->calm_lease_ms : v->lease_ms,
        .has_gap = expectation_has_gap(cell->lock),
        .stays_out =
            expectation_of(cell->lock, cell->hazard->name) == EXPECT_SOUND,
        .face = "hmdp",
        .transacts_at_once = true,
        .record = v->record,
    };

    files_join(dir, c->dir, out->dir);
    if (!files_make_dir(dir)) {
        fprintf(stderr, "seckill compare: cannot make %s\n", dir);
        return EXIT_UNAVAILABLE;
    }
    snprintf(lock, sizeof lock, "--lock=%s", cell->lock);
    snprintf(lease, sizeof lease, "--lock-lease=%" PRId64 "ms", plan.lease_ms);
    fill_flags(flags, cell, lock, lease);
    return run_once(&plan, result);
}

/* One run of a cell.  A hazard that did not come about is tried again, with fresh
 * vouchers and processes; what its first attempt left is kept under another name. */
static enum exit_code run_cell(const struct comparison *c,
                               const struct compare_settings *v, const struct lab *lab,
                               lab_db *db, struct cell *cell, int repeat)
{
    struct run_record *out = &cell->runs[repeat];
    struct run_result *result = calloc(1, sizeof *result);
    char from[FILES_PATH_MAX], to[FILES_PATH_MAX];
    enum exit_code rc = EXIT_VALID;

    if (!result)
        abort();
    snprintf(out->dir, sizeof out->dir, "%s/%s/%s-%d", cell->experiment->name,
             cell->hazard->name, cell->lock, repeat + 1);
    files_join(from, c->dir, out->dir);
    for (int i = 1; i <= ATTEMPTS_MAX && rc == EXIT_VALID; i++) {
        out->attempts = i;
        rc = attempt(c, v, lab, db, cell, out, result);
        if (rc == EXIT_VALID)
            record(out, cell->experiment, result);
        if (result->hazard != HAZARD_MISSED || i == ATTEMPTS_MAX)
            break;
        files_path(to, "%s.missed-%d", from, i);
        rename(from, to);
    }
    free(result);
    return rc;
}

static void show_progress(size_t number, size_t total, const struct cell *cell,
                          int repeat, bool is_done)
{
    const struct run_record *r = &cell->runs[repeat];
    bool live = report_is_live(stderr);

    if (!is_done && !live)
        return;
    fprintf(stderr, "%s[%zu/%zu] %s, %s, %s", live ? "\r\033[K" : "", number, total,
            cell->experiment->name, cell->hazard->name, cell->lock);
    if (is_done)
        fprintf(stderr, ": %s, %.0f orders/s%s", run_outcome_name(r->outcome),
                r->orders_per_s, r->attempts > 1 ? " (tried again)" : "");
    if (!live)
        fputc('\n', stderr);
    fflush(stderr);
}

/* A B C A B C: the locks take turns, so that a machine that gets slower meanwhile is
 * slow for all of them. */
static enum exit_code run_all(struct comparison *c, const struct compare_settings *v,
                              const struct lab *lab, lab_db *db)
{
    size_t locks = c->lock_count, blocks = comparison_cell_count(c) / locks;
    size_t total = 0, number = 0;
    enum exit_code rc = EXIT_VALID;

    for (size_t i = 0; i < blocks * locks; i++)
        total += (size_t)c->cells[i].run_count;
    for (int repeat = 0; repeat < COMPARE_REPEATS_MAX; repeat++) {
        for (size_t i = 0; i < blocks * locks && rc == EXIT_VALID; i++) {
            struct cell *cell = &c->cells[i];

            if (repeat >= cell->run_count)
                continue;
            number++;
            show_progress(number, total, cell, repeat, false);
            rc = run_cell(c, v, lab, db, cell, repeat);
            if (rc == EXIT_VALID)
                show_progress(number, total, cell, repeat, true);
        }
    }
    if (report_is_live(stderr))
        fprintf(stderr, "\r\033[K");
    return rc;
}

static enum exit_code conclude(struct comparison *c, enum exit_code rc)
{
    c->was_interrupted = rc != EXIT_VALID;
    if (!compare_write_json(c) || !compare_write_markdown(c))
        return EXIT_UNAVAILABLE;
    compare_print(stdout, c);
    if (rc != EXIT_VALID)
        return rc;
    if (comparison_count(c, CELL_UNEXPECTED) > 0)
        return EXIT_INVALID;
    return comparison_count(c, CELL_UNKNOWN) > 0 ? EXIT_UNKNOWN : EXIT_VALID;
}

static enum exit_code run_in_lab(struct comparison *c, const struct compare_settings *v,
                                 const struct lab *lab)
{
    char url[256], error[512];
    int64_t begin_ns = monotonic_ns();
    lab_db *db = NULL;
    enum exit_code rc;

    lab_database_url(lab, url, sizeof url);
    if (!lab_db_open(&db, url, error, sizeof error)) {
        fprintf(stderr, "seckill compare: %s\n", error);
        return EXIT_UNAVAILABLE;
    }
    files_utc_stamp(c->started, sizeof c->started);
    rc = seed_ensure(lab, USERS_NEEDED) && runs_make(c->dir, v->out) ? EXIT_VALID
                                                                     : EXIT_UNAVAILABLE;
    if (rc == EXIT_VALID) {
        rc = run_all(c, v, lab, db);
        c->elapsed_ms = (monotonic_ns() - begin_ns) / 1000000;
        rc = conclude(c, rc);
    }
    lab_db_close(db);
    return rc;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct compare_settings *v = values;
    struct comparison c = {0};
    struct lab lab;
    bool zookeeper = false;
    enum exit_code rc;

    (void)s;
    if (!choose(&c, v))
        return EXIT_USAGE;
    make_cells(&c, v);
    if (comparison_planned(&c) == 0) {
        fprintf(stderr, "seckill compare: none of these locks has a fence, so none can "
                        "take part in fencing; try --locks=fenced,zk-seq\n");
        free(c.cells);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < c.lock_count; i++)
        zookeeper = zookeeper || lab_lock_needs_zookeeper(c.locks[i]);
    rc = lab_open(&lab, lab_choose_dir(v->dir), zookeeper);
    if (rc == EXIT_VALID) {
        rc = run_in_lab(&c, v, &lab);
        lab_close(&lab);
    }
    free(c.cells);
    return rc;
}

int command_compare(int argc, char **argv)
{
    struct compare_settings values = {0};

    return command_run(&program, &values, argc, argv, run);
}

/* SPDX-License-Identifier: MIT */
/* run.c -- the runs of a comparison, one after the other, each tried until it has
 * an outcome or has failed often enough. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "db/sale_batch.h"
#include "loadtest/compare/compare.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/progress.h"
#include "loadtest/sale/hazard_catalogue.h"

/* ---- the lines of a cell ---- */

enum { COMPARE_LINE_MAX = 256, COMPARE_LINES_MAX = 3000 };

/* The outcomes so far of the runs under one lock. */
struct lock_lines {
    int planned, of[RUN_OUTCOME_COUNT];
    bool is_odd;      /* a run is not as expected                                     */
    double calm_per_s; /* of the last calm run; 0: none                                */
};

static void add_cell(struct lock_lines *sum, const struct cell *cell)
{
    sum->planned += cell->run_count;
    cell_count_runs(cell, sum->of);
    sum->is_odd = sum->is_odd || cell_outcome_of(cell) == CELL_UNEXPECTED;
    for (int i = 0; i < cell->run_count; i++) {
        const struct run_record *run = &cell->runs[i];

        if (run->outcome != RUN_NOT_DONE && cell->hazard == &hazard_calm)
            sum->calm_per_s = run->orders_per_s;
    }
}

/* Append to the text, as far as it fits.  Answers the length that the whole text would have. */
__attribute__((format(printf, 3, 4))) static size_t append(char *out, size_t used,
                                                           const char *fmt, ...)
{
    va_list args;

    if (used >= COMPARE_LINES_MAX)
        return used;
    va_start(args, fmt);
    used += (size_t)vsnprintf(out + used, COMPARE_LINES_MAX - used, fmt, args);
    va_end(args);
    return used;
}

/* "none          3 of 12 runs, 3 broken, as expected so far, 180 orders a second when calm" */
static size_t add_lock(const struct comparison *c, size_t lock, char *out, size_t used)
{
    struct lock_lines sum = {0};
    int done;

    for (size_t e = 0; e < c->experiment_count; e++)
        for (size_t h = 0; h < c->hazard_count; h++)
            add_cell(&sum, comparison_cell(c, e, h, lock));
    done = sum.planned - sum.of[RUN_NOT_DONE];
    if (done == 0)
        return used;
    used = append(out, used, "%-13s %d of %d runs", c->locks[lock], done, sum.planned);
    for (enum run_outcome o = RUN_SOUND; o < RUN_OUTCOME_COUNT; o++)
        if (sum.of[o] > 0)
            used = append(out, used, ", %d %s", sum.of[o], run_outcome_name(o));
    used = append(out, used, ", %s%s%s so far",
                  report_style(stderr, sum.is_odd ? STYLE_BAD : STYLE_GOOD),
                  sum.is_odd ? "UNEXPECTED" : "as expected",
                  report_style(stderr, STYLE_PLAIN));
    if (sum.calm_per_s > 0)
        used = append(out, used, ", %.0f orders a second when calm", sum.calm_per_s);
    return append(out, used, "\n");
}

static int64_t left_ms(const struct progress *progress)
{
    return progress_left_ms(progress->done, progress->count,
                            (monotonic_ns() - progress->begin_ns) / 1000000);
}

/* Write into `above` the number of runs that are done and the time that is left, and into `below` a
 * line for each lock with the outcomes of its runs so far. */
static void comparison_lines(const struct comparison *c, const struct progress *progress,
                             char above[COMPARE_LINE_MAX], char below[COMPARE_LINES_MAX])
{
    int64_t left = left_ms(progress);
    char rest[64] = "";
    size_t used = 0;

    if (left >= 0)
        snprintf(rest, sizeof rest, ", about %" PRId64 ":%02d min left", left / 60000,
                 (int)(left / 1000 % 60));
    snprintf(above, COMPARE_LINE_MAX, "%zu of %zu runs done%s\n", progress->done,
             progress->count, rest);
    below[0] = '\0';
    for (size_t lock = 0; lock < c->lock_count; lock++)
        used = add_lock(c, lock, below, used);
}

/* Write the event "run" of a run that is done, if JSON lines are wanted. */
static void comparison_tell_run(const struct comparison *c, const struct cell *cell, int repeat,
                                const struct progress *progress)
{
    int64_t left = left_ms(progress);
    json_t *json;

    if (!json_lines_are_on())
        return;
    json = compare_run_json(&cell->runs[repeat]);
    json_object_set_new(json, "run", json_string(c->title));
    json_object_set_new(json, "experiment", json_string(cell->experiment->name));
    json_object_set_new(json, "hazard", json_string(cell->hazard->name));
    json_object_set_new(json, "lock", json_string(cell->lock));
    json_object_set_new(json, "repeat", json_integer(repeat + 1));
    json_object_set_new(json, "expected", json_string(expectation_name(cell->expected)));
    json_object_set_new(json, "done", json_integer((json_int_t)progress->done));
    json_object_set_new(json, "planned", json_integer((json_int_t)progress->count));
    json_object_set_new(json, "left_ms", left < 0 ? json_null() : json_integer(left));
    json_lines_write("run", json);
}

enum {
    PER_USER_STOCK = 1000000, /* never the limit when it is about users             */
    CALM_SLOT_MS = 4,
    CALM_SLOT_USERS = 100,
    HAZARD_SLOT_MS = 5,
    HAZARD_SLOT_USERS = 20, /* all of them within 100 ms        */
    ATTEMPTS_MAX = 3,
    GIVEN_UP_MAX = 3,       /* runs in a row that came to nothing: then one attempt each */
    PAUSE_MS = 500,         /* before another attempt: a store may be back by then   */
    BUSY_FACTOR = 2,
    FACTOR_MAX = 16,
    FLAGS_MAX = 16,
    STREAM_BATCHES = 20, /* of a calm sale */
};

/* A whole comparison on its way. */
struct session {
    struct comparison *c;
    struct lab *lab;
    lab_db *db;
    struct progress progress;
    struct live *live;
    int given_up; /* runs in a row that could not be done */
};

static bool is_calm(const struct cell *cell)
{
    return cell->hazard == &hazard_calm;
}

/* The factor by which leases and the time of a run are longer than their settings.  The factor
 * grows on a busy machine and with each attempt, so that work which must end within a lease does
 * so. */
static int64_t patience(int attempt)
{
    double load = progress_load();
    int64_t factor = (int64_t)1 << (attempt - 1);

    if (progress_is_busy(load))
        factor *= BUSY_FACTOR;
    if (progress_is_busy(load / 2))
        factor *= BUSY_FACTOR;
    return factor < FACTOR_MAX ? factor : FACTOR_MAX;
}

/* A broken lock can be seen only where two transactions run at once.  A writer of the stream
 * sells up to SALE_BATCH_MAX orders in a transaction, so a stock of 100 can be sold in a single
 * transaction.  Therefore a calm sale on that path has stock for STREAM_BATCHES transactions.
 * Every other hazard holds a process inside its transaction, beside which a second transaction
 * is enough. */
static int64_t stock_of(const struct comparison *c, const struct cell *cell)
{
    const int64_t enough = STREAM_BATCHES * SALE_BATCH_MAX;

    if (cell->experiment->is_per_user)
        return PER_USER_STOCK;
    return c->path == ORDER_PATH_stream && is_calm(cell) && c->stock < enough ? enough
                                                                             : c->stock;
}

static void record(struct run_record *out, const struct cell *cell,
                   const struct run_result *result, const char *dir)
{
    wrk_figures_read(&out->figures, dir, result);
    out->outcome = run_outcome_of(cell, result, out->reason);
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
    out->load = progress_load();
}

static void fill_flags(const char **flags, const struct cell *cell, const char *lock,
                       const char *lease, enum order_path_id path)
{
    static const char *const PATH_FLAGS[] = {
#define ORDER_PATH(id, commits_for_others) "--order-path=" #id,
#include "db/order_paths.def"
#undef ORDER_PATH
    };
    size_t n = 0;

    flags[n++] = PATH_FLAGS[path];
    flags[n++] = lock;
    flags[n++] = lease;
    flags[n++] = "--log-level=warn";
    /* The comparison judges each lock's own release. */
    flags[n++] = "--unlock=after-commit";
    /* A held or stopped process has to be able to write afterwards, however long it took.
     * */
    flags[n++] = "--idle-transaction-timeout=10m";
    flags[n++] = "--statement-timeout=1m";
    for (size_t i = 0; cell->experiment->flags[i] && n < FLAGS_MAX - 1; i++)
        flags[n++] = cell->experiment->flags[i];
    flags[n] = NULL;
}

static bool make_dir(const char *dir)
{
    bool ok = files_make_dir(dir);

    if (!ok)
        eprintf("seckill compare: cannot make %s: %s\n", dir, strerror(errno));
    return ok;
}

/* Attempt a run of a cell. */
static enum exit_code attempt(const struct session *s, const struct cell *cell,
                              struct run_record *out, struct run_result *result)
{
    const struct comparison *c = s->c;
    /* In a run in which no thread is held, time is no limit, so more users take turns. */
    bool many = is_calm(cell) || (cell->hazard == &hazard_check_gap &&
                                  !lock_has_check_gap(dlock_variant_find(cell->lock)));
    int64_t factor = patience(out->attempts);
    char dir[FILES_PATH_MAX], lock[64], lease[64];
    const char *flags[FLAGS_MAX];
    struct run_plan plan = {
        .lab = s->lab,
        .db = s->db,
        .dir = dir,
        .experiment = cell->experiment->name,
        .lock = cell->lock,
        .flags = flags,
        .hazard = cell->hazard,
        .processes = c->processes,
        .has_front = c->has_front,
        .connections = c->connections,
        .stock = stock_of(c, cell),
        .voucher_count = cell->experiment->voucher_count,
        .duration_ms = c->duration_ms * factor,
        .is_per_user = cell->experiment->is_per_user,
        .slot_ms = many ? CALM_SLOT_MS : HAZARD_SLOT_MS,
        .slot_users = many ? CALM_SLOT_USERS : HAZARD_SLOT_USERS,
        .lease_ms = is_calm(cell) ? c->calm_lease_ms : c->lease_ms * factor,
        .has_gap = lock_has_check_gap(dlock_variant_find(cell->lock)),
        .stays_out = expectation_of(cell->lock, cell->hazard, c->path) == EXPECT_SOUND,
        .face = "hmdp",
        .transacts_at_once = true,
        .record = c->record,
        .live = s->live,
        .title = c->title,
        .quiet = true,
    };

    *result = (struct run_result){0};
    out->lease_ms = plan.lease_ms;
    files_join(dir, c->dir, out->dir);
    if (!make_dir(dir))
        return EXIT_CANNOT_WRITE;
    snprintf(lock, sizeof lock, "--lock=%s", cell->lock);
    snprintf(lease, sizeof lease, "--lock-lease=%" PRId64 "ms", plan.lease_ms);
    fill_flags(flags, cell, lock, lease, c->path);
    switch (run_once(&plan, result)) {
    case EXIT_VALID:
        break;
    case EXIT_USAGE:
        out->attempts = ATTEMPTS_MAX; /* it would be refused again */
        break;
    default:
        if (interrupted())
            return EXIT_INTERRUPTED;
        if (!*result->reason)
            snprintf(result->reason, sizeof result->reason, "the run could not be done");
    }
    record(out, cell, result, dir);
    return EXIT_VALID;
}

/* Keep the files of a failed attempt, and prepare the next attempt. */
static enum exit_code prepare_again(const struct session *s,
                                    const struct run_record *failed)
{
    char from[FILES_PATH_MAX], to[FILES_PATH_MAX];

    progress_say("seckill compare: %s: %s; trying again (%d of %d)", s->c->title,
                 failed->reason, failed->attempts + 1, ATTEMPTS_MAX);
    files_join(from, s->c->dir, failed->dir);
    files_path(to, "%s.try-%d", from, failed->attempts);
    if (rename(from, to) != 0) {
        eprintf("seckill compare: cannot rename %s: %s\n", from, strerror(errno));
        return EXIT_CANNOT_WRITE;
    }
    return interrupt_sleep_ms(PAUSE_MS) ? EXIT_VALID : EXIT_INTERRUPTED;
}

/* Do a run of a cell.  A run that shows nothing is tried again, with fresh vouchers and
 * processes. */
static enum exit_code run_cell(struct session *s, struct cell *cell, int repeat)
{
    struct run_record *out = &cell->runs[repeat];
    struct run_result *result = memory_need(calloc(1, sizeof *result));
    int attempts_max = s->given_up < GIVEN_UP_MAX ? ATTEMPTS_MAX : 1;
    enum exit_code rc = EXIT_VALID;

    snprintf(out->dir, sizeof out->dir, "%s/%s/%s-%d", cell->experiment->name,
             cell->hazard->name, cell->lock, repeat + 1);
    while (rc == EXIT_VALID && out->attempts < attempts_max) {
        if (out->attempts > 0)
            rc = prepare_again(s, out);
        out->outcome = RUN_NOT_DONE;
        if (rc == EXIT_VALID)
            rc = lab_mend(s->lab);
        if (rc != EXIT_VALID)
            break;
        out->attempts++;
        rc = attempt(s, cell, out, result);
        if (rc == EXIT_VALID && out->outcome != RUN_UNKNOWN)
            break;
    }
    free(result);
    if (rc != EXIT_VALID)
        return rc;
    s->given_up = out->outcome == RUN_UNKNOWN ? s->given_up + 1 : 0;
    if (out->outcome == RUN_UNKNOWN)
        progress_say("seckill compare: %s: unknown: %s", s->c->title, out->reason);
    return EXIT_VALID;
}

static void show_progress(struct session *s, const struct cell *cell, int repeat,
                          bool is_done)
{
    const struct run_record *r = &cell->runs[repeat];
    char above[COMPARE_LINE_MAX], below[COMPARE_LINES_MAX];

    snprintf(s->c->title, sizeof s->c->title, "%s, %s, %s", cell->experiment->name,
             cell->hazard->name, cell->lock);
    if (is_done)
        comparison_tell_run(s->c, cell, repeat, &s->progress);
    if (s->c->is_quiet)
        return;
    if (live_draws(s->live)) {
        comparison_lines(s->c, &s->progress, above, below);
        live_caption(s->live, above, below);
    } else if (is_done)
        progress_show(&s->progress, "%s: %s, %.0f orders/s%s", s->c->title,
                      run_outcome_name(r->outcome), r->orders_per_s,
                      r->attempts > 1 ? " (tried again)" : "");
    else
        progress_show(&s->progress, "%s", s->c->title);
}

/* A B C A B C: the locks take turns, so that a machine that gets slower meanwhile is
 * slow for all of them. */
static enum exit_code run_all(struct session *s)
{
    struct comparison *c = s->c;
    size_t cells = comparison_cell_count(c), total = 0;
    enum exit_code rc = EXIT_VALID;

    for (size_t i = 0; i < cells; i++)
        total += (size_t)c->cells[i].run_count;
    progress_begin(&s->progress, total);
    for (int repeat = 0; repeat < COMPARE_REPEATS_MAX; repeat++) {
        for (size_t i = 0; i < cells && rc == EXIT_VALID; i++) {
            struct cell *cell = &c->cells[i];

            if (repeat >= cell->run_count)
                continue;
            show_progress(s, cell, repeat, false);
            rc = run_cell(s, cell, repeat);
            s->progress.done += rc == EXIT_VALID;
            if (rc == EXIT_VALID)
                show_progress(s, cell, repeat, true);
        }
    }
    progress_end();
    return rc;
}

enum exit_code comparison_run(struct comparison *c, struct lab *lab)
{
    const struct live_options shown = {.command = "compare", .is_quiet = c->is_quiet};
    struct session s = {.c = c, .lab = lab, .live = live_open(&shown)};
    enum exit_code rc = EXIT_UNAVAILABLE;

    s.db = lab_database_open(lab, "seckill compare");
    if (s.db)
        rc = run_all(&s);
    live_close(s.live);
    lab_db_close(s.db);
    return rc;
}

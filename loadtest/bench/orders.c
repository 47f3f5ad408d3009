/* SPDX-License-Identifier: MIT */
/* orders.c -- orders per second over HTTP, on each order path, beside pgbench.
 *
 * A ratio needs both sides to do the same work on the same machine at nearly the same time.
 * Therefore each measurement over HTTP comes right after a measurement of pgbench, which sends
 * the same statements, and each round measures every contest once. */
#include "loadtest/bench/orders.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "loadtest/bench/order_load.h"
#include "loadtest/bench/waiting_orders.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/kit/spread.h"
#include "loadtest/sale/users.h"

enum { WARM_UP_MS = 1000, TARGET_CLIENTS = 64, CLAIM_PIECES = 3 };

#define FLAGS(path, ...)                                                               \
    (const char *const[])                                                              \
    {                                                                                  \
        "--order-path=" path, "--stock-guard=" ORDER_LOAD_STOCK_GUARD,                 \
            "--duplicate-guard=" ORDER_LOAD_DUPLICATE_GUARD, "--log-level=warn",       \
            __VA_ARGS__, NULL                                                          \
    }

/* A way to sell, and the measurement that it is compared with. */
static const struct contest {
    const char *path, *lock;
    const char *const *flags;
    int pgbench_clients;
    double target_ratio, target_p99_ms; /* at TARGET_CLIENTS */
} contests[] = {
    {"each", "none", FLAGS("each", "--lock=none"), 8, 0.9, 60},
    {"each", "reentrant", FLAGS("each", "--lock=reentrant", "--lock-scope=user"), 8, 0.8, 60},
    {"combined", "none", FLAGS("combined", "--lock=none"), 16, 14, 10},
    {"combined", "reentrant", FLAGS("combined", "--lock=reentrant", "--lock-scope=user"), 16, 8,
     15},
};

enum {
    EACH_NONE,
    COMBINED_NONE = 2,
    CONTEST_COUNT = sizeof contests / sizeof contests[0],
};

/* The other limits of `combined`, without a lock. */
static const struct claim {
    const char *name, *text;
    double target;
    bool is_upper; /* the target is the most that it may be; else the least */
} claims[] = {
    {"orders-to-empty", "accepted orders to answers of an empty handler, 64 clients", 0.25, false},
    {"sold-out-to-empty", "\"sold out\" to answers of an empty handler, 64 clients", 0.6, false},
    {"lone-p50", "a lone client's median time, to that of `each`", 1.10, true},
    {"waiting-mib", "MiB that 1,000 waiting orders add to their idle connections", 4, true},
};

enum {
    TO_EMPTY,
    SOLD_OUT_TO_EMPTY,
    LONE_P50,
    WAITING_MIB,
    CLAIM_COUNT = sizeof claims / sizeof claims[0],
};

/* A line of the table: a contest with so many clients. */
struct row {
    const struct contest *contest;
    int clients;
    double http[BENCH_ORDERS_REPEATS_MAX], pgbench[BENCH_ORDERS_REPEATS_MAX],
        ratio[BENCH_ORDERS_REPEATS_MAX], p99_ms[BENCH_ORDERS_REPEATS_MAX];
    bool users_ran_out; /* in one of the measurements */
};

struct bench {
    const struct bench_orders_plan *plan;
    struct order_load load;
    char dir[FILES_PATH_MAX];
    int64_t piece_ns; /* the beginning of the present measurement */
    struct row rows[CONTEST_COUNT * BENCH_ORDERS_SIZES_MAX];
    int row_count;
    bool has_claims; /* `combined` without a lock is measured with TARGET_CLIENTS */
    double claims[CLAIM_COUNT][BENCH_ORDERS_REPEATS_MAX];
};

/* ---- progress ---- */

__attribute__((format(printf, 3, 4))) static void begin_piece(struct bench *b, int r,
                                                              const char *fmt, ...)
{
    char title[128], round[64];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(title, sizeof title, fmt, args);
    va_end(args);
    snprintf(round, sizeof round, "round %d of %d", r + 1, (int)b->plan->repeats);
    series_now(b->load.series, title, round);
    series_line(b->load.series);
    b->piece_ns = monotonic_ns();
}

/* A piece without a target is not judged. */
static void end_piece(struct bench *b, bool has_target, bool is_reached)
{
    enum verdict verdict = is_reached ? VERDICT_VALID : VERDICT_INVALID;

    series_done(b->load.series, has_target ? &verdict : NULL,
                (monotonic_ns() - b->piece_ns) / 1000000, NULL);
}

/* ---- the measurements ---- */

static bool is_reached(const struct claim *claim, double value)
{
    return claim->is_upper ? value <= claim->target : value >= claim->target;
}

static enum exit_code measure_row(struct bench *b, struct row *row, int r)
{
    struct order_speed speed = {0};
    enum exit_code rc;

    begin_piece(b, r, "%s, %s, %d clients", row->contest->path, row->contest->lock, row->clients);
    rc = order_load_pgbench(&b->load, row->contest->pgbench_clients, b->plan->duration_ms,
                            &row->pgbench[r]);
    if (rc == EXIT_VALID)
        rc = order_load_seckilld(&b->load, row->contest->flags, row->clients,
                                 ORDER_LOAD_STOCK, &speed);
    row->users_ran_out = row->users_ran_out || speed.users_ran_out;
    row->http[r] = speed.per_s;
    row->p99_ms[r] = speed.p99_ms;
    row->ratio[r] = row->http[r] / row->pgbench[r];
    if (rc == EXIT_VALID)
        end_piece(b, row->clients == TARGET_CLIENTS,
                  row->ratio[r] >= row->contest->target_ratio &&
                      row->p99_ms[r] <= row->contest->target_p99_ms);
    return rc;
}

/* The empty handler between the two that are compared with its speed. */
static enum exit_code measure_empty(struct bench *b, int r)
{
    const char *const *flags = contests[COMBINED_NONE].flags;
    struct order_speed orders = {0}, empty = {0}, sold_out = {0};
    enum exit_code rc;

    begin_piece(b, r, "orders, an empty handler, and \"sold out\"");
    rc = order_load_seckilld(&b->load, flags, TARGET_CLIENTS, ORDER_LOAD_STOCK, &orders);
    if (rc == EXIT_VALID)
        rc = order_load_empty(&b->load, TARGET_CLIENTS, &empty);
    if (rc == EXIT_VALID)
        rc = order_load_seckilld(&b->load, flags, TARGET_CLIENTS, 0, &sold_out);
    b->claims[TO_EMPTY][r] = orders.per_s / empty.per_s;
    b->claims[SOLD_OUT_TO_EMPTY][r] = sold_out.per_s / empty.per_s;
    if (rc == EXIT_VALID)
        end_piece(b, true,
                  is_reached(&claims[TO_EMPTY], b->claims[TO_EMPTY][r]) &&
                      is_reached(&claims[SOLD_OUT_TO_EMPTY], b->claims[SOLD_OUT_TO_EMPTY][r]));
    return rc;
}

static enum exit_code measure_lone(struct bench *b, int r)
{
    struct order_speed each = {0}, combined = {0};
    enum exit_code rc;

    begin_piece(b, r, "a lone client");
    rc = order_load_seckilld(&b->load, contests[EACH_NONE].flags, 1, ORDER_LOAD_STOCK, &each);
    if (rc == EXIT_VALID)
        rc = order_load_seckilld(&b->load, contests[COMBINED_NONE].flags, 1, ORDER_LOAD_STOCK,
                                 &combined);
    b->claims[LONE_P50][r] = combined.p50_ms / each.p50_ms;
    if (rc == EXIT_VALID)
        end_piece(b, true, is_reached(&claims[LONE_P50], b->claims[LONE_P50][r]));
    return rc;
}

static enum exit_code measure_waiting(struct bench *b, int r)
{
    enum exit_code rc;

    begin_piece(b, r, "the memory of waiting orders");
    rc = waiting_orders_measure(&b->load, &b->claims[WAITING_MIB][r]);
    if (rc == EXIT_VALID)
        end_piece(b, true, is_reached(&claims[WAITING_MIB], b->claims[WAITING_MIB][r]));
    return rc;
}

static enum exit_code measure_claims(struct bench *b, int r)
{
    enum exit_code rc = measure_empty(b, r);

    if (rc == EXIT_VALID)
        rc = measure_lone(b, r);
    if (rc == EXIT_VALID)
        rc = measure_waiting(b, r);
    return rc;
}

/* ---- the result ---- */

static const char *word_of(bool is_reached)
{
    return is_reached ? "reached" : "MISSED";
}

/* Print a line.  False: it missed a target. */
static bool print_row(FILE *out, struct row *row, size_t n, json_t *list)
{
    const struct contest *contest = row->contest;
    struct spread ratio = spread_of(row->ratio, n);
    double http = spread_of(row->http, n).median;
    double pgbench = spread_of(row->pgbench, n).median;
    struct spread p99_ms = spread_of(row->p99_ms, n);
    bool has_target = row->clients == TARGET_CLIENTS;
    json_t *json;
    bool is_fast = !has_target || ratio.median >= contest->target_ratio;
    bool is_prompt = !has_target || (p99_ms.median > 0 && p99_ms.median <= contest->target_p99_ms);

    fprintf(out, "%-9s %-10s %7d %7.0f %3d %7.0f %6.2f (%5.2f - %5.2f) %7.1f", contest->path,
            contest->lock, row->clients, http, contest->pgbench_clients, pgbench, ratio.median,
            ratio.least, ratio.most, p99_ms.median);
    if (has_target)
        fprintf(out, "  ratio %.3g %s, p99 %.0f ms %s", contest->target_ratio, word_of(is_fast),
                contest->target_p99_ms, word_of(is_prompt));
    fputs(row->users_ran_out ? "  shorter: the users ran out\n" : "\n", out);
    json = json_pack("{s:s, s:s, s:i, s:f, s:i, s:f, s:f, s:f, s:f, s:f, s:b}", "order_path",
                     contest->path, "lock", contest->lock, "clients", row->clients, "http_per_s",
                     http, "pgbench_clients", contest->pgbench_clients,
                     "pgbench_per_s", pgbench,
                     "ratio", ratio.median, "ratio_min", ratio.least, "ratio_max", ratio.most,
                     "p99_ms", p99_ms.median, "users_ran_out", row->users_ran_out);
    if (has_target)
        json_object_update_new(json, json_pack("{s:f, s:f, s:b}", "target_ratio",
                                               contest->target_ratio, "target_p99_ms",
                                               contest->target_p99_ms, "reached",
                                               is_fast && is_prompt));
    json_array_append_new(list, json);
    return is_fast && is_prompt;
}

static bool print_claim(FILE *out, const struct claim *claim, double *values, size_t n,
                        json_t *list)
{
    struct spread value = spread_of(values, n);
    bool is_good = is_reached(claim, value.median);

    fprintf(out, "%-62s %5.2f (%5.2f - %5.2f)  %s %.2f %s\n", claim->text, value.median,
            value.least, value.most, claim->is_upper ? "at most" : "at least", claim->target,
            word_of(is_good));
    json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:f, s:b, s:b}", "claim", claim->name,
                                          "text", claim->text, "value", spread_json(value),
                                          "target", claim->target, "at_most", claim->is_upper,
                                          "reached", is_good));
    return is_good;
}

static void print_how(FILE *out, const struct bench *b)
{
    fputs("\nHow: one voucher that never sells out, a different user in each order, duplicate\n"
          "guard `unique`, PostgreSQL durable (fsync and synchronous_commit on).  HTTP: wrk\n",
          out);
    fprintf(out,
            "with so many connections, %" PRId64 " seckilld with 64 workers and 8 database\n"
            "connections; no Idempotency-Key, so the statements are the same.  pgbench: so many\n"
            "clients, 2 threads, prepared statements: BEGIN, UPDATE ... stock > 0, INSERT,\n"
            "COMMIT.  %.0f s each, pgbench right before each HTTP measurement; wrk, seckilld,\n"
            "Redis and PostgreSQL share %ld processors.  Ratios are of neighbours, p99 is wrk's.\n"
            "The empty handler answers the same requests of the same wrk in a process of its\n"
            "own, with the listener of seckilld.  If the users of a thread run out, a measurement\n"
            "ends early.  After each, stock and orders were checked to add up.  Kept in\n%s\n",
            b->plan->processes, (double)b->plan->duration_ms / 1000, sysconf(_SC_NPROCESSORS_ONLN),
            b->dir);
}

static enum exit_code print_result(FILE *out, struct bench *b)
{
    size_t n = (size_t)b->plan->repeats;
    enum exit_code rc = EXIT_VALID;
    json_t *list = json_array();
    char path[FILES_PATH_MAX];

    fprintf(out, "\nAccepted orders per second, medians of %zu\n\n", n);
    fprintf(out, "%-9s %-10s %7s %7s %11s %6s %15s %7s  %s\n", "path", "lock", "clients", "HTTP",
            "pgbench -c", "ratio", "(from - to)", "p99 ms", "targets");
    for (int i = 0; i < b->row_count; i++)
        if (!print_row(out, &b->rows[i], n, list))
            rc = EXIT_THRESHOLD;
    if (b->has_claims)
        fprintf(out, "\n`combined` without a lock, medians of %zu\n\n", n);
    for (int i = 0; b->has_claims && i < CLAIM_COUNT; i++)
        if (!print_claim(out, &claims[i], b->claims[i], n, list))
            rc = EXIT_THRESHOLD;
    files_join(path, b->dir, "bench.json");
    if (!files_write_json(path, list))
        rc = order_load_say_unwritten(path);
    json_decref(list);
    print_how(out, b);
    return rc;
}

static enum exit_code show_result(struct bench *b)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = result_page_stream(&text, &size);
    enum exit_code rc = print_result(out, b);

    fclose(out);
    fputs(text, stdout);
    if (!result_page_write_text("Orders per second beside pgbench", text))
        rc = EXIT_CANNOT_WRITE;
    free(text);
    return rc;
}

/* ---- the whole run ---- */

static enum exit_code measure_all(struct bench *b)
{
    const struct series_options shown = {
        .command = "bench",
        .piece = "measurement",
        .good = "reached the target",
        .bad = "MISSED the target",
        .count =
            (size_t)b->plan->repeats * (size_t)(b->row_count + (b->has_claims ? CLAIM_PIECES : 0)),
        .is_quiet = b->plan->is_quiet};
    double ignored;
    enum exit_code rc = order_load_prepare(&b->load);

    if (rc == EXIT_VALID)
        rc = order_load_pgbench(&b->load, contests[0].pgbench_clients, WARM_UP_MS, &ignored);
    if (rc != EXIT_VALID)
        return interrupted() ? EXIT_INTERRUPTED : rc;
    b->load.series = series_open(&shown);
    for (int r = 0; r < b->plan->repeats && rc == EXIT_VALID; r++) {
        for (int i = 0; i < b->row_count && rc == EXIT_VALID; i++)
            rc = measure_row(b, &b->rows[i], r);
        if (rc == EXIT_VALID && b->has_claims)
            rc = measure_claims(b, r);
    }
    series_hide(b->load.series);
    if (interrupted())
        rc = EXIT_INTERRUPTED;
    else if (rc == EXIT_VALID)
        rc = show_result(b);
    *b->plan->series = b->load.series;
    return rc;
}

/* Each contest with each number of clients. */
static void make_rows(struct bench *b)
{
    for (int c = 0; c < CONTEST_COUNT; c++)
        for (int i = 0; i < b->plan->client_count; i++) {
            struct row *row = &b->rows[b->row_count++];

            row->contest = &contests[c];
            row->clients = b->plan->clients[i];
            if (c == COMBINED_NONE && row->clients == TARGET_CLIENTS)
                b->has_claims = true;
        }
}

enum exit_code bench_orders(const struct bench_orders_plan *plan)
{
    int64_t users = users_for_sale(ORDER_LOAD_STOCK, plan->duration_ms, (int)plan->processes);
    struct bench *b = memory_need(calloc(1, sizeof *b));
    enum exit_code rc;

    b->plan = plan;
    b->load = (struct order_load){.lab = plan->lab,
                                  .dir = b->dir,
                                  .processes = (int)plan->processes,
                                  .duration_ms = plan->duration_ms,
                                  .db = lab_database_open(plan->lab, "seckill bench")};
    make_rows(b);
    rc = b->load.db ? users_ensure(plan->lab, users) : EXIT_UNAVAILABLE;
    if (rc == EXIT_VALID && !runs_make(b->dir, plan->out))
        rc = EXIT_CANNOT_WRITE;
    if (rc == EXIT_VALID)
        rc = measure_all(b);
    snprintf(plan->dir, FILES_PATH_MAX, "%s", b->dir);
    lab_db_close(b->load.db);
    free(b);
    return rc;
}

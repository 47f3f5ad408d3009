/* SPDX-License-Identifier: MIT */
/* orders.c -- orders per second over HTTP, each beside pgbench.
 *
 * A ratio means something only if both sides do the same on the same machine at the
 * same time, so each measurement over HTTP comes right after one of pgbench, which
 * sends the same statements over as many connections as the service has by default. */
#include "loadtest/bench/orders.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "db/audit.h"
#include "db/sale.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/kit/spread.h"
#include "loadtest/lab/environment.h"
#include "loadtest/sale/service.h"
#include "loadtest/sale/users.h"
#include "loadtest/sale/wrk.h"

enum {
    STOCK = 1000000000, /* never the limit                                         */
    USERS_NEEDED = 200000,
    WARM_UP_MS = 1000,
    SPARE_MS = 20000,
    DRAIN_MS = 3000,
    TICK_MS = 20,
    DATABASE_CONNECTIONS = 8, /* the default of seckilld */
    SCRIPT_MAX = 4096,
};

/* What each transaction of pgbench draws ahead of its statements: another user every time,
 * and a request's id, which is a number here and a UUID in the service. */
static const char pgbench_draws[] = "\\set user random(1, 1000000000000)\n"
                                    "\\set request random(1, 9000000000000000000)\n"
                                    "\\set units 1\n";

#define STOCK_GUARD "conditional"
#define DUPLICATE_GUARD "unique"
static const char *const none_flags[] = {"--lock=none", "--stock-guard=" STOCK_GUARD,
                                         "--duplicate-guard=" DUPLICATE_GUARD,
                                         "--log-level=warn", NULL};
static const char *const reentrant_flags[] = {"--lock=reentrant", "--lock-scope=user",
                                              "--stock-guard=" STOCK_GUARD,
                                              "--duplicate-guard=" DUPLICATE_GUARD,
                                              "--log-level=warn", NULL};

static const struct contest {
    const char *name;
    const char *const *flags;
    double target;
} contests[] = {
    {"--lock=none", none_flags, 0.9},
    {"--lock=reentrant --lock-scope=user", reentrant_flags, 0.8},
};

enum { CONTEST_COUNT = sizeof contests / sizeof contests[0], TARGET_CLIENTS = 64 };

static const double target_p99_ms = 60;

/* One line of the table: a contest with so many clients. */
struct row {
    const struct contest *contest;
    int clients;
    double http[BENCH_ORDERS_REPEATS_MAX], pgbench[BENCH_ORDERS_REPEATS_MAX], ratio[BENCH_ORDERS_REPEATS_MAX],
        p99_ms[BENCH_ORDERS_REPEATS_MAX];
};

struct bench {
    const struct bench_orders_plan *plan;
    lab_db *db;
    char dir[FILES_PATH_MAX];
    char script[FILES_PATH_MAX];
    struct row rows[CONTEST_COUNT * BENCH_ORDERS_SIZES_MAX];
    int row_count;
};

static bool fresh_voucher(struct bench *b, int64_t *id)
{
    struct lab_voucher voucher = {.title = "a bench of the laboratory", .stock = STOCK};

    if (lab_issue_voucher(b->db, &voucher, id))
        return true;
    fprintf(stderr, "seckill bench: cannot make a voucher: %s\n", lab_db_error(b->db));
    return false;
}

/* How many orders the voucher has; they and the stock left must add up. */
static bool count_orders(struct bench *b, int64_t voucher, int64_t *orders)
{
    struct audit_db_filter filter = {.first_voucher = voucher, .last_voucher = voucher};
    struct audit_db_stock stock;

    if (!audit_db_count(b->db, &filter, orders) ||
        !audit_db_stock(b->db, voucher, &stock)) {
        fprintf(stderr, "seckill bench: %s\n", lab_db_error(b->db));
        return false;
    }
    if (stock.left + *orders == stock.issued)
        return true;
    fprintf(stderr,
            "seckill bench: stock and orders of voucher %" PRId64 " do not add up\n",
            voucher);
    return false;
}

static bool run_pgbench(struct bench *b, int64_t voucher, int64_t duration_ms)
{
    char program_path[FILES_PATH_MAX], log_path[FILES_PATH_MAX], port[32], password[64],
        clients[16], seconds[16], variable[48], admitted[48];
    const char *extra[] = {"PGHOST=127.0.0.1",   port,     "PGUSER=seckill_service",
                           "PGDATABASE=seckill", password, NULL};
    const char *argv[] = {program_path, "-n", "-M", "prepared", "-c", clients,
                          "-j", "2", "-T", seconds, "-f", b->script,
                          "-D", variable, "-D", "lock_variant=none",
                          "-D", "stock_guard=" STOCK_GUARD,
                          "-D", "duplicate_guard=" DUPLICATE_GUARD,
                          "-D", "process=pgbench", "-D", "fence=0",
                          "-D", admitted, NULL};
    struct child_options options = child_options_default(argv);
    struct child child;
    int status = -1;
    char **env;

    if (!lab_postgres_program(program_path, "pgbench"))
        return false;
    snprintf(port, sizeof port, "PGPORT=%d", lab_port(b->plan->lab, LAB_POSTGRES, 0));
    snprintf(password, sizeof password, "PGPASSWORD=%s", b->plan->lab->service_password);
    snprintf(clients, sizeof clients, "%d", DATABASE_CONNECTIONS);
    snprintf(seconds, sizeof seconds, "%d", (int)((duration_ms + 999) / 1000));
    snprintf(variable, sizeof variable, "voucher=%" PRId64, voucher);
    snprintf(admitted, sizeof admitted, "admitted_us=%lld", (long long)time(NULL) * 1000000);
    files_join(log_path, b->dir, "pgbench.txt");
    options.stdout_fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    options.stderr_fd = options.stdout_fd;
    options.death_signal = SIGKILL;
    options.env = env = environment_make(b->plan->lab, extra);
    if (child_start(&child, &options)) {
        while (!child_wait(&child, TICK_MS, &status)) {
            if (interrupted())
                child_end(&child, SIGTERM, 1000);
        }
    }
    close(options.stdout_fd);
    environment_free(env);
    if (status != 0 && !interrupted()) {
        fprintf(stderr, "seckill bench: pgbench failed:\n");
        files_print_tail(stderr, log_path, 10, "  | ");
    }
    return status == 0;
}

/* Orders per second by pgbench's own count, without the time to connect. */
static bool measure_pgbench(struct bench *b, int64_t duration_ms, double *out)
{
    char path[FILES_PATH_MAX];
    int64_t voucher = 0, orders = 0;
    char *text, *tps;

    if (!fresh_voucher(b, &voucher) || !run_pgbench(b, voucher, duration_ms) ||
        !count_orders(b, voucher, &orders))
        return false;
    files_join(path, b->dir, "pgbench.txt");
    text = files_read(path, NULL);
    tps = text ? strstr(text, "tps = ") : NULL;
    *out = tps ? strtod(tps + strlen("tps = "), NULL) : 0;
    free(text);
    return *out > 0;
}

/* What wrk says of 99 % of all answers, in milliseconds; 0: it did not say. */
static double read_p99_ms(const struct bench *b)
{
    char path[FILES_PATH_MAX], *text, *at, *unit = NULL;
    double value;

    files_join(path, b->dir, "wrk.txt");
    text = files_read(path, NULL);
    at = text ? strstr(text, "99%") : NULL;
    value = at ? strtod(at + strlen("99%"), &unit) : 0;
    if (unit && *unit == 'u')
        value /= 1000;
    else if (unit && *unit == 's')
        value *= 1000;
    else if (unit && strncmp(unit, "ms", 2) != 0)
        value = 0;
    free(text);
    return value;
}

static enum exit_code load(struct bench *b, const struct service *services,
                           int64_t voucher, int clients, double *out)
{
    char urls[SERVICE_MAX * SERVICE_URL_MAX] = "", id[32];
    struct wrk_plan plan = {
        .lab = b->plan->lab,
        .dir = b->dir,
        .script = "order.lua",
        .urls = urls,
        .vouchers = id,
        .threads = b->plan->processes > 1 ? (int)b->plan->processes : 1,
        .connections = clients,
        .duration_ms = b->plan->duration_ms + SPARE_MS,
        .extra = {"SECKILL_IDS=off"},
    };
    int64_t begin_ns, accepted, end_ns, before;
    struct wrk wrk;
    enum exit_code rc;

    snprintf(id, sizeof id, "%" PRId64, voucher);
    for (int i = 0; i < b->plan->processes; i++)
        snprintf(urls + strlen(urls), sizeof urls - strlen(urls), "%s%s", i ? "," : "",
                 services[i].orders_url);
    rc = wrk_start(&wrk, &plan);
    if (rc != EXIT_VALID)
        return rc;
    /* As with pgbench, the time to connect does not count. */
    while (wrk_runs(&wrk) && control_sum(&wrk.control, CONTROL_ACCEPTED) < clients &&
           interrupt_sleep_ms(1))
        ;
    before = control_sum(&wrk.control, CONTROL_ACCEPTED);
    begin_ns = monotonic_ns();
    while (wrk_runs(&wrk) && monotonic_ns() - begin_ns < b->plan->duration_ms * 1000000 &&
           interrupt_sleep_ms(TICK_MS))
        ;
    accepted = control_sum(&wrk.control, CONTROL_ACCEPTED) - before;
    end_ns = monotonic_ns();
    *out = (double)accepted * 1e9 / (double)(end_ns - begin_ns);
    wrk_stop(&wrk, DRAIN_MS);
    return interrupted() ? EXIT_INTERRUPTED : EXIT_VALID;
}

static enum exit_code measure_http(struct bench *b, const struct row *row, double *out,
                                   double *p99_ms)
{
    struct service services[SERVICE_MAX];
    struct service_plan plan = {
        .lab = b->plan->lab,
        .dir = b->dir,
        .flags = row->contest->flags,
        .count = (int)b->plan->processes,
    };
    int64_t voucher = 0, orders = 0;
    enum exit_code rc;

    if (!fresh_voucher(b, &voucher))
        return EXIT_UNAVAILABLE;
    rc = service_start(services, &plan);
    if (rc != EXIT_VALID)
        return rc;
    rc = load(b, services, voucher, row->clients, out);
    service_stop(services, plan.count);
    *p99_ms = read_p99_ms(b);
    if (rc == EXIT_VALID && !count_orders(b, voucher, &orders))
        rc = EXIT_INVALID;
    return rc;
}

/* Print a line.  False: it missed a target. */
static bool print_row(FILE *out, struct row *row, size_t n, json_t *list)
{
    struct spread ratio = spread_of(row->ratio, n);
    double http = spread_of(row->http, n).median;
    double pgbench = spread_of(row->pgbench, n).median;
    double p99_ms = spread_of(row->p99_ms, n).median;
    bool has_target = row->clients == TARGET_CLIENTS;
    bool is_fast = !has_target || ratio.median >= row->contest->target;
    bool is_prompt = !has_target || (p99_ms > 0 && p99_ms <= target_p99_ms);

    fprintf(out, "%-36s %7d %7.0f %7.0f %5.2f (%.2f - %.2f) %7.1f", row->contest->name,
           row->clients, http, pgbench, ratio.median, ratio.least, ratio.most, p99_ms);
    if (has_target)
        fprintf(out, "  ratio %.2f %s, p99 %.0f ms %s", row->contest->target,
               is_fast ? "reached" : "MISSED", target_p99_ms,
               is_prompt ? "reached" : "MISSED");
    fputc('\n', out);
    json_array_append_new(
        list, json_pack("{s:s, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:b}", "flags",
                        row->contest->name, "clients", row->clients, "http_per_s", http,
                        "pgbench_per_s", pgbench, "ratio", ratio.median, "ratio_min",
                        ratio.least, "ratio_max", ratio.most, "p99_ms", p99_ms, "reached",
                        is_fast && is_prompt));
    return is_fast && is_prompt;
}

static enum exit_code print_result(FILE *out, struct bench *b)
{
    size_t n = (size_t)b->plan->repeats;
    enum exit_code rc = EXIT_VALID;
    json_t *list = json_array();
    char path[FILES_PATH_MAX];

    fprintf(out, "\nAccepted orders per second, medians of %zu\n\n%-36s %7s %7s %7s %5s %13s %7s"
           "  %s\n",
           n, "", "clients", "HTTP", "pgbench", "ratio", "(from - to)", "p99 ms", "targets");
    for (int i = 0; i < b->row_count; i++)
        if (!print_row(out, &b->rows[i], n, list))
            rc = EXIT_THRESHOLD;
    files_join(path, b->dir, "bench.json");
    files_write_json(path, list);
    json_decref(list);
    fprintf(out, "\nHow: one voucher that never sells out, a different user in each order, duplicate\n"
           "guard `unique`, PostgreSQL durable (fsync and synchronous_commit on).  HTTP: wrk "
           "with so\nmany connections, %" PRId64 " seckilld with its default settings; no "
           "Idempotency-Key, so the\nstatements are the same.  pgbench: %d clients, 2 threads, "
           "prepared statements: BEGIN,\nUPDATE ... stock > 0, INSERT, COMMIT.  %.0f s each, "
           "pgbench right before each HTTP\nmeasurement; wrk, seckilld, Redis and PostgreSQL "
           "share %ld processors.  Ratios are of\nneighbours, p99 is wrk's.  After each, stock "
           "and orders were checked to add up.  Kept in\n%s\n",
           b->plan->processes, DATABASE_CONNECTIONS, (double)b->plan->duration_ms / 1000,
           sysconf(_SC_NPROCESSORS_ONLN), b->dir);
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
    if (!result_page_write_text(NULL, "Orders per second beside pgbench", text))
        rc = EXIT_CANNOT_WRITE;
    free(text);
    return rc;
}

static enum exit_code measure_row(struct bench *b, struct row *row, int r)
{
    enum exit_code rc = EXIT_UNAVAILABLE;

    if (measure_pgbench(b, b->plan->duration_ms, &row->pgbench[r]))
        rc = measure_http(b, row, &row->http[r], &row->p99_ms[r]);
    row->ratio[r] = row->http[r] / row->pgbench[r];
    return rc;
}

/* The statements that seckilld sends for one order, as a script for pgbench. */
static bool write_script(struct bench *b)
{
    struct sale_terms terms = {.stock_guard = guard_find(STOCK_GUARD)};
    char text[SCRIPT_MAX];
    size_t draws = strlen(pgbench_draws);

    memcpy(text, pgbench_draws, draws);
    files_join(b->script, b->dir, "order.pgbench");
    return duplicate_guard_find(DUPLICATE_GUARD, &terms.duplicate_guard) &&
           sale_script(&terms, text + draws, sizeof text - draws) &&
           files_write(b->script, text);
}

static enum exit_code measure_all(struct bench *b)
{
    double ignored;
    enum exit_code rc = EXIT_VALID;

    if (!write_script(b) || !measure_pgbench(b, WARM_UP_MS, &ignored))
        return interrupted() ? EXIT_INTERRUPTED : EXIT_UNAVAILABLE;
    for (int r = 0; r < b->plan->repeats; r++) {
        for (int i = 0; i < b->row_count && rc == EXIT_VALID; i++) {
            fprintf(stderr, "[%d/%d] %s, %d clients\n", r * b->row_count + i + 1,
                    (int)b->plan->repeats * b->row_count, b->rows[i].contest->name,
                    b->rows[i].clients);
            rc = measure_row(b, &b->rows[i], r);
        }
    }
    if (interrupted())
        return EXIT_INTERRUPTED;
    return rc == EXIT_VALID ? show_result(b) : rc;
}

/* Each contest with each number of clients. */
static void make_rows(struct bench *b)
{
    for (int c = 0; c < CONTEST_COUNT; c++)
        for (int i = 0; i < b->plan->client_count; i++) {
            b->rows[b->row_count].contest = &contests[c];
            b->rows[b->row_count++].clients = b->plan->clients[i];
        }
}

enum exit_code bench_orders(const struct bench_orders_plan *plan)
{
    struct bench *b = memory_need(calloc(1, sizeof *b));
    enum exit_code rc = EXIT_UNAVAILABLE;
    char url[256], error[512];

    b->plan = plan;
    lab_database_url(plan->lab, url, sizeof url);
    make_rows(b);
    if (!lab_db_open(&b->db, url, error, sizeof error)) {
        fprintf(stderr, "seckill bench: %s\n", error);
    } else if (!runs_make(b->dir, plan->out)) {
        rc = EXIT_CANNOT_WRITE;
    } else if (users_ensure(plan->lab, USERS_NEEDED)) {
        rc = measure_all(b);
    }
    lab_db_close(b->db);
    free(b);
    return rc;
}

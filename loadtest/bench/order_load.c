/* SPDX-License-Identifier: MIT */
/* order_load.c -- one measurement of orders: by pgbench, or by wrk. */
#include "loadtest/bench/order_load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/http/server.h"
#include "base/text/duration.h"
#include "db/sale_batch.h"
#include "loadtest/bench/cell.h"
#include "loadtest/kit/child.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/lab/environment.h"
#include "loadtest/sale/service.h"
#include "loadtest/sale/service_settings.h"
#include "loadtest/sale/wrk.h"

enum { SPARE_MS = 20000, DRAIN_MS = 3000, TICK_MS = 20, SCRIPT_MAX = 4096,
       PGBENCH_ATTEMPTS = 4 };

/* The random values that each transaction of pgbench draws ahead of its statements: another user
 * every time, and a request's id, which is a number here and a UUID in the service. */
static const char pgbench_draws[] = "\\set user random(1, 1000000000000)\n"
                                    "\\set request random(1, 9000000000000000000)\n"
                                    "\\set units 1\n";

/* The same for a batch: PostgreSQL makes the arrays, before the transaction. */
static const char batch_draws[] =
    "\\set units 64\n"
    "SELECT array_agg((random() * 9e15)::bigint)::text AS user,"
    " array_agg(gen_random_uuid()::text)::text AS request, array_agg(0)::text AS fence,"
    " array_agg((extract(epoch FROM now()) * 1000000)::bigint)::text AS admitted_us,"
    " array_agg(0)::text AS drawn_id FROM generate_series(1, 64) \\gset\n";
_Static_assert(ORDER_LOAD_BATCH == 64, "batch_draws has the number");

enum exit_code order_load_say_unwritten(const char *path)
{
    eprintf("seckill bench: cannot write %s: %s\n", path, strerror(errno));
    return EXIT_CANNOT_WRITE;
}

static enum exit_code write_pgbench_script(const char *path, const char *draws,
                                           bool (*write)(const struct sale_terms *terms,
                                                         char *out, size_t size))
{
    struct sale_terms terms = {.stock_guard = guard_find(ORDER_LOAD_STOCK_GUARD)};
    char text[SCRIPT_MAX];
    size_t length = strlen(draws);

    memcpy(text, draws, length);
    if (!duplicate_guard_find(ORDER_LOAD_DUPLICATE_GUARD, &terms.duplicate_guard) ||
        !write(&terms, text + length, sizeof text - length)) {
        eprintf("seckill bench: pgbench's script cannot be made\n");
        return EXIT_BUG;
    }
    return files_write(path, text) ? EXIT_VALID : order_load_say_unwritten(path);
}

enum exit_code order_load_prepare(struct order_load *b)
{
    enum exit_code rc;

    files_join(b->script, b->dir, "order.pgbench");
    files_join(b->batch_script, b->dir, "batch.pgbench");
    rc = write_pgbench_script(b->script, pgbench_draws, sale_script);
    if (rc == EXIT_VALID)
        rc = write_pgbench_script(b->batch_script, batch_draws, sale_batch_script);
    return rc;
}

bool order_load_voucher(struct order_load *b, int64_t stock, int64_t *id)
{
    struct lab_voucher voucher = {.title = "a bench of the laboratory", .stock = stock};

    if (lab_issue_voucher(b->db, &voucher, id))
        return true;
    eprintf("seckill bench: cannot make a voucher: %s\n", lab_db_error(b->db));
    return false;
}

/* Is the sum of the voucher's orders and the stock left the stock that was issued? */
static bool check_sum(struct order_load *b, int64_t voucher)
{
    struct audit_db_filter filter = {.first_voucher = voucher, .last_voucher = voucher};
    struct audit_db_stock stock;
    int64_t orders = 0;

    if (!audit_db_count(b->db, &filter, &orders) ||
        !audit_db_stock(b->db, voucher, &stock)) {
        eprintf("seckill bench: %s\n", lab_db_error(b->db));
        return false;
    }
    if (stock.left + orders == stock.issued)
        return true;
    eprintf("seckill bench: stock and orders of voucher %" PRId64 " do not add up\n", voucher);
    return false;
}

/* pgbench takes whole seconds. */
static int seconds_of(int64_t duration_ms)
{
    return (int)((duration_ms + 999) / 1000);
}

static enum exit_code run_pgbench(struct order_load *b, const char *script, int64_t voucher,
                                  int client_count, int64_t duration_ms)
{
    char program_path[FILES_PATH_MAX], log_path[FILES_PATH_MAX], port[32], password[64],
        clients[16], seconds[16], variable[48], admitted[48];
    const char *extra[] = {"PGHOST=127.0.0.1",   port,     "PGUSER=seckill_service",
                           "PGDATABASE=seckill", password, NULL};
    const char *argv[] = {program_path, "-n", "-M", "prepared", "-c", clients,
                          "-j", "2", "-T", seconds, "-f", script,
                          "-D", variable, "-D", "lock_variant=none",
                          "-D", "stock_guard=" ORDER_LOAD_STOCK_GUARD,
                          "-D", "duplicate_guard=" ORDER_LOAD_DUPLICATE_GUARD,
                          "-D", "process=pgbench", "-D", "fence=0",
                          "-D", "drawn_id=0",
                          "-D", admitted, NULL};
    struct child_options options = child_options_default(argv);
    struct child child;
    int status = -1;
    char **env;

    if (!lab_postgres_program(program_path, "pgbench"))
        return EXIT_UNAVAILABLE;
    snprintf(port, sizeof port, "PGPORT=%d", lab_port(b->lab, LAB_POSTGRES, 0));
    snprintf(password, sizeof password, "PGPASSWORD=%s", b->lab->service_password);
    snprintf(clients, sizeof clients, "%d", client_count);
    snprintf(seconds, sizeof seconds, "%d", seconds_of(duration_ms));
    snprintf(variable, sizeof variable, "voucher=%" PRId64, voucher);
    snprintf(admitted, sizeof admitted, "admitted_us=%lld", (long long)time(NULL) * 1000000);
    files_join(log_path, b->dir, "pgbench.txt");
    options.stdout_fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (options.stdout_fd < 0)
        return order_load_say_unwritten(log_path);
    options.stderr_fd = options.stdout_fd;
    options.death_signal = SIGKILL;
    options.env = env = environment_make(b->lab, extra);
    if (child_start(&child, &options)) {
        while (!child_wait(&child, TICK_MS, &status)) {
            series_tick(b->series);
            if (interrupted())
                child_end(&child, SIGTERM, 1000);
        }
    }
    close(options.stdout_fd);
    environment_free(env);
    if (interrupted())
        return EXIT_INTERRUPTED;
    if (status == 0)
        return EXIT_VALID;
    eprintf("seckill bench: pgbench failed:\n");
    files_print_tail(log_path);
    return EXIT_UNAVAILABLE;
}

/* The transactions per second that pgbench printed; 0: none ended in its time. */
static double read_transactions_per_s(const char *path)
{
    char *text = files_read(path, NULL);
    const char *tps = text ? strstr(text, "tps = ") : NULL;
    double per_s = tps ? strtod(tps + strlen("tps = "), NULL) : 0;

    free(text);
    return per_s;
}

/* On a busy machine a measurement of a second or two can end before the first transaction.
 * A longer measurement follows then, because the end of a bench loses its earlier measurements. */
enum exit_code order_load_pgbench(struct order_load *b, int clients, bool is_batch,
                                  int64_t duration_ms, double *per_s)
{
    const char *script = is_batch ? b->batch_script : b->script;
    char path[FILES_PATH_MAX];

    *per_s = 0;
    files_join(path, b->dir, "pgbench.txt");
    for (int attempt = 1; attempt <= PGBENCH_ATTEMPTS; attempt++, duration_ms *= 2) {
        enum exit_code rc = EXIT_UNAVAILABLE;
        int64_t voucher = 0;

        if (order_load_voucher(b, ORDER_LOAD_STOCK, &voucher))
            rc = run_pgbench(b, script, voucher, clients, duration_ms);
        if (rc == EXIT_VALID && !check_sum(b, voucher))
            rc = EXIT_UNAVAILABLE;
        if (rc != EXIT_VALID)
            return rc;
        *per_s = read_transactions_per_s(path) * (is_batch ? ORDER_LOAD_BATCH : 1);
        if (*per_s > 0)
            return EXIT_VALID;
        series_hide(b->series);
        eprintf("seckill bench: pgbench ended no transaction in %d s%s, see %s\n",
                seconds_of(duration_ms),
                attempt < PGBENCH_ATTEMPTS ? "; measuring again, twice as long" : "", path);
    }
    return EXIT_UNAVAILABLE;
}

/* The line of the text that begins with `word`, from behind it; NULL: there is none.  Other
 * lines may have the word, too: in wrk's, "92.50%" of the samples are near the mean. */
static const char *line_of(const char *text, const char *word)
{
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += strspn(line, "\n ");
        if (strncmp(line, word, strlen(word)) == 0)
            return line + strlen(word);
    }
    return NULL;
}

/* The latency that wrk prints for so many percent of all answers, such as "50%", in
 * milliseconds; 0: it did not say. */
static double read_percentile_ms(const struct order_load *b, const char *percent)
{
    char path[FILES_PATH_MAX], *text, *unit = NULL;
    const char *at;
    double value;

    files_join(path, b->dir, "wrk.txt");
    text = files_read(path, NULL);
    at = text ? line_of(text, percent) : NULL;
    value = at ? strtod(at, &unit) : 0;
    if (unit && *unit == 'u')
        value /= 1000;
    else if (unit && *unit == 's')
        value *= 1000;
    else if (unit && strncmp(unit, "ms", 2) != 0)
        value = 0;
    free(text);
    return value;
}

/* Show the progress of wrk. */
static void tell(struct order_load *b, const struct control *control)
{
    struct live_counts counts = {0};

    if (series_wants_counts(b->series)) {
        counts.sent = control_sum(control, CONTROL_SENT);
        counts.answered = control_sum(control, CONTROL_ANSWERED);
        counts.accepted = control_sum(control, CONTROL_ACCEPTED);
        counts.sold_out = control_sum(control, CONTROL_SOLD_OUT);
        control_add_latency(control, counts.buckets);
        series_feed(b->series, &counts);
    }
    series_tick(b->series);
}

/* Count the answers of one kind.  An order of a user who has bought is refused, so the time after
 * the users have run out does not count. */
static void count_answers(struct order_load *b, const struct wrk *wrk, int kind,
                          bool each_buys_once, struct order_speed *speed)
{
    int64_t before = control_sum(&wrk->control, kind), begin_ns = monotonic_ns();
    int64_t count = before, end_ns = begin_ns;
    bool goes_on = true;

    while (goes_on && !speed->users_ran_out) {
        int64_t count_now, now_ns;

        goes_on = wrk_runs(wrk) && monotonic_ns() - begin_ns < b->duration_ms * 1000000 &&
                  interrupt_sleep_ms(TICK_MS);
        tell(b, &wrk->control);
        count_now = control_sum(&wrk->control, kind);
        now_ns = monotonic_ns();
        speed->users_ran_out =
            each_buys_once && control_sum(&wrk->control, CONTROL_RAN_OUT) > 0;
        if (!speed->users_ran_out) {
            count = count_now;
            end_ns = now_ns;
        }
    }
    speed->per_s = end_ns > begin_ns ? (double)(count - before) * 1e9 / (double)(end_ns - begin_ns)
                                     : 0;
}

/* Run wrk, and count answers of one kind, a number of control.h. */
static enum exit_code run_wrk(struct order_load *b, const char *urls, int64_t voucher,
                              int clients, int kind, bool each_buys_once,
                              struct order_speed *speed)
{
    char id[32];
    struct wrk_plan plan = {
        .lab = b->lab,
        .dir = b->dir,
        .script = "order.lua",
        .urls = urls,
        .vouchers = id,
        .threads = b->processes > 1 && clients >= b->processes ? b->processes : 1,
        .connections = clients,
        .duration_ms = b->duration_ms + SPARE_MS,
        .extra = {"SECKILL_IDS=off"},
    };
    struct wrk wrk;
    enum exit_code rc;

    snprintf(id, sizeof id, "%" PRId64, voucher);
    rc = wrk_start(&wrk, &plan);
    if (rc != EXIT_VALID)
        return rc;
    /* The time to connect does not count, as in pgbench. */
    while (wrk_runs(&wrk) && control_sum(&wrk.control, kind) < clients && interrupt_sleep_ms(1))
        series_tick(b->series);
    series_load_begins(b->series);
    count_answers(b, &wrk, kind, each_buys_once, speed);
    series_load_ends(b->series);
    wrk_stop(&wrk, DRAIN_MS);
    speed->p50_ms = read_percentile_ms(b, "50%");
    speed->p99_ms = read_percentile_ms(b, "99%");
    if (interrupted())
        return EXIT_INTERRUPTED;
    if (speed->users_ran_out && speed->per_s <= 0) {
        eprintf("seckill bench: the users of wrk ran out at once\n");
        return EXIT_UNAVAILABLE;
    }
    series_measured(b->series, speed->per_s, speed->p99_ms);
    if (speed->p50_ms > 0 && speed->p99_ms > 0)
        return EXIT_VALID;
    eprintf("seckill bench: wrk printed no latency, see %s/wrk.txt\n", b->dir);
    return EXIT_UNAVAILABLE;
}

enum exit_code order_load_seckilld(struct order_load *b, const char *const *flags,
                                   int clients, int64_t stock, struct order_speed *speed)
{
    struct service services[SERVICE_MAX];
    struct service_plan plan = {
        .lab = b->lab, .dir = b->dir, .flags = flags, .count = b->processes};
    char urls[SERVICE_MAX * SERVICE_URL_MAX] = "";
    int64_t voucher = 0;
    enum exit_code rc;

    if (!order_load_voucher(b, stock, &voucher))
        return EXIT_UNAVAILABLE;
    /* Keep the settings of the first measurement.  The settings of the others differ only in the
     * flags that the table names. */
    if (!b->has_settings && !service_settings_write(&plan)) {
        eprintf("seckill bench: cannot write the settings of seckilld to %s: %s\n", b->dir,
                strerror(errno));
        return EXIT_CANNOT_WRITE;
    }
    b->has_settings = true;
    rc = service_start(services, &plan);
    if (rc != EXIT_VALID)
        return rc;
    for (int i = 0; i < b->processes; i++)
        snprintf(urls + strlen(urls), sizeof urls - strlen(urls), "%s%s", i ? "," : "",
                 services[i].orders_url);
    rc = run_wrk(b, urls, voucher, clients, stock > 0 ? CONTROL_ACCEPTED : CONTROL_SOLD_OUT,
                 stock > 0, speed);
    service_stop(services, plan.count);
    if (rc == EXIT_VALID && !check_sum(b, voucher))
        rc = EXIT_INVALID;
    return rc;
}

enum { EMPTY_SPARE_CONNECTIONS = 8, EMPTY_DESCRIPTORS = 4096, EMPTY_TIMEOUT_MS = 10000,
       EMPTY_URL_MAX = 64 };

/* An HTTP server whose handler does nothing, in a process of its own, which shows the limit of the
 * listener of seckilld with civetweb and the request gate. */
struct empty_handler {
    struct child child;
    char url[EMPTY_URL_MAX];
};

/* Shared with the process of the server. */
struct empty_shared {
    atomic_int port; /* 0: it does not listen yet */
};

static void empty_handler_answer(void *arg, struct http_exchange *x)
{
    (void)arg;
    x->status = 200;
    x->closes = x->gate.status != 0 || http_must_close(x);
    text_add(x->answer, "HTTP/1.1 200 OK\r\nX-Outcome: accepted\r\n"
                        "Content-Type: application/json\r\nContent-Length: 2\r\n%s\r\n{}",
             x->closes ? "Connection: close\r\n" : "");
}

/* A cell_fn; `plan` is the number of connections.  The parent ends the process. */
static enum exit_code empty_handler_serve(const void *plan, void *memory)
{
    const int *connections = plan;
    const struct connections_limits limits = {.open = {*connections + EMPTY_SPARE_CONNECTIONS, 0}};
    struct http_server_options options = {
        .connections = connections_new(EMPTY_DESCRIPTORS, &limits),
        .request_timeout_ms = EMPTY_TIMEOUT_MS,
        .answer = empty_handler_answer,
    };
    struct http_server *server = NULL;
    struct empty_shared *shared = memory;

    if (options.connections != NULL)
        server = http_server_new(&options);
    if (server == NULL ||
        !http_server_listen(server, 0, "127.0.0.1:0", *connections + EMPTY_SPARE_CONNECTIONS))
        return EXIT_UNAVAILABLE;
    atomic_store(&shared->port, http_server_port(server, 0));
    for (;;)
        pause();
}

/* Start the server on a free port.  Every request is answered with an empty JSON object and
 * `X-Outcome: accepted`.  False: the reason is on stderr. */
static bool empty_handler_start(struct empty_handler *handler, int connections)
{
    struct empty_shared *shared = cell_share(sizeof *shared);
    int64_t deadline_ns = monotonic_ns() + EMPTY_TIMEOUT_MS * INT64_C(1000000);
    int port = 0;

    if (cell_start(&handler->child, empty_handler_serve, &connections, shared)) {
        while ((port = atomic_load(&shared->port)) == 0 && child_runs(&handler->child) &&
               monotonic_ns() < deadline_ns && interrupt_sleep_ms(1))
            ;
        if (port == 0)
            child_end(&handler->child, SIGKILL, 1000);
    }
    cell_unshare(shared, sizeof *shared);
    if (port == 0)
        eprintf("seckill bench: the empty handler does not listen\n");
    snprintf(handler->url, sizeof handler->url, "http://127.0.0.1:%d", port);
    return port != 0;
}

enum exit_code order_load_empty(struct order_load *b, int clients, struct order_speed *speed)
{
    struct empty_handler handler;
    enum exit_code rc;

    if (!empty_handler_start(&handler, clients))
        return EXIT_UNAVAILABLE;
    rc = run_wrk(b, handler.url, 1, clients, CONTROL_ACCEPTED, false, speed);
    child_end(&handler.child, SIGKILL, 1000);
    return rc;
}

/* SPDX-License-Identifier: MIT */
/* orders.c -- orders per second over HTTP, on each order path, beside pgbench.
 *
 * A ratio needs both sides to do the same work on the same machine at nearly the same time.
 * Therefore each measurement over HTTP comes right after a measurement of pgbench, which sends
 * the same statements, and each round measures every contest once.  A slow pgbench would flatter
 * the service, so before the first round the fastest number of its clients is looked for. */
#include "loadtest/bench/orders.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/http/server.h"
#include "base/http/token.h"
#include "base/text/duration.h"
#include "db/audit.h"
#include "db/lab_db.h"
#include "db/sale_batch.h"
#include "loadtest/bench/cell.h"
#include "loadtest/kit/child.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/kit/spread.h"
#include "loadtest/lab/environment.h"
#include "loadtest/sale/service.h"
#include "loadtest/sale/service_settings.h"
#include "loadtest/sale/users.h"
#include "loadtest/sale/wrk.h"

/* ---- one measurement of orders: by pgbench, or by wrk at seckilld or at an empty handler ---- */

#define ORDER_LOAD_STOCK_GUARD "conditional"
#define ORDER_LOAD_DUPLICATE_GUARD "unique"

enum {
    ORDER_LOAD_STOCK = 1000000000, /* never the limit */
    ORDER_LOAD_BATCH = 64,         /* orders in a transaction of the batch's SQL */
};

struct order_load {
    const struct lab *lab;
    lab_db *db;
    const char *dir; /* exists; logs and pgbench's script go here */
    int processes;   /* of seckilld */
    int64_t duration_ms;
    bool has_settings;     /* service.json has those of a seckilld */
    struct series *series; /* shows the progress; lent, NULL: nothing is shown */
    char script[FILES_PATH_MAX], batch_script[FILES_PATH_MAX]; /* of pgbench */
};

struct order_speed {
    double per_s;          /* accepted orders; without stock: answers "sold out" */
    double p50_ms, p99_ms; /* of all answers, by wrk; 0: wrk printed none */
    bool users_ran_out;    /* so the measurement ended before its time */
};

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

/* Say on stderr that the file cannot be written, and why (errno).  EXIT_CANNOT_WRITE. */
static enum exit_code order_load_say_unwritten(const char *path)
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

/* Write pgbench's scripts: the statements that seckilld sends for one order, and for a batch.
 * EXIT_CANNOT_WRITE: the reason is on stderr. */
static enum exit_code order_load_prepare(struct order_load *b)
{
    enum exit_code rc;

    files_join(b->script, b->dir, "order.pgbench");
    files_join(b->batch_script, b->dir, "batch.pgbench");
    rc = write_pgbench_script(b->script, pgbench_draws, sale_script);
    if (rc == EXIT_VALID)
        rc = write_pgbench_script(b->batch_script, batch_draws, sale_batch_script);
    return rc;
}

/* A new voucher.  False: the reason is on stderr. */
static bool order_load_voucher(struct order_load *b, int64_t stock, int64_t *id)
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

/* Orders per second of so many clients of pgbench, by its own count, without the time to
 * connect.  Each transaction sells one order, or with `is_batch` ORDER_LOAD_BATCH of them.  If no
 * transaction ends in `duration_ms`, the measurement is repeated, each time twice as long, three
 * times at most: on a busy machine a measurement of a second or two can end before the first
 * transaction, and the end of a bench loses its earlier measurements.  Any status but EXIT_VALID
 * and EXIT_INTERRUPTED: said on stderr why. */
static enum exit_code order_load_pgbench(struct order_load *b, int clients, bool is_batch,
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

/* Let `clients` clients order one voucher from seckilld processes with these flags.  If `stock`
 * is 0, every order is answered "sold out", and these answers are counted.  EXIT_INVALID:
 * afterwards the orders and the stock that is left do not add up to `stock`. */
static enum exit_code order_load_seckilld(struct order_load *b,
                                          const char *const *flags, int clients,
                                          int64_t stock, struct order_speed *speed)
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

/* The same requests at a handler that does nothing. */
static enum exit_code order_load_empty(struct order_load *b, int clients, struct order_speed *speed)
{
    struct empty_handler handler;
    enum exit_code rc;

    if (!empty_handler_start(&handler, clients))
        return EXIT_UNAVAILABLE;
    rc = run_wrk(b, handler.url, 1, clients, CONTROL_ACCEPTED, false, speed);
    child_end(&handler.child, SIGKILL, 1000);
    return rc;
}

enum { WAITING_ORDERS = 1000 };

enum { ANSWER_MS = 30000, LOOK_MS = 5, METRICS_MAX = 65536 };

/* The row is held for as long as a slow machine needs to send all orders. */
static const char *const waiting_flags[] = {
    "--order-path=combined", "--lock=none", "--connections=1040", "--orders-waiting=1024",
    "--orders-waiting-per-voucher=1024",
    "--database-wait=60s", "--statement-timeout=60s", "--request-timeout=60s",
    "--worker-wait=60s", "--log-level=warn",
    "--stock-guard=" ORDER_LOAD_STOCK_GUARD,
    "--duplicate-guard=" ORDER_LOAD_DUPLICATE_GUARD, NULL};

struct waiting {
    struct order_load *load;
    struct service service;
    int clients[WAITING_ORDERS]; /* sockets; -1: not connected */
    char tokens[WAITING_ORDERS][TOKEN_LEN + 1];
};

static bool say(const char *what)
{
    if (!interrupted())
        eprintf("seckill bench: %s\n", what);
    return false;
}

static int connect_to(const char *url)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    const char *port = strrchr(url, ':');
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons((uint16_t)(port ? atoi(port + 1) : 0));
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Read until the text has `last`, or the other end closes.  False: neither, or no room. */
static bool read_answer(int fd, char *text, size_t size, const char *last)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    size_t used = 0;

    text[0] = '\0';
    while (used + 1 < size && poll(&waiting, 1, ANSWER_MS) > 0) {
        ssize_t n = recv(fd, text + used, size - 1 - used, 0);

        if (n <= 0)
            return n == 0 && used > 0;
        used += (size_t)n;
        text[used] = '\0';
        if (strstr(text, last))
            return true;
    }
    return false;
}

/* The number of waiting orders, by the service's own count; -1: the service does not say. */
static int count_waiting(const struct service *service)
{
    static const char NAME[] = "\nseckill_orders_waiting ";
    char request[256], *text = calloc(1, METRICS_MAX), *at = NULL;
    int fd = connect_to(service->admin_url), count = -1;
    int n = snprintf(request, sizeof request,
                     "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                     "Authorization: Bearer %s\r\n\r\n",
                     service->admin_token);

    if (text && fd >= 0 && send(fd, request, (size_t)n, MSG_NOSIGNAL) == n &&
        read_answer(fd, text, METRICS_MAX, "\n# there is no such line\n"))
        at = strstr(text, NAME);
    if (at)
        count = atoi(at + strlen(NAME));
    if (fd >= 0)
        close(fd);
    free(text);
    return count;
}

/* The memory of the process that is no file's, in MiB; 0: it cannot be read. */
static double resident_mib(const struct service *service)
{
    char path[64], *text, *at;
    double kib = 0;

    snprintf(path, sizeof path, "/proc/%d/status", (int)service->child.pid);
    text = files_read(path, NULL);
    at = text ? strstr(text, "\nRssAnon:") : NULL;
    if (at)
        kib = strtod(at + strlen("\nRssAnon:"), NULL);
    free(text);
    return kib / 1024;
}

/* ---- the clients ---- */

static bool read_tokens(struct waiting *waiting)
{
    char path[FILES_PATH_MAX];
    FILE *file;
    int count = 0;

    files_join(path, waiting->load->lab->dir, "tokens.txt");
    file = fopen(path, "re");
    while (file && count < WAITING_ORDERS &&
           fscanf(file, "%*s %72s", waiting->tokens[count]) == 1)
        count++;
    if (file)
        fclose(file);
    return count == WAITING_ORDERS || say("cannot read the tokens file");
}

static bool connect_all(struct waiting *waiting)
{
    for (int i = 0; i < WAITING_ORDERS; i++) {
        waiting->clients[i] = connect_to(waiting->service.orders_url);
        if (waiting->clients[i] < 0)
            return say("cannot connect to seckilld");
    }
    return true;
}

static bool send_order(struct waiting *waiting, int i, int64_t voucher)
{
    char request[512];
    int n = snprintf(request, sizeof request,
                     "POST /api/v1/vouchers/%" PRId64 "/orders HTTP/1.1\r\n"
                     "Host: localhost\r\nContent-Length: 0\r\nauthorization: %s\r\n\r\n",
                     voucher, waiting->tokens[i]);

    return send(waiting->clients[i], request, (size_t)n, MSG_NOSIGNAL) == n;
}

static bool read_accepted(struct waiting *waiting, int i)
{
    char text[2048];

    if (read_answer(waiting->clients[i], text, sizeof text, "\r\n\r\n{") &&
        strstr(text, "X-Outcome: accepted") != NULL)
        return true;
    eprintf("seckill bench: an order was not accepted: %s\n", text);
    return false;
}

/* ---- the measurement ---- */

static bool hold_row(struct waiting *waiting, int64_t voucher)
{
    char sql[160];

    snprintf(sql, sizeof sql,
             "UPDATE tb_seckill_voucher SET stock = stock WHERE voucher_id = %" PRId64, voucher);
    return lab_db_run(waiting->load->db, "BEGIN") && lab_db_run(waiting->load->db, sql);
}

/* Wait until the service counts all orders as waiting, except the one that is in a transaction. */
static bool await_waiting(struct waiting *waiting)
{
    int64_t deadline_ns = monotonic_ns() + ANSWER_MS * INT64_C(1000000);

    while (count_waiting(&waiting->service) != WAITING_ORDERS - 1)
        if (monotonic_ns() > deadline_ns || !interrupt_sleep_ms(LOOK_MS))
            return say("the orders do not wait");
    return true;
}

static bool measure(struct waiting *waiting, double *grown_mib)
{
    int64_t free_voucher = 0, held_voucher = 0;
    double idle_mib = 0;
    bool ok = order_load_voucher(waiting->load, ORDER_LOAD_STOCK, &free_voucher) &&
              order_load_voucher(waiting->load, ORDER_LOAD_STOCK, &held_voucher) &&
              connect_all(waiting);

    for (int i = 0; ok && i < WAITING_ORDERS; i++)
        ok = (send_order(waiting, i, free_voucher) || say("cannot send an order")) &&
             read_accepted(waiting, i);
    idle_mib = resident_mib(&waiting->service);
    ok = ok && (hold_row(waiting, held_voucher) || say("cannot hold a row"));
    for (int i = 0; ok && i < WAITING_ORDERS; i++)
        ok = send_order(waiting, i, held_voucher) || say("cannot send an order");
    ok = ok && await_waiting(waiting);
    *grown_mib = resident_mib(&waiting->service) - idle_mib;
    (void)lab_db_run(waiting->load->db, "COMMIT");
    for (int i = 0; ok && i < WAITING_ORDERS; i++)
        ok = read_accepted(waiting, i);
    return ok && idle_mib > 0;
}

/* Connect WAITING_ORDERS clients, let each send an order that is answered, and read the memory of
 * the service.  Then lock the row of a voucher, let each client send an order for it, and read
 * the memory again when all these orders wait.  *grown_mib is by how much the resident memory
 * that is not backed by a file has grown. */
static enum exit_code waiting_orders_measure(struct order_load *load, double *grown_mib)
{
    struct waiting *waiting = calloc(1, sizeof *waiting);
    struct service_plan plan = {.lab = load->lab, .dir = load->dir, .flags = waiting_flags,
                                .count = 1};
    enum exit_code rc = EXIT_UNAVAILABLE;

    if (!waiting)
        abort();
    waiting->load = load;
    memset(waiting->clients, -1, sizeof waiting->clients);
    if (read_tokens(waiting))
        rc = service_start(&waiting->service, &plan);
    if (rc == EXIT_VALID && !measure(waiting, grown_mib))
        rc = interrupted() ? EXIT_INTERRUPTED : EXIT_UNAVAILABLE;
    for (int i = 0; i < WAITING_ORDERS; i++)
        if (waiting->clients[i] >= 0)
            close(waiting->clients[i]);
    if (waiting->service.child.pid != 0)
        service_stop(&waiting->service, 1);
    free(waiting);
    return rc;
}

enum { WARM_UP_MS = 1000, FIND_MS = 2000, FIND_TIMES = 2, TARGET_CLIENTS = 64, CLAIM_PIECES = 3 };

#define FLAGS(path, ...)                                                               \
    (const char *const[])                                                              \
    {                                                                                  \
        "--order-path=" path, "--stock-guard=" ORDER_LOAD_STOCK_GUARD,                 \
            "--duplicate-guard=" ORDER_LOAD_DUPLICATE_GUARD, "--log-level=warn",       \
            __VA_ARGS__, NULL                                                          \
    }

/* A way to sell. */
static const struct contest {
    const char *path, *lock;
    const char *const *flags;
    double target_ratio, target_p99_ms; /* at TARGET_CLIENTS */
} contests[] = {
    {"each", "none", FLAGS("each", "--lock=none"), 0.9, 60},
    {"each", "reentrant", FLAGS("each", "--lock=reentrant", "--lock-scope=user"), 0.8, 60},
    {"combined", "none", FLAGS("combined", "--lock=none"), 14, 10},
    {"combined", "reentrant", FLAGS("combined", "--lock=reentrant", "--lock-scope=user"), 8, 15},
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

/* The numbers of clients of pgbench of which the fastest is taken. */
static const int pgbench_clients[] = {1, 2, 4, 8, 16};

enum { PGBENCH_COUNT = sizeof pgbench_clients / sizeof pgbench_clients[0] };

struct pgbench {
    bool is_batch;
    int fastest; /* of pgbench_clients */
    double per_s[PGBENCH_COUNT];
};

/* A line of the table: a contest with so many clients, beside a pgbench.  The line beside the
 * batch comes after the one beside single orders, and has the same figures of HTTP. */
struct row {
    const struct contest *contest;
    const struct pgbench *beside;
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
    struct pgbench single, batch;
    struct row rows[(CONTEST_COUNT + 1) * BENCH_ORDERS_SIZES_MAX];
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

/* Each number twice, and its better speed, because other programs may disturb one of the two. */
static enum exit_code find_fastest(struct bench *b, struct pgbench *pgbench)
{
    int64_t duration_ms = b->plan->duration_ms < FIND_MS ? b->plan->duration_ms : FIND_MS;
    enum exit_code rc = EXIT_VALID;
    double most = 0;

    for (int n = 0; n < FIND_TIMES * PGBENCH_COUNT && rc == EXIT_VALID; n++) {
        int i = n % PGBENCH_COUNT;
        double per_s = 0;
        char title[64];

        snprintf(title, sizeof title, "pgbench -c%d%s", pgbench_clients[i],
                 pgbench->is_batch ? ", the batch's SQL" : "");
        series_now(b->load.series, title, "before the first round");
        rc = order_load_pgbench(&b->load, pgbench_clients[i], pgbench->is_batch,
                                duration_ms, &per_s);
        pgbench->per_s[i] = fmax(pgbench->per_s[i], per_s);
        if (per_s > most)
            pgbench->fastest = pgbench_clients[i];
        most = fmax(most, per_s);
    }
    return rc;
}

static bool has_targets(const struct row *row)
{
    return row->clients == TARGET_CLIENTS && !row->beside->is_batch;
}

static enum exit_code measure_row(struct bench *b, struct row *row, int r)
{
    bool is_batch = row->beside->is_batch;
    struct order_speed speed = {0};
    enum exit_code rc;

    begin_piece(b, r, "%s, %s, %d clients%s", row->contest->path, row->contest->lock, row->clients,
                is_batch ? ", beside the batch's SQL" : "");
    rc = order_load_pgbench(&b->load, row->beside->fastest, is_batch, b->plan->duration_ms,
                            &row->pgbench[r]);
    if (is_batch)
        speed = (struct order_speed){.per_s = row[-1].http[r],
                                     .p99_ms = row[-1].p99_ms[r],
                                     .users_ran_out = row[-1].users_ran_out};
    else if (rc == EXIT_VALID)
        rc = order_load_seckilld(&b->load, row->contest->flags, row->clients,
                                 ORDER_LOAD_STOCK, &speed);
    row->users_ran_out = row->users_ran_out || speed.users_ran_out;
    row->http[r] = speed.per_s;
    row->p99_ms[r] = speed.p99_ms;
    row->ratio[r] = row->http[r] / row->pgbench[r];
    if (rc == EXIT_VALID)
        end_piece(b, has_targets(row),
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
    bool has_target = has_targets(row);
    int orders = row->beside->is_batch ? ORDER_LOAD_BATCH : 1;
    json_t *json;
    bool is_fast = !has_target || ratio.median >= contest->target_ratio;
    bool is_prompt = !has_target || (p99_ms.median > 0 && p99_ms.median <= contest->target_p99_ms);

    fprintf(out, "%-9s %-10s %7d %7.0f %3d %7.0f %6.2f (%5.2f - %5.2f) %7.1f", contest->path,
            contest->lock, row->clients, http, row->beside->fastest, pgbench, ratio.median,
            ratio.least, ratio.most, p99_ms.median);
    if (has_target)
        fprintf(out, "  ratio %.3g %s, p99 %.0f ms %s", contest->target_ratio, word_of(is_fast),
                contest->target_p99_ms, word_of(is_prompt));
    if (orders > 1)
        fprintf(out, "  pgbench: the batch's SQL, %d orders each", orders);
    fputs(row->users_ran_out ? "  shorter: the users ran out\n" : "\n", out);
    json = json_pack("{s:s, s:s, s:i, s:f, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:b}", "order_path",
                     contest->path, "lock", contest->lock, "clients", row->clients, "http_per_s",
                     http, "pgbench_clients", row->beside->fastest, "pgbench_orders", orders,
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

static void print_pgbench(FILE *out, const struct pgbench *pgbench)
{
    fputs(pgbench->is_batch ? "pgbench, the batch's SQL:" : "\npgbench before the rounds:", out);
    for (int i = 0; i < PGBENCH_COUNT; i++)
        fprintf(out, " -c%d %.0f,", pgbench_clients[i], pgbench->per_s[i]);
    fprintf(out, " so -c%d is taken\n", pgbench->fastest);
}

static void print_how(FILE *out, const struct bench *b)
{
    fputs("\nHow: one voucher that never sells out, a different user in each order, duplicate\n"
          "guard `unique`, PostgreSQL durable (fsync and synchronous_commit on).  HTTP: wrk\n",
          out);
    fprintf(out,
            "with so many connections, %" PRId64 " seckilld with 64 workers and 8 database\n"
            "connections; no Idempotency-Key, so the statements are the same.  pgbench: as many\n"
            "clients as were the fastest, 2 threads, prepared statements: BEGIN, UPDATE ...\n"
            "stock > 0, INSERT, COMMIT.  %.0f s each, pgbench right before each HTTP measurement,\n"
            "and with the batch's SQL right after it; wrk, seckilld, Redis and PostgreSQL share\n"
            "%ld processors.  Ratios are of neighbours, p99 is wrk's.\n"
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
    print_pgbench(out, &b->single);
    if (b->has_claims)
        print_pgbench(out, &b->batch);
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
        rc = order_load_pgbench(&b->load, 8, false, WARM_UP_MS, &ignored);
    if (rc != EXIT_VALID)
        return interrupted() ? EXIT_INTERRUPTED : rc;
    b->load.series = series_open(&shown);
    rc = find_fastest(b, &b->single);
    if (rc == EXIT_VALID && b->has_claims)
        rc = find_fastest(b, &b->batch);
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
    b->batch.is_batch = true;
    for (int c = 0; c < CONTEST_COUNT; c++)
        for (int i = 0; i < b->plan->client_count; i++) {
            int clients = b->plan->clients[i];

            b->rows[b->row_count++] = (struct row){
                .contest = &contests[c], .beside = &b->single, .clients = clients};
            if (c != COMBINED_NONE || clients != TARGET_CLIENTS)
                continue;
            b->rows[b->row_count++] = (struct row){
                .contest = &contests[c], .beside = &b->batch, .clients = clients};
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

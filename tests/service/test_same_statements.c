/* SPDX-License-Identifier: MIT */
/* test_same_statements.c -- `--allow-faults` does not change the statements or round
 * trips of an order.
 *
 * Two services sell the same vouchers under the same settings, and one of them allows
 * faults.  The log of their PostgreSQL server must show the same statements in the same
 * order, and a relay before the server the same number of round trips. */
#include <arpa/inet.h>
#include <endian.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/service/rig.h"

struct relay; /* opaque */

enum { CONNECTIONS_MAX = 64, BYTES = 65536, HEAD = 5, NAME_MAX_LEN = 64 };

/* A connection. A message of the client has a type, a length that counts itself, and contents; a
 * message before the session begins has no type. */
struct connection {
    int client, server; /* -1: closed */
    char head[HEAD + NAME_MAX_LEN]; /* the first bytes of the message under way */
    size_t have;                    /* the number of its bytes that have arrived */
    bool is_begun;                  /* messages have a type now */
    int syncs;
    bool inserts;
};

struct relay {
    pthread_t thread;
    int listener, port, target_port;
    atomic_bool stop;
    pthread_mutex_t mutex; /* guards the fields below */
    struct connection connections[CONNECTIONS_MAX];
    int count;
};

static size_t length_of(const struct connection *c)
{
    uint32_t length;

    memcpy(&length, c->head + (c->is_begun ? 1 : 0), sizeof(length));
    return be32toh(length) + (c->is_begun ? 1U : 0U);
}

/* Does the message only ask whether the server speaks TLS? */
static bool asks_for_tls(const struct connection *c)
{
    enum { TLS_REQUEST = 80877103, LENGTH = 4 };
    uint32_t code;

    memcpy(&code, c->head + LENGTH, sizeof(code));
    return !c->is_begun && be32toh(code) == TLS_REQUEST;
}

static void end_message(struct connection *c)
{
    static const char INSERT[] = "order_insert";
    size_t kept = c->have < sizeof(c->head) ? c->have : sizeof(c->head);

    if (c->is_begun && c->head[0] == 'S')
        c->syncs++;
    c->inserts = c->inserts || memmem(c->head, kept, INSERT, strlen(INSERT)) != NULL;
    c->is_begun = !asks_for_tls(c);
    c->have = 0;
}

static void look(struct connection *c, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (c->have < sizeof(c->head))
            c->head[c->have] = bytes[i];
        c->have++;
        if (c->have >= HEAD && c->have == length_of(c))
            end_message(c);
    }
}

static void hang_up(struct connection *c)
{
    (void)close(c->client);
    (void)close(c->server);
    c->client = c->server = -1;
}

/* Forward bytes in one direction. Returns false if an end has closed. */
static bool pass(struct relay *r, struct connection *c, bool to_server)
{
    static char bytes[BYTES];
    ssize_t n = recv(to_server ? c->client : c->server, bytes, sizeof(bytes), 0);

    if (n <= 0)
        return false;
    if (to_server) {
        (void)pthread_mutex_lock(&r->mutex);
        look(c, bytes, (size_t)n);
        (void)pthread_mutex_unlock(&r->mutex);
    }
    return rig_send(to_server ? c->server : c->client, bytes, (size_t)n);
}

static void accept_one(struct relay *r)
{
    int client = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
    int server = client >= 0 && r->count < CONNECTIONS_MAX ? rig_connect(r->target_port) : -1;

    if (server < 0) {
        if (client >= 0)
            (void)close(client);
        return;
    }
    (void)pthread_mutex_lock(&r->mutex);
    r->connections[r->count++] = (struct connection){.client = client, .server = server};
    (void)pthread_mutex_unlock(&r->mutex);
}

static void *run(void *arg)
{
    struct relay *r = arg;

    while (!atomic_load(&r->stop)) {
        struct pollfd polls[1 + 2 * CONNECTIONS_MAX];
        int count = r->count;

        polls[0] = (struct pollfd){.fd = r->listener, .events = POLLIN};
        for (int i = 0; i < count; i++) {
            polls[1 + 2 * i] =
                (struct pollfd){.fd = r->connections[i].client, .events = POLLIN};
            polls[2 + 2 * i] =
                (struct pollfd){.fd = r->connections[i].server, .events = POLLIN};
        }
        (void)poll(polls, (nfds_t)(1 + 2 * count), 20);
        for (int i = 0; i < count; i++) {
            struct connection *c = &r->connections[i];
            bool is_open = c->client >= 0;

            if (is_open && polls[1 + 2 * i].revents != 0)
                is_open = pass(r, c, true);
            if (is_open && polls[2 + 2 * i].revents != 0)
                is_open = pass(r, c, false);
            if (!is_open && c->client >= 0)
                hang_up(c);
        }
        if (polls[0].revents != 0)
            accept_one(r);
    }
    for (int i = 0; i < r->count; i++)
        if (r->connections[i].client >= 0)
            hang_up(&r->connections[i]);
    return NULL;
}

/* Listen on a free port of 127.0.0.1 and forward each connection to `target_port`. */
static struct relay *relay_start(int target_port)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    struct relay *r = calloc(1, sizeof(*r));
    socklen_t len = sizeof(at);

    assert_non_null(r);
    r->target_port = target_port;
    (void)pthread_mutex_init(&r->mutex, NULL);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(r->listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(r->listener, 64), 0);
    assert_int_equal(getsockname(r->listener, (struct sockaddr *)&at, &len), 0);
    r->port = ntohs(at.sin_port);
    assert_int_equal(pthread_create(&r->thread, NULL, run, r), 0);
    return r;
}

static int relay_port(const struct relay *r)
{
    return r->port;
}

/* The number of Sync messages on connections on which an order was inserted. */
static int relay_trips(struct relay *r)
{
    int trips = 0;

    (void)pthread_mutex_lock(&r->mutex);
    for (int i = 0; i < r->count; i++)
        if (r->connections[i].inserts)
            trips += r->connections[i].syncs;
    (void)pthread_mutex_unlock(&r->mutex);
    return trips;
}

/* Close every connection, and free the relay. Its users must have closed their connections
 * before. */
static void relay_stop(struct relay *r)
{
    atomic_store(&r->stop, true);
    (void)pthread_join(r->thread, NULL);
    (void)close(r->listener);
    (void)pthread_mutex_destroy(&r->mutex);
    free(r);
}

enum { STATEMENTS_MAX = 16384, LINE_MAX_LEN = 4096 };

static struct rig_answer answer;

/* The statements that a service sent for its orders. */
struct sent {
    char statements[STATEMENTS_MAX]; /* a line for each */
    size_t length;
    int trips;
};

static void run_sql(const char *sql)
{
    if (db_script(rig_db(), sql) != DB_OK)
        fail_msg("%s: %s", sql, db_error(rig_db()));
}

static bool log_has(void *words)
{
    char line[LINE_MAX_LEN], path[RIG_PATH_MAX];
    bool is_there = false;
    FILE *log = NULL;

    (void)snprintf(path, sizeof(path), "%s/postgres.log", rig_environment("SECKILL_LAB_DIR"));
    log = fopen(path, "re");
    assert_non_null(log);
    while (!is_there && fgets(line, sizeof(line), log) != NULL)
        is_there = strstr(line, words) != NULL;
    (void)fclose(log);
    return is_there;
}

/* Make the server log each statement of the service, after the name of the service process and the
 * number of the server process. */
static void make_the_server_log(void)
{
    run_sql("ALTER SYSTEM SET log_line_prefix = '<%a %p> '");
    run_sql("ALTER ROLE seckill_service SET log_statement = 'all'");
    run_sql("SELECT pg_reload_conf()");
}

static bool prefix_is_in_force(void *arg)
{
    (void)arg;
    /* The server logs each error of every session. */
    assert_int_not_equal(db_script(rig_db(), "SELECT 1 / 0"), DB_OK);
    return log_has("<test ");
}

/* Find the server process that inserted the orders of this service process, and return the prefix
 * of its lines: "<NAME PID> ". */
static void find_prefix(FILE *log, const char *name, char prefix[RIG_PATH_MAX])
{
    char line[LINE_MAX_LEN], begin[64];

    (void)snprintf(begin, sizeof(begin), "<%s ", name);
    rewind(log);
    prefix[0] = '\0';
    while (prefix[0] == '\0' && fgets(line, sizeof(line), log) != NULL)
        if (strncmp(line, begin, strlen(begin)) == 0 &&
            strstr(line, "execute order_insert") != NULL)
            (void)snprintf(prefix, RIG_PATH_MAX, "%.*s", (int)strcspn(line, ">"), line);
    assert_true(prefix[0] != '\0');
}

/* Keep the statements, without their parameters, of the transactions in which the service
 * process of this name inserted orders. */
static void read_statements(const char *name, struct sent *sent)
{
    static const char WORD[] = "LOG:  execute ";
    char line[LINE_MAX_LEN], path[RIG_PATH_MAX], prefix[RIG_PATH_MAX];
    FILE *log = NULL;

    (void)snprintf(path, sizeof(path), "%s/postgres.log", rig_environment("SECKILL_LAB_DIR"));
    log = fopen(path, "re");
    assert_non_null(log);
    find_prefix(log, name, prefix);
    rewind(log);
    while (fgets(line, sizeof(line), log) != NULL) {
        const char *what = strstr(line, WORD);

        if (strncmp(line, prefix, strlen(prefix)) != 0 || what == NULL)
            continue;
        what += strlen(WORD);
        assert_true(sent->length + strlen(what) < sizeof(sent->statements));
        memcpy(sent->statements + sent->length, what, strlen(what) + 1);
        sent->length += strlen(what);
    }
    (void)fclose(log);
}

static void order(const struct rig_service *service, int64_t voucher, int64_t user,
                  const char *outcome)
{
    assert_true(rig_order(service->orders_port, voucher, user, &answer));
    if (strcmp(answer.outcome, outcome) != 0)
        fail_msg("%s instead of %s", answer.outcome, outcome);
}

/* Sell two units: an order, a second order of the same user, and an order of a third user, for whom
 * nothing is left. */
static void sell(const char *name, const char *const *flags, struct sent *sent)
{
    const char *url = rig_environment("SECKILL_DATABASE_URL");
    const char *colon = strrchr(url, ':');
    struct relay *relay = relay_start(atoi(colon + 1));
    int64_t voucher = rig_voucher(2);
    char moved[512], process[64];
    struct rig_service service;

    (void)snprintf(moved, sizeof(moved), "--database-url=%.*s:%d%s", (int)(colon - url), url,
                   relay_port(relay), strchr(colon, '/'));
    (void)snprintf(process, sizeof(process), "--process=%s", name);
    service = RIG_START("--lock=local", "--database-connections=1", rig_record_flag(), moved,
                        process, flags[0], flags[1], flags[2], flags[3]);
    order(&service, voucher, 1, "accepted");
    order(&service, voucher, 1, "duplicate");
    order(&service, voucher, 2, "accepted");
    order(&service, voucher, 3, "sold-out");
    sent->trips = relay_trips(relay);
    rig_stop(&service);
    relay_stop(relay);
    read_statements(name, sent);
}

/* Both services sell with these settings. */
static void compare(const char *stock_guard, const char *duplicate_guard,
                    const char *unlock)
{
    static struct sent plain, faulty;
    static int number;
    char guard[64], duplicates[64], name[32];
    const char *flags[] = {guard, duplicates, unlock, NULL};

    (void)snprintf(guard, sizeof(guard), "--stock-guard=%s", stock_guard);
    (void)snprintf(duplicates, sizeof(duplicates), "--duplicate-guard=%s", duplicate_guard);
    memset(&plain, 0, sizeof(plain));
    memset(&faulty, 0, sizeof(faulty));
    (void)snprintf(name, sizeof(name), "plain%d", ++number);
    sell(name, flags, &plain);
    (void)snprintf(name, sizeof(name), "faulty%d", number);
    flags[3] = "--allow-faults";
    sell(name, flags, &faulty);
    assert_non_null(strstr(plain.statements, "order_commit: COMMIT"));
    assert_string_equal(plain.statements, faulty.statements);
    assert_true(plain.trips > 0);
    if (plain.trips != faulty.trips)
        fail_msg("%s, %s, %s: %d round trips, and with --allow-faults %d", guard, duplicates,
                 unlock, plain.trips, faulty.trips);
}

/* A guard that reads nothing, a guard that reads, and a guard that may read again; each duplicate
 * guard that refuses; both moments of the release. */
TEST(allowing_faults_changes_no_statement)
{
    make_the_server_log();
    assert_true(rig_until(prefix_is_in_force, NULL, 30000));
    compare("conditional", "unique", "--unlock=after-commit");
    compare("read-write", "count", "--unlock=after-commit");
    compare("version", "unique", "--unlock=before-commit");
}

int main(void)
{
    return rig_run_with_lab();
}

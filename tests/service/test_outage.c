/* SPDX-License-Identifier: MIT */
/* test_outage.c -- PostgreSQL or Redis goes away while orders come in, and comes back.
 *
 * The servers are the test's own. In the end the answers to the clients agree with the rows of the
 * database, and the log alone tells each outage, and as many failed answers as the clients got. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "tests/service/rig.h"
#include "tests/service/shell.h"

enum { BUYERS = 6, STOCK = 1000000 };

/* The longest that a client may wait for an answer; the statement timeout below is 1 s. */
static const int64_t PATIENCE_NS = 30000000000;

static struct rig_service service;
static struct rig_answer answer;

struct buyer {
    pthread_t thread;
    int64_t voucher;
    int64_t next_user;
    atomic_bool stop;
    atomic_int accepted, unavailable, unknown, odd;
    atomic_int failed; /* answers with 503 */
    atomic_int_fast64_t worst_ns;
};

static struct buyer buyers[BUYERS];

/* Repeat this request with the same id until it gets a definite answer. */
static bool order_until_settled(struct buyer *b, int64_t user)
{
    static _Thread_local struct rig_answer got;
    char name[64];

    (void)snprintf(name, sizeof(name), "outage:%lld:%lld", (long long)b->voucher,
                   (long long)user);
    while (!atomic_load(&b->stop)) {
        int64_t start_ns = monotonic_ns();
        bool answered =
            rig_order_named(service.orders_port, b->voucher, user, name, &got);

        if (monotonic_ns() - start_ns > atomic_load(&b->worst_ns))
            atomic_store(&b->worst_ns, monotonic_ns() - start_ns);
        if (!answered) {
            atomic_fetch_add(&b->odd, 1);
            return false;
        }
        if (strcmp(got.outcome, "accepted") == 0)
            return true;
        if (got.status != (strcmp(got.outcome, "lock-busy") == 0 ? 409 : 503) ||
            strstr(got.head, "Retry-After: ") == NULL) {
            atomic_fetch_add(&b->odd, 1);
            return false;
        }
        atomic_fetch_add(&b->failed, got.status == 503);
        atomic_fetch_add(strcmp(got.outcome, "unknown") == 0 ? &b->unknown
                                                             : &b->unavailable,
                         1);
    }
    return false;
}

static void *buy(void *arg)
{
    struct buyer *b = arg;

    for (; !atomic_load(&b->stop); b->next_user += BUYERS)
        if (order_until_settled(b, b->next_user))
            atomic_fetch_add(&b->accepted, 1);
    return NULL;
}

static int accepted_so_far(void)
{
    int n = 0;

    for (int i = 0; i < BUYERS; i++)
        n += atomic_load(&buyers[i].accepted);
    return n;
}

static bool has_more_than(void *n)
{
    return accepted_so_far() > *(int *)n;
}

static void expect_progress(const char *when)
{
    int before = accepted_so_far() + 20;

    if (!rig_until(has_more_than, &before, RIG_PATIENCE_MS))
        fail_msg("no orders are accepted %s", when);
}

static int refused_so_far(void)
{
    int n = 0;

    for (int i = 0; i < BUYERS; i++)
        n += atomic_load(&buyers[i].unavailable) + atomic_load(&buyers[i].unknown);
    return n;
}

static bool has_refused_more_than(void *n)
{
    return refused_so_far() > *(int *)n;
}

static void expect_refusals(const char *when)
{
    int before = refused_so_far();

    if (!rig_until(has_refused_more_than, &before, RIG_PATIENCE_MS))
        fail_msg("no orders are refused %s", when);
}

/* The failed answers of the log: one for each line, or as many as the line counts. */
static int64_t failed_in_log(FILE *log)
{
    char line[4096];
    int64_t sum = 0;

    assert_non_null(log);
    rewind(log);
    while (fgets(line, sizeof(line), log) != NULL) {
        const char *count = strstr(line, "count");

        if (strstr(line, " was answered 503 ") != NULL)
            sum += count != NULL ? strtoll(count + strcspn(count, "=:") + 1, NULL, 10) : 1;
    }
    return sum;
}

static bool has_logged_each_failure(void *arg)
{
    FILE *log = fopen(service.log, "re");
    int64_t told = 0, logged = failed_in_log(log);

    (void)arg;
    (void)fclose(log);
    for (int i = 0; i < BUYERS; i++)
        told += atomic_load(&buyers[i].failed);
    if (logged > told)
        fail_msg("the log has %d failures, the clients were told %d", (int)logged, (int)told);
    return logged == told;
}

static bool has_logged(void *words)
{
    return rig_has_logged(&service, words);
}

static void expect_logged(char *words)
{
    if (!rig_until(has_logged, words, RIG_PATIENCE_MS))
        fail_msg("the log does not say %s", words);
}

static int64_t start_buying(const char *lock, const char *format)
{
    int64_t voucher = rig_voucher(STOCK);

    /* Six buyers use two connections, so some of them always wait for one. A Redis that hung
     * executes an acquire that was given up when it goes on, and the user's lock then stays until
     * its lease ends. So the lease is far shorter than the time that the test waits. */
    service = RIG_START(lock, format, "--statement-timeout=1s", "--redis-timeout=500ms",
                        "--database-connections=2", "--lock-lease=3s",
                        "--idle-transaction-timeout=2s");
    memset(buyers, 0, sizeof(buyers));
    for (int i = 0; i < BUYERS; i++) {
        buyers[i].voucher = voucher;
        buyers[i].next_user = i + 1;
        assert_int_equal(pthread_create(&buyers[i].thread, NULL, buy, &buyers[i]), 0);
    }
    expect_progress("at the start");
    return voucher;
}

/* If a lost connection were not opened again, its slot in the pool would be lost, too. */
static bool is_every_slot_back(void *arg)
{
    (void)arg;
    return rig_metric(&service, "seckill_database_connections_in_use ") == 0 &&
           rig_metric(&service, "seckill_database_waiting ") == 0 &&
           rig_metric(&service, "seckill_database_connections_open ") == 2;
}

/* Stop all clients, and compare every answer with the rows. Requests that were given up before a
 * definite answer may have become orders or not. */
static void settle_accounts(int64_t voucher)
{
    int accepted = 0;
    int64_t orders;

    for (int i = 0; i < BUYERS; i++)
        atomic_store(&buyers[i].stop, true);
    for (int i = 0; i < BUYERS; i++) {
        (void)pthread_join(buyers[i].thread, NULL);
        assert_int_equal(atomic_load(&buyers[i].odd), 0);
        if (atomic_load(&buyers[i].worst_ns) > PATIENCE_NS)
            fail_msg("a client waited %lld ms",
                     (long long)atomic_load(&buyers[i].worst_ns) / 1000000);
        accepted += atomic_load(&buyers[i].accepted);
    }
    assert_true(rig_until(has_logged_each_failure, NULL, RIG_PATIENCE_MS));
    assert_true(rig_until(is_every_slot_back, NULL, RIG_PATIENCE_MS));
    orders = rig_orders(voucher);
    assert_true(orders >= accepted && orders <= accepted + BUYERS);
    assert_int_equal(rig_stock(voucher), STOCK - orders);
    assert_int_equal(rig_duplicates(voucher), 0);
    rig_stop(&service);
}

static void expect_ready(int status, const char *named)
{
    assert_true(rig_request(service.admin_port, "GET", "/readyz", NULL, NULL, &answer));
    assert_int_equal(answer.status, status);
    assert_non_null(strstr(answer.body, named));
}

TEST(postgres_is_restarted)
{
    int64_t voucher = start_buying("--lock=reentrant", "--log-format=text");

    rig_lab_restart("postgres");
    expect_progress("after PostgreSQL came back");
    expect_ready(200, "\"postgresql\":\"ok\"");
    settle_accounts(voucher);
}

/* All connections are ended at once, whatever they do. */
TEST(every_connection_is_killed)
{
    static const struct postgres_statement KILL_ALL = {
        "outage_kill_all",
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE usename = 'seckill_service'",
        ""};
    int64_t voucher = start_buying("--lock=none", "--log-format=text");

    for (int i = 0; i < 5; i++) {
        if (db_run_one(rig_db(), &KILL_ALL, NULL) != DB_OK)
            fail_msg("cannot kill: %s", db_error(rig_db()));
        expect_progress("after every connection was killed");
    }
    settle_accounts(voucher);
}

/* The crash ends every connection; the connection of the tests is opened again when the server has
 * recovered. */
static bool has_another_backend(void *arg)
{
    static const struct postgres_statement BACKEND = {"outage_backend", "SELECT pg_backend_pid()",
                                                ""};
    const int *before = arg;

    return db_run_one(rig_db(), &BACKEND, NULL) == DB_OK &&
           db_int(rig_db(), 0, 0, 0) != *before;
}

/* A backend is killed, so PostgreSQL ends all sessions and recovers. */
TEST(postgres_crashes)
{
    static const struct postgres_statement ONE = {
        "outage_one",
        "SELECT pid FROM pg_stat_activity WHERE usename = 'seckill_service' LIMIT 1",
        ""};
    int64_t voucher = start_buying("--lock=reentrant", "--log-format=text");
    int pid, own_pid;

    assert_int_equal(db_run_one(rig_db(), &ONE, NULL), DB_OK);
    pid = (int)db_int(rig_db(), 0, 0, 0);
    own_pid = db_backend_pid(rig_db());
    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_true(rig_until(has_another_backend, &own_pid, RIG_PATIENCE_MS));
    expect_progress("after PostgreSQL recovered");
    settle_accounts(voucher);
}

TEST(redis_is_restarted)
{
    int64_t voucher = start_buying("--lock=reentrant", "--log-format=text");

    rig_lab_restart("redis");
    expect_progress("after Redis came back");
    settle_accounts(voucher);
}

/* Redis neither answers nor closes the connection, which is worse than an end. */
TEST(redis_hangs)
{
    int64_t voucher = start_buying("--lock=reentrant", "--log-format=json");
    pid_t pid = rig_lab_pid("redis");

    assert_int_equal(kill(pid, SIGSTOP), 0);
    expect_refusals("while Redis hangs");
    expect_logged("\"store\":\"locks\",\"partition\":0,\"outage\":\"begins\"}");
    expect_ready(503, "\"postgresql\":\"ok\"");
    assert_int_equal(kill(pid, SIGCONT), 0);
    expect_progress("after Redis goes on");
    expect_logged("\"store\":\"locks\",\"partition\":0,\"outage\":\"ends\",\"duration_ms\":");
    expect_logged(",\"outcome\":\"unavailable\",\"status\":503,\"duration_ms\":");
    expect_logged(",\"voucher\":");
    settle_accounts(voucher);
}

TEST(postgres_hangs)
{
    int64_t voucher = start_buying("--lock=none", "--log-format=text");

    rig_lab_signal(rig_lab_pid("postgres"), SIGSTOP);
    expect_refusals("while PostgreSQL hangs");
    expect_logged("error PostgreSQL fails: ");
    expect_ready(503, "\"locks\":\"ok\"");
    rig_lab_signal(rig_lab_pid("postgres"), SIGCONT);
    expect_progress("after PostgreSQL goes on");
    expect_logged("warn  PostgreSQL answers again; in ");
    settle_accounts(voucher);
}

/* The process ends during an outage, while most failures are only counted. */
TEST(a_stop_loses_no_count)
{
    enum { ORDERS = 100 };
    int64_t voucher = rig_voucher(STOCK);
    FILE *log;

    service = RIG_START("--lock=reentrant");
    rig_lab_kill("redis");
    for (int i = 1; i <= ORDERS; i++) {
        assert_true(rig_order(service.orders_port, voucher, i, &answer));
        rig_expect(&answer, 503, "unavailable");
    }
    log = fopen(service.log, "re");
    rig_stop(&service); /* removes the log */
    assert_int_equal(failed_in_log(log), ORDERS);
    assert_int_equal(fclose(log), 0);
    rig_lab_restart("redis");
}

/* No request fails, and the release that finds no lock has no client that waits for it. */
TEST(a_redis_that_was_emptied_is_in_the_log)
{
    int64_t voucher = rig_voucher(2);
    struct rig_held held;
    char line[RIG_PATH_MAX];

    service = RIG_START("--lock=reentrant", "--allow-faults");
    rig_hold(&held, &service, "before-commit", voucher, 1);
    (void)snprintf(line, sizeof(line), "redis-cli --no-auth-warning -u '%s' FLUSHALL",
                   rig_environment("SECKILL_REDIS_URL"));
    (void)shell(line);
    rig_let_go(&held, &service, "before-commit");
    rig_expect(&held.answer, 201, "accepted");
    expect_logged("1 locks were lost while they were held");
    rig_stop(&service);
}

int main(void)
{
    return rig_run_with_lab();
}

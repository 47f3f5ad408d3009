/* SPDX-License-Identifier: MIT */
/* test_isolation.c -- orders are sold although the database's role has another isolation of
 * transactions by default than the statements need.
 *
 * The server is the test's own, because the test changes its role. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/dlock.h"
#include "tests/service/rig.h"

#define NAME "isolation:1"

static struct rig_service service;
static int64_t voucher;

static void run_sql(const char *script)
{
    if (db_script(rig_db(), script) != DB_OK)
        fail_msg("%s: %s", script, db_error(rig_db()));
}

static void set_isolation(const char *level)
{
    char sql[128];

    (void)snprintf(sql, sizeof(sql),
                   "ALTER ROLE seckill_service SET default_transaction_isolation = '%s'", level);
    run_sql(sql);
}

/* Does a session wait for the row, or for the transaction that has locked it? */
static bool is_blocked(void *arg)
{
    static const struct postgres_statement BLOCKED = {
        "isolation_blocked", "SELECT count(*) FROM pg_locks WHERE NOT granted", ""};

    (void)arg;
    assert_int_equal(db_run_one(rig_db(), &BLOCKED, NULL), DB_OK);
    return db_int(rig_db(), 0, 0, 0) > 0;
}

/* An order waits for the voucher's row, which another transaction changes meanwhile. */
static void sell_to_a_waiter(const char *pooler)
{
    static struct rig_held order;
    char sql[128];

    voucher = rig_voucher(5);
    service = RIG_START("--lock=none", "--order-path=each", "--statement-timeout=60s",
                        "--database-wait=60s", pooler);
    (void)snprintf(sql, sizeof(sql),
                   "BEGIN; UPDATE tb_seckill_voucher SET stock = 4 WHERE voucher_id = %lld",
                   (long long)voucher);
    run_sql(sql);
    rig_order_beside(&order, &service, voucher, 1);
    assert_true(rig_until(is_blocked, NULL, RIG_PATIENCE_MS));
    run_sql("COMMIT");
    assert_int_equal(pthread_join(order.thread, NULL), 0);
    rig_expect(&order.answer, 201, "accepted");
    assert_int_equal(rig_orders(voucher), 1);
    rig_stop(&service);
}

TEST(an_order_that_waited_is_sold)
{
    static const char *const LEVELS[] = {"repeatable read", "serializable"};

    for (size_t i = 0; i < sizeof(LEVELS) / sizeof(LEVELS[0]); i++) {
        set_isolation(LEVELS[i]);
        sell_to_a_waiter("--database-pooler=none");
        sell_to_a_waiter("--database-pooler=session");
    }
    set_isolation("read committed");
}

struct attempt {
    dlock_system *locks;
    dlock_status answer;
};

static void *try_once(void *arg)
{
    struct attempt *attempt = arg;
    dlock_lease lease;

    attempt->answer = dlock_acquire(attempt->locks, NAME, 0, &lease);
    return NULL;
}

/* The row of a lock is renewed while another client asks for the lock. */
TEST(a_held_lock_is_busy)
{
    dlock_options opts = dlock_options_default();
    dlock_system *holder;
    struct attempt attempt;
    dlock_lease lease;
    pthread_t thread;

    set_isolation("repeatable read");
    opts.variant = "pg-unique";
    opts.database_url = getenv("SECKILL_DATABASE_URL");
    opts.database_timeout_ms = RIG_PATIENCE_MS;
    assert_int_equal(dlock_open(&holder, &opts), DLOCK_OK);
    assert_int_equal(dlock_open(&attempt.locks, &opts), DLOCK_OK);
    assert_int_equal(dlock_acquire(holder, NAME, 0, &lease), DLOCK_OK);
    run_sql("BEGIN; UPDATE dlock_lock SET expires_at = expires_at + interval '1 minute'"
            " WHERE name = '" NAME "'");
    assert_int_equal(pthread_create(&thread, NULL, try_once, &attempt), 0);
    assert_true(rig_until(is_blocked, NULL, RIG_PATIENCE_MS));
    run_sql("COMMIT");
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(attempt.answer, DLOCK_BUSY);
    assert_int_equal(dlock_release(holder, &lease), DLOCK_OK);
    dlock_close(attempt.locks);
    dlock_close(holder);
    set_isolation("read committed");
}

static bool is_refused(void *words)
{
    static struct rig_answer answer;

    assert_true(rig_request(service.admin_port, "GET", "/readyz", NULL, NULL, &answer));
    return answer.status == 503 && strstr(answer.body, words) != NULL;
}

/* A transaction of a pooler has the isolation of the role. */
TEST(a_service_with_a_pooler_of_transactions_names_the_isolation)
{
    static const char *const ARGS[] = {"--lock=none", "--database-pooler=transaction", NULL};
    static char said[] = "transactions are repeatable read instead of read committed";
    static char log[4096];

    service = rig_start(ARGS);
    set_isolation("repeatable read");
    run_sql("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE usename = 'seckill_service'");
    assert_true(rig_until(is_refused, said, RIG_PATIENCE_MS));
    assert_int_equal(rig_run(ARGS, log, sizeof(log)), 69);
    assert_non_null(strstr(log, said));
    set_isolation("read committed");
    rig_stop(&service);
}

int main(void)
{
    return rig_run_with_lab();
}

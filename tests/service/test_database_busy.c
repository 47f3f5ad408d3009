/* SPDX-License-Identifier: MIT */
/* test_database_busy.c -- requests that wait for a connection that another request has, and the
 * notes of "sold out" that spare connections. */
#include <pthread.h>
#include <string.h>

#include "app/sold_out.h"
#include "base/os/clock.h"
#include "tests/service/rig.h"

static struct rig_service service;
static int64_t voucher;

/* Lock the row of the voucher in a transaction of this program. */
static void lock_row(void)
{
    static const struct postgres_statement BEGIN = {"busy_begin", "BEGIN", ""};
    static const struct postgres_statement LOCK = {
        "busy_lock", "SELECT 1 FROM tb_seckill_voucher WHERE voucher_id = $1 FOR UPDATE", "i"};

    db_queue(rig_db(), &BEGIN, NULL);
    db_queue(rig_db(), &LOCK, DB_VALUES(DB_INT(voucher)));
    assert_int_equal(db_run(rig_db()), DB_OK);
}

static void unlock_row(void)
{
    static const struct postgres_statement ROLLBACK = {"busy_rollback", "ROLLBACK", ""};

    assert_int_equal(db_run_one(rig_db(), &ROLLBACK, NULL), DB_OK);
}

/* On a busy machine the opening of the only connection may take longer than --database-wait. */
static void *order_as_first(void *arg)
{
    struct rig_answer *got = arg;

    do
        (void)rig_order(service.orders_port, voucher, 1, got);
    while (strcmp(got->outcome, "database-busy") == 0);
    return NULL;
}

static bool is_in_use(void *arg)
{
    return rig_metric(&service, "seckill_database_connections_in_use ") == *(double *)arg;
}

/* Does a session wait for a row that this program's transaction has locked? Other programs wait for
 * locks on the same server, too. */
static bool is_row_waited_for(void *arg)
{
    static const struct postgres_statement WAITS = {
        "busy_waits",
        "SELECT count(*) FROM pg_locks WHERE NOT granted"
        " AND pg_backend_pid() = ANY (pg_blocking_pids(pid))",
        ""};

    (void)arg;
    assert_int_equal(db_run_one(rig_db(), &WAITS, NULL), DB_OK);
    return db_int(rig_db(), 0, 0, 0) > 0;
}

/* The pool's only connection waits for a row that another transaction has locked. */
TEST(a_request_that_waits_too_long_hears_database_busy)
{
    static struct rig_answer first, second;
    double none = 0;
    pthread_t thread;

    voucher = rig_voucher(5);
    service = RIG_START("--lock=none", "--database-connections=1", "--database-wait=50ms",
                        "--statement-timeout=20s");
    lock_row();
    assert_int_equal(pthread_create(&thread, NULL, order_as_first, &first), 0);
    assert_true(rig_until(is_row_waited_for, NULL, RIG_PATIENCE_MS));
    assert_true(rig_order(service.orders_port, voucher, 2, &second));
    assert_int_equal(second.status, 503);
    assert_string_equal(second.outcome, "database-busy");
    assert_non_null(strstr(second.head, "Retry-After: 1"));
    unlock_row();
    (void)pthread_join(thread, NULL);
    assert_string_equal(first.outcome, "accepted");
    assert_true(rig_until(is_in_use, &none, RIG_PATIENCE_MS));
    assert_true(rig_order(service.orders_port, voucher, 2, &second));
    assert_string_equal(second.outcome, "accepted");
    assert_int_equal(rig_orders(voucher), 2);
    rig_stop(&service);
}

/* The order of another voucher needs the connection that waits for the row of the first voucher. */
TEST(the_answer_says_that_no_connection_became_free)
{
    static struct rig_answer first, second;
    int64_t other = rig_voucher(5);
    pthread_t thread;

    voucher = rig_voucher(5);
    service = RIG_START("--lock=none", "--database-connections=1", "--database-wait=50ms",
                        "--statement-timeout=20s");
    lock_row();
    assert_int_equal(pthread_create(&thread, NULL, order_as_first, &first), 0);
    assert_true(rig_until(is_row_waited_for, NULL, RIG_PATIENCE_MS));
    assert_true(rig_order(service.orders_port, other, 2, &second));
    rig_expect(&second, 503, "database-busy");
    rig_expect_in_body(&second, "\"detail\":\"no connection to the database became free");
    assert_true(rig_metric(&service, "seckill_database_takes_total{result=\"timeout\"} ") > 0);
    unlock_row();
    (void)pthread_join(thread, NULL);
    rig_stop(&service);
}

/* Three slow statements time out one after the other, and each frees its connection. */
TEST(a_statement_that_times_out_gives_its_connection_back)
{
    static struct rig_answer got;
    double none = 0;

    voucher = rig_voucher(5);
    service = RIG_START("--lock=none", "--database-connections=1", "--statement-timeout=200ms");
    lock_row();
    for (int user = 1; user <= 3; user++) {
        assert_true(rig_order(service.orders_port, voucher, user, &got));
        assert_int_equal(got.status, 503);
        assert_string_equal(got.outcome, "unavailable");
    }
    assert_true(rig_until(is_in_use, &none, RIG_PATIENCE_MS));
    unlock_row();
    assert_true(rig_order(service.orders_port, voucher, 1, &got));
    assert_string_equal(got.outcome, "accepted");
    rig_stop(&service);
}

static bool is_sold(void *user)
{
    static struct rig_answer answer;

    assert_true(rig_order(service.orders_port, voucher, ++*(int *)user, &answer));
    return strcmp(answer.outcome, "accepted") == 0;
}

/* Until the first connection is open, no connection is free. */
TEST(without_a_wait_a_free_connection_sells)
{
    int user = 0;

    voucher = rig_voucher(1000000);
    service = RIG_START("--lock=none", "--order-path=combined", "--database-wait=0");
    assert_true(rig_until(is_sold, &user, RIG_PATIENCE_MS));
    rig_stop(&service);
}

static uint64_t answered_by_note(void)
{
    return (uint64_t)rig_metric(&service, "seckill_orders_stopped_total{layer=\"sold-out-hint\",");
}

/* Order more seldom than a note of "sold out" lasts. */
static bool is_answered_by_note(void *user)
{
    static struct rig_answer got;
    uint64_t before = answered_by_note();

    dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), 2 * SOLD_OUT_MS));
    assert_true(rig_order(service.orders_port, voucher, *(int64_t *)user, &got));
    assert_string_equal(got.outcome, "sold-out");
    return answered_by_note() > before;
}

/* A buyer that finds a note of "sold out" that is no answer any more asks for its voucher together
 * with the others; stock that has come back meanwhile is sold. */
TEST(an_old_note_of_sold_out_is_renewed_by_the_next_buyer)
{
    static const struct postgres_statement ADD = {
        "busy_add", "UPDATE tb_seckill_voucher SET stock = 1 WHERE voucher_id = $1", "i"};
    static struct rig_answer got;
    int64_t user = 2;

    voucher = rig_voucher(1);
    service = RIG_START("--lock=none");
    assert_true(rig_order(service.orders_port, voucher, 1, &got));
    assert_string_equal(got.outcome, "accepted");
    assert_true(rig_until(is_answered_by_note, &user, RIG_PATIENCE_MS));
    assert_int_equal(db_run_one(rig_db(), &ADD, DB_VALUES(DB_INT(voucher))), DB_OK);
    dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), 2 * SOLD_OUT_MS));
    assert_true(rig_order(service.orders_port, voucher, user, &got));
    assert_string_equal(got.outcome, "accepted");
    rig_stop(&service);
}

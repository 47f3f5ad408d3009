/* SPDX-License-Identifier: MIT */
/* test_stream_blocked.c -- --order-path=stream: orders whose lock is busy, or whose fence is
 * too old, do not delay the orders of other locks, and are written in the end. */
#include <stdio.h>
#include <string.h>

#include "tests/service/batch.h"
#include "tests/service/commit_proxy.h"
#include "tests/service/stream_rig.h"

static struct rig_service service;

/* Start a service; other writers claim orders that a writer has left after `claim`: at once, or
 * only after the end of the test. */
#define START(claim, ...)                                                              \
    RIG_START("--order-path=stream", stream_flag(), claim, "--statement-timeout=50s",  \
              "--database-wait=50s", __VA_ARGS__)
#define CLAIM_SOON "--stream-claim=100ms"
#define CLAIM_NEVER "--stream-claim=1h"

static void lock_of_voucher(int64_t voucher, char *name, size_t size)
{
    (void)snprintf(name, size, "lock:voucher:%lld", (long long)voucher);
}

/* A client outside the service holds the lock until its key is deleted. */
static void occupy(const char *name)
{
    (void)STREAM_NUMBER("HSET", name, "somebody:1", "1");
}

/* The test locks the voucher's row while these orders are queued. So a writer takes the first of
 * them alone, and then all others together. */
static void queue_together(int64_t voucher, int64_t blocked, int users, int64_t other)
{
    batch_begin(voucher);
    (void)stream_buy(&service, voucher, 1, "", 202, "queued");
    stream_await_taken();
    for (int user = 1; user <= users; user++)
        (void)stream_buy(&service, blocked, user, "", 202, "queued");
    (void)stream_buy(&service, other, 1, "", 202, "queued");
    batch_let_go();
}

static void expect_all(int64_t voucher, int64_t users)
{
    stream_await_waiting(0);
    assert_int_equal(rig_orders(voucher), users);
    assert_int_equal(rig_duplicates(voucher), 0);
    assert_true(rig_metric(&service, "seckill_stream_refused_total ") == 0);
    assert_true(rig_metric(&service, "seckill_stream_poison_total ") == 0);
}

/* More orders than the writer takes at once are blocked, and the orders of the other voucher are
 * behind them. */
TEST(orders_behind_a_busy_lock_do_not_stop_the_others)
{
    enum { USERS = 300 };
    int64_t first = rig_voucher(1), blocked = rig_voucher(USERS), other = rig_voucher(5);
    char name[64];

    stream_anew();
    service = START(CLAIM_SOON, "--lock=reentrant", "--lock-scope=voucher");
    lock_of_voucher(blocked, name, sizeof(name));
    occupy(name);
    queue_together(first, blocked, USERS, other);
    stream_await_rows(other, 1);
    (void)stream_buy(&service, other, 2, "", 202, "queued");
    stream_await_rows(other, 2);
    assert_int_equal(rig_orders(blocked), 0);
    stream_await_waiting(USERS);
    assert_int_equal(STREAM_NUMBER("DEL", name), 1);
    expect_all(blocked, USERS);
    assert_int_equal(rig_stock(blocked), 0);
    rig_stop(&service);
}

/* A writer with a busy lock keeps its orders, and writes them when the lock is free, although no
 * writer claims orders. */
TEST(a_few_blocked_orders_stay_with_their_writer)
{
    enum { USERS = 20 };
    int64_t first = rig_voucher(1), blocked = rig_voucher(USERS), other = rig_voucher(5);
    char name[64];

    stream_anew();
    service = START(CLAIM_NEVER, "--lock=reentrant", "--lock-scope=voucher");
    lock_of_voucher(blocked, name, sizeof(name));
    occupy(name);
    queue_together(first, blocked, USERS, other);
    for (int user = 2; user <= 5; user++) {
        stream_await_rows(other, user - 1);
        (void)stream_buy(&service, other, user, "", 202, "queued");
    }
    stream_await_rows(other, 5);
    stream_await_waiting(USERS);
    assert_int_equal(STREAM_NUMBER("DEL", name), 1);
    expect_all(blocked, USERS);
    rig_stop(&service);
}

/* The test locks the voucher's row, so the statements of its orders end by their timeout. */
TEST(orders_behind_a_locked_row_do_not_stop_the_others)
{
    enum { USERS = 20 };
    int64_t blocked = rig_voucher(USERS), other = rig_voucher(5);

    stream_anew();
    service = RIG_START("--order-path=stream", stream_flag(), CLAIM_SOON, "--lock=none",
                        "--statement-timeout=1s", "--database-wait=50s");
    batch_begin(blocked);
    for (int user = 1; user <= USERS; user++)
        (void)stream_buy(&service, blocked, user, "", 202, "queued");
    for (int user = 1; user <= 3; user++) {
        (void)stream_buy(&service, other, user, "", 202, "queued");
        stream_await_rows(other, user);
    }
    stream_await_waiting(USERS);
    batch_let_go();
    expect_all(blocked, USERS);
    rig_stop(&service);
}

/* If a writer waited for the voucher's lock once for each order, it would not reach the other
 * voucher before the test's time limit. */
TEST(a_voucher_lock_is_waited_for_once_in_a_round)
{
    enum { USERS = 30 };
    int64_t first = rig_voucher(1), blocked = rig_voucher(USERS), other = rig_voucher(5);
    char name[64];

    stream_anew();
    service = START(CLAIM_SOON, "--lock=reentrant", "--lock-scope=voucher", "--lock-wait=3s");
    lock_of_voucher(blocked, name, sizeof(name));
    occupy(name);
    queue_together(first, blocked, USERS, other);
    stream_await_rows(other, 1);
    assert_int_equal(STREAM_NUMBER("DEL", name), 1);
    expect_all(blocked, USERS);
    rig_stop(&service);
}

static void set_fence(int64_t voucher, const char *fence)
{
    char sql[128];

    (void)snprintf(sql, sizeof(sql),
                   "UPDATE tb_seckill_voucher SET fence = %s WHERE voucher_id = %lld", fence,
                   (long long)voucher);
    assert_int_equal(db_script(rig_db(), sql), DB_OK);
}

TEST(a_voucher_with_a_later_fence_does_not_stop_the_others)
{
    enum { USERS = 4 };
    int64_t first = rig_voucher(1), blocked = rig_voucher(USERS), other = rig_voucher(5);

    stream_anew();
    service = START(CLAIM_SOON, "--lock=fenced", "--lock-scope=voucher", "--stock-guard=fence");
    set_fence(blocked, "9000000000000000000");
    queue_together(first, blocked, USERS, other);
    stream_await_rows(other, 1);
    (void)stream_buy(&service, other, 2, "", 202, "queued");
    stream_await_rows(other, 2);
    assert_int_equal(rig_orders(blocked), 0);
    set_fence(blocked, "0");
    expect_all(blocked, USERS);
    assert_int_equal(rig_stock(blocked), 0);
    rig_stop(&service);
}

static bool has_abandoned(void *unused)
{
    (void)unused;
    return rig_metric(&service, "seckill_lock_abandoned_total") >= 1;
}

/* The service may need a moment to connect again. */
static bool is_queued(void *voucher)
{
    static struct rig_answer answer;

    (void)rig_order(service.orders_port, *(int64_t *)voucher, 2, &answer);
    return strcmp(answer.outcome, "queued") == 0;
}

/* The COMMIT gets no answer, so the writer does not release its lock, whose lease lasts longer than
 * the test. */
TEST(an_abandoned_lock_does_not_stop_the_others)
{
    int64_t blocked = rig_voucher(5), other = rig_voucher(5);
    int64_t order;
    char moved[512], name[64];

    stream_anew();
    commit_proxy_start(moved, sizeof(moved));
    service = RIG_START(moved, "--order-path=stream", stream_flag(), CLAIM_SOON,
                        "--lock=reentrant", "--lock-scope=user", "--lock-lease=1h",
                        "--settle-timeout=1s", "--database-connections=1",
                        "--idle-transaction-timeout=1s");
    (void)stream_buy(&service, other, 3, "", 202, "queued"); /* reads the stock of both vouchers */
    stream_await_waiting(0);
    batch_begin(blocked);
    order = stream_buy(&service, blocked, 1, "", 202, "queued");
    stream_await_taken();
    commit_proxy_set(DROP_AND_SHUT);
    batch_let_go();
    assert_true(rig_until(has_abandoned, NULL, RIG_PATIENCE_MS));
    assert_int_equal(commit_proxy_dropped() > 0, 1);
    commit_proxy_end_orphans();
    commit_proxy_open();
    assert_true(rig_until(is_queued, &other, RIG_PATIENCE_MS));
    stream_await_rows(other, 2);
    assert_int_equal(rig_orders(blocked), 0);
    (void)snprintf(name, sizeof(name), "lock:order:%lld", (long long)rig_user(1));
    assert_int_equal(STREAM_NUMBER("DEL", name), 1);
    expect_all(blocked, 1);
    stream_expect_row(order, blocked, 1);
    assert_int_equal(rig_stock(blocked), 4);
    rig_stop(&service);
    commit_proxy_stop();
}

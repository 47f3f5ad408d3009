/* SPDX-License-Identifier: MIT */
/* test_combined_waiting.c -- orders that wait for the transactions of their voucher: their
 * limit, orders whose clients have gone, and orders whose lock must not be released. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "tests/service/batch.h"
#include "tests/service/commit_proxy.h"

static struct rig_service service;
static struct rig_answer answer;

TEST(one_order_more_than_may_wait_is_503)
{
    int64_t voucher = rig_voucher(20);

    service = BATCH_START("--lock=none", "--orders-waiting=3");
    batch_begin(voucher);
    batch_buy_blocked(&service, voucher, 1, 1);
    for (int user = 2; user <= 4; user++)
        batch_buy(&service, voucher, user, "");
    batch_await_waiting(&service, 3);
    /* The answer comes at once, although the orders that wait may do so for almost a minute. */
    assert_true(rig_order(service.orders_port, voucher, 5, &answer));
    assert_int_equal(answer.status, 503);
    assert_string_equal(answer.outcome, "database-busy");
    assert_non_null(strstr(answer.head, "Retry-After: "));
    rig_expect_in_body(&answer, "\"detail\":\"as many orders wait as --orders-waiting allows\"");
    assert_true(rig_has_logged(&service, "3 orders wait to be sold, and --orders-waiting is 3"));
    assert_true(rig_metric(&service, "seckill_orders_waiting ") == 3);
    batch_let_go();
    batch_expect("accepted", 4);
    assert_true(rig_order(service.orders_port, voucher, 5, &answer));
    assert_string_equal(answer.outcome, "accepted");
    assert_int_equal(rig_orders(voucher), 5);
    rig_stop(&service);
}

/* A voucher's row is locked, and more orders wait for it than there are workers. */
TEST(orders_that_wait_for_a_locked_voucher_occupy_no_worker)
{
    int64_t locked = rig_voucher(20), other = rig_voucher(20);

    service = RIG_START("--order-path=combined", "--lock=reentrant", "--statement-timeout=50s",
                        "--database-wait=50s", "--workers=2", "--worker-wait=0s",
                        "--orders-waiting=8", "--orders-waiting-per-voucher=6");
    assert_true(rig_metric(&service, "seckill_orders_waiting_max ") == 8);
    assert_true(rig_metric(&service, "seckill_voucher_orders_waiting_max ") == 6);
    batch_begin(locked);
    batch_buy_blocked(&service, locked, 1, 1);
    for (int user = 2; user <= 7; user++) {
        batch_buy(&service, locked, user, "");
        batch_await_waiting(&service, user - 1);
    }
    assert_true(rig_metric(&service, "seckill_http_workers_busy ") == 1);
    assert_true(rig_order(service.orders_port, locked, 8, &answer));
    assert_int_equal(answer.status, 503);
    assert_string_equal(answer.outcome, "database-busy");
    rig_expect_in_body(&answer, "\"detail\":\"as many orders of this voucher wait as "
                                "--orders-waiting-per-voucher allows\"");
    assert_true(rig_order(service.orders_port, other, 8, &answer));
    assert_string_equal(answer.outcome, "accepted");
    batch_let_go();
    batch_expect("accepted", 7);
    assert_true(rig_metric(&service, "seckill_http_workers_busy ") == 0);
    rig_stop(&service);
}

/* The same with a transaction for each order: one voucher has all connections but one. */
TEST(a_locked_voucher_leaves_a_connection_and_a_worker_to_others)
{
    int64_t locked = rig_voucher(20), other = rig_voucher(20);

    service = RIG_START("--order-path=each", "--lock=reentrant", "--statement-timeout=50s",
                        "--database-wait=50s", "--database-connections=3", "--workers=3",
                        "--worker-wait=0s");
    batch_begin(locked);
    for (int user = 1; user <= 2; user++)
        batch_buy_blocked(&service, locked, user, user);
    for (int user = 3; user <= 7; user++) {
        batch_buy(&service, locked, user, "");
        batch_await_waiting(&service, user - 2);
    }
    assert_true(rig_order(service.orders_port, other, 8, &answer));
    assert_string_equal(answer.outcome, "accepted");
    batch_let_go();
    batch_expect("accepted", 7);
    rig_stop(&service);
}

/* A lock of pg-advisory keeps a connection, whose number --workers limits. */
TEST(orders_that_hold_a_session_wait_with_their_worker)
{
    int64_t voucher = rig_voucher(20);

    service = BATCH_START("--lock=pg-advisory");
    batch_begin(voucher);
    batch_buy_blocked(&service, voucher, 1, 1);
    batch_buy(&service, voucher, 2, "");
    batch_await_waiting(&service, 1);
    assert_true(rig_metric(&service, "seckill_http_workers_busy ") == 2);
    batch_let_go();
    batch_expect("accepted", 2);
    rig_stop(&service);
}

static bool has_told_why(void *voucher)
{
    char line[96];

    (void)snprintf(line, sizeof(line), " orders of voucher %lld failed: ",
                   *(long long *)voucher);
    return rig_has_logged(&service, line) &&
           rig_has_logged(&service, "canceling statement due to lock timeout") &&
           rig_has_logged(&service, "left no time of --database-wait to sell it alone");
}

/* The row of the voucher is locked for longer than a statement may last, so the batch fails, and so
 * does each of its orders that is sold alone before --database-wait is over.  On a busy machine
 * the orders may come so far apart that no two of them share a batch. */
TEST(the_log_says_why_a_batch_failed)
{
    long long voucher = rig_voucher(1000);
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), RIG_PATIENCE_MS);

    service = RIG_START("--order-path=combined", "--lock=none", "--workers=40",
                        "--statement-timeout=500ms", "--database-wait=1s");
    do {
        batch_begin(voucher);
        for (int user = 1; user <= 16; user++)
            batch_buy(&service, voucher, user, "");
        batch_await_answers();
        batch_let_go();
        batch_expect("accepted", 0);
    } while (!has_told_why(&voucher) && dlock_clock_ns() < until_ns);
    assert_true(has_told_why(&voucher));
    assert_int_equal(rig_orders(voucher), 0);
    rig_stop(&service);
}

/* A client holds the lock of the voucher for longer than the --database-wait of the other process.
 * The first order of that process leads and waits for the lock, and its second order waits behind
 * the first. */
TEST(a_wait_for_the_lock_takes_no_time_from_the_wait_for_the_database)
{
    enum { DATABASE_WAIT_MS = 2000 };
    int64_t voucher = rig_voucher(20);
    struct rig_service other;
    struct rig_held holder, leader, follower;

    service = RIG_START("--lock=reentrant", "--lock-scope=voucher", "--allow-faults");
    other = RIG_START("--order-path=combined", "--lock=reentrant", "--lock-scope=voucher",
                      "--lock-wait=50s", "--database-wait=2s", "--allow-faults");
    rig_hold(&holder, &service, "after-acquire", voucher, 1);
    rig_hold(&leader, &other, "before-request", voucher, 2);
    rig_order_beside(&follower, &other, voucher, 3);
    batch_await_waiting(&other, 1);
    rig_fault(&other, "release", "point=before-request", 200);
    dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), DATABASE_WAIT_MS * 3 / 2));
    rig_let_go(&holder, &service, "after-acquire");
    (void)pthread_join(leader.thread, NULL);
    (void)pthread_join(follower.thread, NULL);
    assert_string_equal(holder.answer.outcome, "accepted");
    assert_string_equal(leader.answer.outcome, "accepted");
    assert_string_equal(follower.answer.outcome, "accepted");
    assert_int_equal(rig_orders(voucher), 3);
    rig_stop(&other);
    rig_stop(&service);
}

/* ---- clients that have disconnected ---- */

/* Send an order without reading the answer. */
static int send_order(int64_t voucher, int64_t user)
{
    char bytes[1024], token[TOKEN_LEN + 1];
    int fd = rig_connect(service.orders_port);
    int n;

    assert_true(fd >= 0);
    rig_token(user, token);
    n = snprintf(bytes, sizeof(bytes),
                 "POST /api/v1/vouchers/%lld/orders HTTP/1.1\r\nHost: localhost\r\n"
                 "authorization: %s\r\n\r\n",
                 (long long)voucher, token);
    assert_true(rig_send(fd, bytes, (size_t)n));
    return fd;
}

static bool are_all_sold(void *voucher)
{
    return rig_orders(*(int64_t *)voucher) == 10;
}

/* An order that was sent is sold, as without a batch. */
TEST(clients_that_hang_or_hang_up_keep_nobody_waiting)
{
    enum { GONE = 3 };
    int64_t voucher = rig_voucher(20);
    int silent[GONE];

    service = BATCH_START("--lock=reentrant");
    batch_begin(voucher);
    batch_buy_blocked(&service, voucher, 1, 1);
    for (int i = 0; i < GONE; i++) {
        silent[i] = send_order(voucher, 2 + i);
        batch_await_waiting(&service, 2 * i + 1);
        int gone = send_order(voucher, 12 + i);
        batch_await_waiting(&service, 2 * i + 2);
        (void)close(gone);
    }
    for (int user = 22; user <= 24; user++)
        batch_buy(&service, voucher, user, "");
    batch_await_waiting(&service, 9);
    batch_let_go();
    batch_expect("accepted", 4);
    assert_true(rig_until(are_all_sold, &voucher, RIG_PATIENCE_MS));
    assert_int_equal(rig_stock(voucher), 10);
    assert_int_equal(rig_duplicates(voucher), 0);
    batch_await_waiting(&service, 0);
    rig_stop(&service);
    for (int i = 0; i < GONE; i++) {
        assert_true(rig_read(silent[i], &answer, RIG_PATIENCE_MS));
        assert_string_equal(answer.outcome, "accepted");
        (void)close(silent[i]);
    }
}

/* ---- a lock that must not be released ---- */

static bool is_sold_now(void *voucher)
{
    return rig_order(service.orders_port, *(int64_t *)voucher, 9, &answer) &&
           strcmp(answer.outcome, "accepted") == 0;
}

/* User 1 has an order, so that the first of the orders that wait is refused without a COMMIT,
 * and the next COMMIT is that of the batch. */
TEST(the_lock_of_a_batch_that_nobody_can_settle_is_left_to_its_lease)
{
    int64_t voucher = rig_voucher(20);
    char moved[512];

    commit_proxy_start(moved, sizeof(moved));
    service = BATCH_START(moved, "--lock=reentrant", "--lock-scope=voucher",
                          "--stock-guard=row-lock", "--duplicate-guard=count",
                          "--settle-timeout=1s", "--lock-lease=10s", "--database-connections=1",
                          "--idle-transaction-timeout=1s");
    assert_true(rig_order(service.orders_port, voucher, 1, &answer));
    assert_string_equal(answer.outcome, "accepted");
    batch_begin(voucher);
    batch_buy_blocked(&service, voucher, 1, 1);
    for (int user = 2; user <= 5; user++)
        batch_buy(&service, voucher, user, "");
    batch_await_waiting(&service, 4);
    commit_proxy_set(DROP_AND_SHUT);
    batch_let_go();
    batch_expect("duplicate", 1);
    batch_expect("unknown", 4);
    assert_int_equal(commit_proxy_dropped(), 1);
    commit_proxy_open();
    do
        assert_true(rig_order(service.orders_port, voucher, 9, &answer));
    while (strcmp(answer.outcome, "unavailable") == 0); /* until the service has connected */
    assert_string_equal(answer.outcome, "lock-busy");
    assert_true(rig_metric(&service, "seckill_lock_abandoned_total") == 1);
    assert_true(rig_has_logged(&service, "is left to its lease, because the outcome of an order "
                                         "under it is not known"));
    assert_true(rig_until(is_sold_now, &voucher, RIG_PATIENCE_MS));
    assert_int_equal(rig_orders(voucher), 2);
    assert_int_equal(rig_stock(voucher), 18);
    rig_stop(&service);
    commit_proxy_stop();
}

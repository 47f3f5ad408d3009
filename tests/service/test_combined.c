/* SPDX-License-Identifier: MIT */
/* test_combined.c -- orders that wait together are sold in one transaction, and each has
 * the outcome that it would have alone, under every guard and lock. */
#include <stdio.h>
#include <string.h>

#include "tests/service/batch.h"

static struct rig_service service, other;

/* ---- the guards ---- */

static void sell_under(const char *stock_guard, const char *duplicate_guard)
{
    enum { STOCK = 8, USERS = 12 };
    char stock[64], duplicate[64];
    int64_t voucher = rig_voucher(STOCK);

    (void)snprintf(stock, sizeof(stock), "--stock-guard=%s", stock_guard);
    (void)snprintf(duplicate, sizeof(duplicate), "--duplicate-guard=%s", duplicate_guard);
    service = BATCH_START("--lock=fenced", "--lock-scope=voucher", stock, duplicate);
    batch_sell(&service, voucher, USERS);
    batch_expect("accepted", STOCK);
    batch_expect("sold-out", USERS - STOCK);
    assert_int_equal(rig_orders(voucher), STOCK);
    assert_int_equal(rig_stock(voucher), 0);
    assert_int_equal(rig_duplicates(voucher), 0);
    rig_stop(&service);
}

TEST(every_guard_sells_what_there_is)
{
    static const char *const GUARDS[] = {"read-write", "decrement", "conditional",
                                         "version", "row-lock", "fence"};
    static const char *const DUPLICATES[] = {"none", "count", "unique"};

    for (size_t i = 0; i < sizeof(GUARDS) / sizeof(GUARDS[0]); i++)
        sell_under(GUARDS[i], DUPLICATES[i % 3]);
}

TEST(a_batch_is_one_transaction)
{
    int64_t voucher = rig_voucher(20);
    static const struct postgres_statement TRANSACTIONS = {
        "combined_transactions",
        "SELECT count(DISTINCT xmin::text), count(*) FROM tb_voucher_order"
        " WHERE voucher_id = $1", "i"};

    service = BATCH_START("--lock=none");
    batch_sell(&service, voucher, 11);
    batch_expect("accepted", 11);
    assert_int_equal(db_run_one(rig_db(), &TRANSACTIONS, DB_VALUES(DB_INT(voucher))),
                     DB_OK);
    assert_int_equal(db_int(rig_db(), 0, 0, 0), 2); /* the first order alone, then ten orders */
    assert_int_equal(db_int(rig_db(), 0, 0, 1), 11);
    assert_true(rig_metric(&service, "seckill_batched_orders_total ") == 10);
    assert_true(rig_metric(&service, "seckill_batch_size_orders_bucket{le=\"9\"}") == 0);
    assert_true(rig_metric(&service, "seckill_batch_size_orders_bucket{le=\"11\"}") == 1);
    assert_true(rig_metric(&service, "seckill_batch_size_orders_sum ") == 10);
    batch_expect_own_orders(voucher);
    rig_stop(&service);
}

/* Users 3 and 4 have orders already, and user 5 sends the same request twice. */
static void buy_beside_bad_neighbours(const char *duplicate_guard)
{
    int64_t voucher = rig_voucher(20);
    struct rig_answer before;
    char request[64];

    (void)snprintf(request, sizeof(request), "twice-%lld", (long long)voucher);
    service = BATCH_START("--lock=none", duplicate_guard);
    assert_true(rig_order(service.orders_port, voucher, 3, &before));
    assert_true(rig_order(service.orders_port, voucher, 4, &before));
    batch_begin(voucher);
    batch_buy_blocked(&service, voucher, 1, 1);
    for (int user = 2; user <= 8; user++)
        batch_buy(&service, voucher, user, user == 5 ? request : "");
    batch_buy(&service, voucher, 5, request);
    batch_await_waiting(&service, 8);
    batch_let_go();
    batch_expect("duplicate", 2);
    batch_expect("accepted", 7); /* users 1, 2, 5 twice with one order, 6, 7, 8 */
    assert_int_equal(rig_orders(voucher), 8);
    assert_int_equal(rig_stock(voucher), 12);
    assert_int_equal(rig_duplicates(voucher), 0);
    rig_stop(&service);
}

TEST(no_order_fails_by_its_neighbours)
{
    buy_beside_bad_neighbours("--duplicate-guard=unique");
    buy_beside_bad_neighbours("--duplicate-guard=count");
}

/* No row of the batch collides, so only the count tells that user 3 has an order. */
TEST(who_has_an_order_gets_no_second_one_from_a_batch)
{
    int64_t voucher = rig_voucher(20);
    struct rig_answer before;

    service = BATCH_START("--lock=none", "--duplicate-guard=count");
    assert_true(rig_order(service.orders_port, voucher, 3, &before));
    batch_begin(voucher);
    batch_sell(&service, voucher, 4);
    batch_expect("duplicate", 1);
    batch_expect("accepted", 3);
    assert_int_equal(rig_duplicates(voucher), 0);
    rig_stop(&service);
}

/* ---- locks ---- */

/* The same four users order at two processes at once. */
static void buy_at_two(const char *lock, const char *scope, const char *guard)
{
    int64_t voucher = rig_voucher(100);

    service = BATCH_START(lock, scope, guard, "--duplicate-guard=count");
    other = BATCH_START(lock, scope, guard, "--duplicate-guard=count");
    batch_begin(voucher);
    batch_buy_blocked(&service, voucher, 1, 1);
    batch_buy_blocked(&other, voucher, 1, 2);
    for (int user = 2; user <= 4; user++) {
        batch_buy(&service, voucher, user, "");
        batch_buy(&other, voucher, user, "");
    }
    batch_await_waiting(&service, 3);
    batch_await_waiting(&other, 3);
    batch_let_go();
    rig_stop(&service);
    rig_stop(&other);
    assert_int_equal(rig_orders(voucher), batch_count("accepted"));
    if (strcmp(lock, "--lock=none") == 0)
        assert_true(rig_duplicates(voucher) > 0);
    if (strcmp(guard, "--stock-guard=read-write") == 0)
        assert_true(100 - rig_stock(voucher) < rig_orders(voucher));
}

TEST(without_a_lock_two_processes_sell_twice)
{
    buy_at_two("--lock=none", "--lock-scope=user", "--stock-guard=conditional");
}

TEST(without_a_lock_two_processes_lose_updates)
{
    buy_at_two("--lock=none", "--lock-scope=user", "--stock-guard=read-write");
}

TEST(a_lock_of_the_user_keeps_the_second_process_out)
{
    int64_t voucher = rig_voucher(100);
    struct rig_answer got;

    service = BATCH_START("--lock=reentrant", "--duplicate-guard=count");
    other = BATCH_START("--lock=reentrant", "--duplicate-guard=count");
    batch_begin(voucher);
    batch_buy_blocked(&service, voucher, 1, 1);
    batch_buy(&service, voucher, 2, "");
    batch_await_waiting(&service, 1);
    for (int user = 1; user <= 2; user++) {
        assert_true(rig_order(other.orders_port, voucher, user, &got));
        assert_string_equal(got.outcome, "lock-busy");
    }
    batch_let_go();
    batch_expect("accepted", 2);
    assert_int_equal(rig_duplicates(voucher), 0);
    rig_stop(&service);
    rig_stop(&other);
}

TEST(the_leader_takes_the_lock_of_the_voucher_once)
{
    static const struct postgres_statement FENCES = {
        "combined_fences",
        "SELECT count(DISTINCT fence), count(*) FROM tb_voucher_write WHERE voucher_id = $1"
        " AND outcome = 'accepted' AND lock_name IS NOT NULL", "i"};
    int64_t voucher = rig_voucher(20);

    service = BATCH_START("--lock=fenced", "--lock-scope=voucher", rig_record_flag());
    batch_sell(&service, voucher, 7);
    batch_expect("accepted", 7);
    assert_true(rig_metric(&service, "seckill_lock_acquire_total{lock=\"fenced\","
                                     "result=\"ok\"}") == 2);
    assert_int_equal(db_run_one(rig_db(), &FENCES, DB_VALUES(DB_INT(voucher))), DB_OK);
    assert_int_equal(db_int(rig_db(), 0, 0, 0), 2);
    assert_int_equal(db_int(rig_db(), 0, 0, 1), 7);
    rig_stop(&service);
}

#define STOPPED_BY_THE_LOCK                                                            \
    "seckill_orders_stopped_total{layer=\"lock\",stock_guard=\"conditional\"} "

static bool are_four_stopped(void *at)
{
    return rig_metric(at, STOPPED_BY_THE_LOCK) == 4;
}

/* Another process has the voucher's lock, so that whole batches are refused. */
TEST(every_order_of_a_refused_batch_is_counted)
{
    int64_t voucher = rig_voucher(20);

    service = BATCH_START("--lock=reentrant", "--lock-scope=voucher");
    other = BATCH_START("--lock=reentrant", "--lock-scope=voucher", "--lock-wait=300ms");
    batch_begin(voucher);
    batch_buy_blocked(&service, voucher, 1, 1);
    for (int user = 2; user <= 5; user++)
        batch_buy(&other, voucher, user, "");
    if (!rig_until(are_four_stopped, &other, RIG_PATIENCE_MS))
        fail_msg("%g orders were stopped by the lock instead of 4",
                 rig_metric(&other, STOPPED_BY_THE_LOCK));
    batch_let_go();
    batch_expect("accepted", 1);
    batch_expect("lock-busy", 4);
    rig_stop(&service);
    rig_stop(&other);
}

/* Under the voucher's lock, a count of orders must not miss the other order of the same batch. */
TEST(two_orders_of_a_user_do_not_share_a_counted_batch)
{
    int64_t voucher = rig_voucher(20);

    service = BATCH_START("--lock=reentrant", "--lock-scope=voucher", "--duplicate-guard=count");
    batch_begin(voucher);
    batch_buy_blocked(&service, voucher, 1, 1);
    for (int i = 0; i < 4; i++)
        batch_buy(&service, voucher, 2, "");
    batch_await_waiting(&service, 4);
    batch_let_go();
    batch_expect("accepted", 2);
    batch_expect("duplicate", 3);
    assert_int_equal(rig_duplicates(voucher), 0);
    rig_stop(&service);
}

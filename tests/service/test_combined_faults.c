/* SPDX-License-Identifier: MIT */
/* test_combined_faults.c -- faults, time limits and a stop during the sale of several
 * orders in one transaction. */
#include <stdio.h>
#include <string.h>

#include "tests/service/batch.h"

static struct rig_service service;

static void arm(const char *point, const char *action, const char *key)
{
    char query[160];

    (void)snprintf(query, sizeof(query), "point=%s&action=%s&key=%s", point, action, key);
    rig_fault(&service, "arm", query, 200);
}

/* Cause a fault in the order of user 3; user 1 waits in a transaction, and users 2 to 6 are the
 * batch. */
static void buy_with_a_fault(const char *point, const char *action, const char *outcome,
                             int with_that_outcome)
{
    int64_t voucher = rig_voucher(20);
    char lock[40];

    (void)snprintf(lock, sizeof(lock), "lock:order:%lld", (long long)rig_user(3));
    service = BATCH_START("--allow-faults", "--lock=reentrant", "--stock-guard=row-lock");
    arm(point, action, lock);
    batch_sell(&service, voucher, 6);
    batch_expect(outcome, with_that_outcome);
    assert_int_equal(rig_orders(voucher), batch_count("accepted"));
    assert_int_equal(20 - rig_stock(voucher), batch_count("accepted"));
    rig_stop(&service);
}

TEST(a_fault_meets_the_order_that_it_is_armed_for)
{
    buy_with_a_fault("after-read", "fail", "unavailable", 1);
    buy_with_a_fault("before-commit", "fail", "unavailable", 1);
    buy_with_a_fault("after-commit", "fail", "accepted", 6);
    buy_with_a_fault("after-acquire", "cut", "accepted", 6);
}

/* For each order of the batch, the service asks whether the COMMIT was executed. */
TEST(a_commit_without_an_answer_is_settled_for_each_order)
{
    buy_with_a_fault("before-commit", "cut", "unavailable", 5);
    buy_with_a_fault("after-commit", "cut", "accepted", 6);
}

TEST(an_order_waits_no_longer_than_it_may)
{
    int64_t voucher = rig_voucher(20);
    struct rig_answer got;

    service = RIG_START("--order-path=combined", "--statement-timeout=50s",
                        "--lock=none", "--database-wait=200ms");
    batch_begin(voucher);
    batch_buy_blocked(&service, voucher, 1, 1);
    assert_true(rig_order(service.orders_port, voucher, 2, &got));
    assert_string_equal(got.outcome, "database-busy");
    assert_int_equal(got.status, 503);
    assert_non_null(strstr(got.head, "Retry-After"));
    rig_expect_in_body(&got, "\"detail\":\"the orders before this one were not sold in time");
    assert_true(rig_has_logged(&service, " ms for the transaction that sells the orders before "));
    assert_true(rig_metric(&service, "seckill_database_takes_total{result=\"timeout\"} ") == 0);
    batch_let_go();
    batch_expect("accepted", 1);
    assert_int_equal(rig_orders(voucher), 1);
    rig_stop(&service);
}

TEST(a_stop_waits_for_orders_that_wait)
{
    int64_t voucher = rig_voucher(20);

    service = BATCH_START("--lock=none");
    batch_begin(voucher);
    batch_buy_blocked(&service, voucher, 1, 1);
    for (int user = 2; user <= 5; user++)
        batch_buy(&service, voucher, user, "");
    batch_await_waiting(&service, 4);
    rig_signal(&service, 15);
    batch_let_go();
    batch_expect("accepted", 5);
    assert_int_equal(rig_orders(voucher), 5);
    assert_int_equal(rig_wait(&service, RIG_PATIENCE_MS), 0);
}

TEST(unlocking_before_the_commit_is_refused)
{
    char log[4096];

    assert_int_equal(rig_run((const char *const[]){"--order-path=combined",
                                                   "--unlock=before-commit", NULL},
                             log, sizeof(log)),
                     64);
    assert_non_null(strstr(log, "--order-path=each"));
}

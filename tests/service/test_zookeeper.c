/* SPDX-License-Identifier: MIT */
/* test_zookeeper.c -- orders under a lock in ZooKeeper. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/service/rig.h"

static struct rig_answer answer;
static struct rig_service service;
static int64_t voucher;
static struct rig_held held;

static void expect_order(int64_t user, const char *outcome)
{
    assert_true(rig_order(service.orders_port, voucher, user, &answer));
    if (strcmp(answer.outcome, outcome) != 0)
        fail_msg("%s instead of %s: %s", answer.outcome, outcome, answer.body);
}

static void an_order_goes_through_under(const char *lock)
{
    service = RIG_START("--allow-faults", lock, "--lock-scope=voucher",
                        "--lock-wait=0ms", "--order-path=each");
    voucher = rig_voucher(10);
    expect_order(1, "accepted");
    rig_hold(&held, &service, "after-acquire", voucher, 1);
    expect_order(2, "lock-busy");
    rig_let_go(&held, &service, "after-acquire");
    assert_string_equal(held.answer.outcome, "duplicate");
    expect_order(2, "accepted");
    assert_int_equal(rig_orders(voucher), 2);
    assert_int_equal(rig_stock(voucher), 8);
    rig_stop(&service);
}

TEST(an_order_goes_through_with_zk_seq)
{
    an_order_goes_through_under("--lock=zk-seq");
}

TEST(an_order_goes_through_with_zk_basic)
{
    an_order_goes_through_under("--lock=zk-basic");
}

/* The service sells nothing without the lock. */
TEST(without_a_server_nothing_is_sold)
{
    char said[8192];

    assert_int_not_equal(rig_run((const char *const[]){"--lock=zk-seq",
                                                       "--zookeeper-url=127.0.0.1:1",
                                                       "--zookeeper-timeout=300ms",
                                                       "--start-timeout=0", NULL},
                                 said, sizeof(said)), 0);
    assert_non_null(strstr(said, "127.0.0.1:1"));
}

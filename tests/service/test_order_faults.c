/* SPDX-License-Identifier: MIT */
/* test_order_faults.c -- the database fails at each fault point of an order.  The
 * answers to the clients agree with the rows, and the lock is free afterwards. */
#include <stdio.h>
#include <string.h>

#include "tests/service/rig.h"

enum { STOCK = 5 };

static struct rig_service service;
static struct rig_answer answer;

static const char *arm(const char *point, const char *action, int status)
{
    char query[128];

    (void)snprintf(query, sizeof(query), "point=%s&action=%s", point, action);
    return rig_fault(&service, "arm", query, status);
}

/* Let user 1 order while the point is armed, and again after it. */
static void order_past(const char *point, const char *action, const char *outcome,
                       int64_t sold)
{
    int64_t voucher = rig_voucher(STOCK);

    arm(point, action, 200);
    assert_true(rig_order(service.orders_port, voucher, 1, &answer));
    if (strcmp(answer.outcome, outcome) != 0)
        fail_msg("%s at %s: %s instead of %s", action, point, answer.outcome, outcome);
    assert_int_equal(rig_orders(voucher), sold);
    assert_int_equal(rig_stock(voucher), STOCK - sold);
    assert_true(rig_order(service.orders_port, voucher, 1, &answer));
    assert_string_equal(answer.outcome, sold > 0 ? "duplicate" : "accepted");
    assert_int_equal(rig_orders(voucher), 1);
}

static int64_t settled(void)
{
    return (int64_t)rig_metric(&service, "seckill_commits_unanswered_total");
}

TEST(before_the_commit_nothing_is_sold)
{
    service = RIG_START("--allow-faults", "--lock=local", "--workers=2",
                        "--stock-guard=row-lock");
    order_past("after-acquire", "fail", "unavailable", 0);
    order_past("after-read", "fail", "unavailable", 0);
    order_past("after-read", "cut", "unavailable", 0);
    order_past("before-commit", "fail", "unavailable", 0);
    rig_stop(&service);
}

/* No transaction was open on the connection, so the service can use another one. */
TEST(a_connection_that_was_idle_is_made_again)
{
    service = RIG_START("--allow-faults", "--lock=local", "--workers=2");
    order_past("after-acquire", "cut", "accepted", 1);
    /* The default guards read nothing, so the transaction begins with the update of the stock. */
    order_past("after-read", "cut", "accepted", 1);
    rig_stop(&service);
}

/* The answer to the COMMIT is lost, so the service asks whether the row is there. */
TEST(after_the_commit_it_is_sold)
{
    service = RIG_START("--allow-faults", "--lock=local", "--workers=2");
    order_past("after-commit", "fail", "accepted", 1);
    assert_int_equal(settled(), 1);
    order_past("after-commit", "cut", "accepted", 1);
    assert_int_equal(settled(), 1);
    rig_stop(&service);
}

/* If the COMMIT was sent on a dead connection, the service also asks whether it was executed. */
TEST(a_commit_that_was_never_sent_is_settled)
{
    service = RIG_START("--allow-faults", "--lock=local", "--workers=2");
    order_past("before-commit", "cut", "unavailable", 0);
    assert_int_equal(settled(), 1);
    rig_stop(&service);
}

TEST(a_point_refuses_what_it_cannot_do)
{
    service = RIG_START("--allow-faults", "--lock=local");
    assert_non_null(strstr(arm("before-release", "cut", 400), "it can hold, stop and kill"));
    assert_non_null(
        strstr(arm("watchdog-tick", "cut", 400), "it can hold, stop, kill and fail"));
    rig_stop(&service);
}

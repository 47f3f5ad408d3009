/* SPDX-License-Identifier: MIT */
/* test_readers.c -- reads of the stock during orders, with a read/write lock. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/service/rig.h"

static struct rig_answer answer;
static struct rig_service service;
static int64_t voucher;

static bool query(struct rig_answer *out)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/api/v1/vouchers/%lld", (long long)voucher);
    return rig_request(service.orders_port, "GET", path, NULL, NULL, out);
}

static void expect_query(int status, const char *part)
{
    assert_true(query(&answer));
    if (answer.status != status || strstr(answer.body, part) == NULL)
        fail_msg("%d %s instead of %d %s", answer.status, answer.body, status, part);
}

static void expect_order(int64_t user, const char *outcome)
{
    assert_true(rig_order(service.orders_port, voucher, user, &answer));
    if (strcmp(answer.outcome, outcome) != 0)
        fail_msg("%s instead of %s: %s", answer.outcome, outcome, answer.body);
}

/* A read or an order that is held after it got the lock. */
static struct rig_held held;

static void *query_held(void *arg)
{
    struct rig_held *h = arg;

    (void)query(&h->answer);
    return NULL;
}

static void hold_query(void)
{
    rig_fault(&service, "arm", "point=after-acquire&action=hold", 200);
    assert_int_equal(pthread_create(&held.thread, NULL, query_held, &held), 0);
    rig_await_held(&service, "after-acquire");
}

static void hold_order(void)
{
    rig_hold(&held, &service, "after-acquire", voucher, 1);
}

static void let_go(int status)
{
    rig_let_go(&held, &service, "after-acquire");
    assert_int_equal(held.answer.status, status);
}

static void start(const char *lock, const char *scope, const char *wait)
{
    service = RIG_START("--allow-faults", lock, scope, wait);
    voucher = rig_voucher(10);
}

TEST(a_query_waits_for_an_order)
{
    static struct rig_held waiter;

    start("--lock=rwlock", "--lock-scope=voucher", "--lock-wait=0ms");
    hold_order();
    expect_query(409, "lock-busy");
    assert_non_null(strstr(answer.head, "Retry-After: 1"));
    let_go(201);
    expect_query(200, "\"stock\":9");
    rig_stop(&service);

    start("--lock=rwlock", "--lock-scope=voucher", "--lock-wait=20s");
    hold_order();
    assert_int_equal(pthread_create(&waiter.thread, NULL, query_held, &waiter), 0);
    let_go(201);
    (void)pthread_join(waiter.thread, NULL);
    assert_int_equal(waiter.answer.status, 200);
    assert_non_null(strstr(waiter.answer.body, "\"stock\":9"));
    rig_stop(&service);
}

TEST(queries_stand_beside_each_other_and_keep_orders_out)
{
    start("--lock=rwlock", "--lock-scope=voucher", "--lock-wait=0ms");
    hold_query();
    expect_query(200, "\"stock\":10");
    expect_order(1, "lock-busy");
    let_go(200);
    expect_order(1, "accepted");
    expect_query(200, "\"stock\":9");
    rig_stop(&service);
}

TEST(elsewhere_queries_take_no_lock)
{
    start("--lock=rwlock", "--lock-scope=user", "--lock-wait=0ms");
    hold_order();
    expect_query(200, "\"stock\":10");
    let_go(201);
    rig_stop(&service);
    start("--lock=reentrant", "--lock-scope=voucher", "--lock-wait=0ms");
    hold_order();
    expect_query(200, "\"stock\":10");
    let_go(201);
    rig_stop(&service);
}

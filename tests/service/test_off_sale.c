/* SPDX-License-Identifier: MIT */
/* test_off_sale.c -- a voucher whose status is not "on sale" is not sold, on any order path. */
#include <stdio.h>
#include <string.h>

#include "tests/service/stream_rig.h"

enum { OFF_SALE = 2, EXPIRED = 3 };

static struct rig_service service;
static struct rig_answer answer;
static int64_t voucher, user;

static void set_status(int status)
{
    char sql[96];

    (void)snprintf(sql, sizeof(sql), "UPDATE tb_voucher SET status = %d WHERE id = %lld", status,
                   (long long)voucher);
    assert_int_equal(db_script(rig_db(), sql), DB_OK);
}

/* Order as one more user. Is the answer this outcome? */
static bool is_answered(void *outcome)
{
    assert_true(rig_order(service.orders_port, voucher, ++user, &answer));
    return strcmp(answer.outcome, outcome) == 0;
}

static void await_outcome(const char *outcome)
{
    if (!rig_until(is_answered, (void *)(uintptr_t)outcome, RIG_PATIENCE_MS))
        fail_msg("%s instead of %s", answer.outcome, outcome);
}

/* The course face says it in its own words. */
static void expect_the_course_face_refuses(void)
{
    char path[64], line[TOKEN_LEN + 32], token[TOKEN_LEN + 1];

    rig_token(++user, token);
    (void)snprintf(path, sizeof(path), "/voucher-order/seckill/%lld", (long long)voucher);
    (void)snprintf(line, sizeof(line), "authorization: %s\r\n", token);
    assert_true(rig_request(service.orders_port, "POST", path, line, NULL, &answer));
    rig_expect(&answer, 200, "ended");
}

/* An order that was accepted before keeps its answer. */
static void stop_and_resume(const char *path, const char *sold)
{
    char name[48];

    voucher = rig_voucher(100000);
    (void)snprintf(name, sizeof(name), "off:%lld", (long long)voucher);
    service = RIG_START("--lock=none", path, stream_flag());
    assert_true(rig_order_named(service.orders_port, voucher, user = 1, name, &answer));
    assert_string_equal(answer.outcome, sold);
    for (int status = OFF_SALE; status <= EXPIRED; status++) {
        set_status(status);
        await_outcome("ended");
        rig_expect(&answer, 410, "ended");
        expect_the_course_face_refuses();
        assert_true(rig_order_named(service.orders_port, voucher, 1, name, &answer));
        assert_true(strcmp(answer.outcome, "accepted") == 0 ||
                    strcmp(answer.outcome, "queued") == 0);
        set_status(1);
        await_outcome(sold);
    }
    rig_stop(&service);
}

TEST(a_voucher_off_sale_is_not_sold)
{
    stop_and_resume("--order-path=each", "accepted");
    stop_and_resume("--order-path=combined", "accepted");
    stop_and_resume("--order-path=stream", "queued");
}

/* A service that has not read the voucher before refuses the first order. */
TEST(a_voucher_that_was_off_sale_before_is_not_sold)
{
    voucher = rig_voucher_at(5, 3600, 7200);
    service = RIG_START("--lock=none");
    set_status(OFF_SALE);
    assert_true(rig_order(service.orders_port, voucher, 1, &answer));
    rig_expect(&answer, 410, "ended");
    assert_int_equal(rig_orders(voucher), 0);
    rig_stop(&service);
}

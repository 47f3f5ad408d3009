/* SPDX-License-Identifier: MIT */
/* test_stream_promises.c -- --order-path=stream: orders that PostgreSQL refuses, because another
 * path has sold to the same user, or under the same request. */
#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"
#include "tests/service/batch.h"
#include "tests/service/stream_rig.h"

static struct rig_service first, second;

/* The user has an order of another order path, which the script cannot know. The promise is broken,
 * its unit is free again, and the address of the request says this. */
TEST(a_refusal_breaks_the_promise_and_says_so)
{
    int64_t voucher = rig_voucher(2), order;

    stream_anew();
    first = RIG_START("--order-path=combined", "--lock=none");
    second = STREAM_START("--lock=none");
    (void)stream_buy(&first, voucher, 1, "", 201, "accepted");
    order = stream_buy(&second, voucher, 1, "stream-refused", 202, "queued");
    stream_await_waiting(0);
    stream_expect_request(&second, 1, "stream-refused", "duplicate", order);
    assert_true(rig_has_logged(&second, "a promise is broken"));
    assert_true(rig_metric(&second, "seckill_stream_refused_total ") == 1);
    (void)stream_buy(&second, voucher, 2, "", 202, "queued");
    stream_await_rows(voucher, 2);
    assert_int_equal(rig_stock(voucher), 0);
    rig_stop(&first);
    rig_stop(&second);
}

/* Another order path has used the request's id for another voucher, so this voucher has no order of
 * the user. A second request of the user is admitted. */
TEST(a_conflict_lets_its_user_buy_again)
{
    int64_t voucher = rig_voucher(1), other = rig_voucher(1), order;
    char request[48];

    stream_anew();
    first = RIG_START("--order-path=combined", "--lock=none");
    second = STREAM_START("--lock=none");
    (void)snprintf(request, sizeof(request), "conflict:%lld", (long long)voucher);
    (void)stream_buy(&first, other, 1, request, 201, "accepted");
    (void)stream_buy(&second, voucher, 1, request, 202, "queued");
    stream_await_waiting(0);
    assert_int_equal(rig_orders(voucher), 0);
    (void)stream_buy(&second, voucher, 1, request, 422, "conflict");
    /* Shows that the unit is free again. */
    order = stream_buy(&second, voucher, 1, "", 202, "queued");
    stream_await_rows(voucher, 1);
    stream_expect_row(order, voucher, 1);
    (void)stream_buy(&second, voucher, 1, "", 409, "duplicate");
    rig_stop(&first);
    rig_stop(&second);
}

/* An order is removed from the stream before its end is counted and logged. */
static bool has_broken_a_promise(void *service)
{
    return rig_has_logged(service, "a promise is broken");
}

static void expect_ends(struct rig_service *s, int written, int refused)
{
    stream_await_waiting(0);
    assert_true(rig_until(has_broken_a_promise, s, RIG_PATIENCE_MS));
    assert_true(rig_metric(s, "seckill_stream_refused_total ") == refused);
    assert_true(rig_metric(s, "seckill_stream_written_total ") == written);
}

/* Another order path has written the row of the request, which the script cannot know either. The
 * row has another number than the promise. */
static void promise_another_number(const char *guard)
{
    int64_t voucher = rig_voucher(2), written, promised;
    char request[48];

    stream_anew();
    first = RIG_START("--order-path=combined", "--lock=none", guard);
    second = STREAM_START("--lock=none", guard);
    (void)snprintf(request, sizeof(request), "number:%lld", (long long)voucher);
    written = stream_buy(&first, voucher, 1, request, 201, "accepted");
    promised = stream_buy(&second, voucher, 1, request, 202, "queued");
    assert_int_not_equal(promised, written);
    expect_ends(&second, 0, 1);
    assert_int_equal(stream_buy(&second, voucher, 1, request, 201, "accepted"), written);
    stream_expect_request(&second, 1, request, "accepted", written);
    (void)stream_buy(&second, voucher, 2, "", 202, "queued"); /* the unit is free again */
    stream_await_rows(voucher, 2);
    assert_int_equal(rig_stock(voucher), 0);
    rig_stop(&first);
    rig_stop(&second);
}

/* The first order waits for the voucher's row, and the others share a batch. */
static void promise_another_number_in_a_batch(void)
{
    enum { USERS = 3 };
    int64_t voucher = rig_voucher(10), orders[USERS + 1], written;
    char request[48];

    stream_anew();
    first = RIG_START("--order-path=combined", "--lock=none");
    second = STREAM_START("--lock=none");
    (void)snprintf(request, sizeof(request), "number:%lld", (long long)voucher);
    written = stream_buy(&first, voucher, USERS, request, 201, "accepted");
    batch_begin(voucher);
    for (int user = 1; user < USERS; user++) {
        orders[user] = stream_buy(&second, voucher, user, "", 202, "queued");
        stream_await_taken();
    }
    (void)stream_buy(&second, voucher, USERS, request, 202, "queued");
    batch_let_go();
    expect_ends(&second, USERS - 1, 1);
    for (int user = 1; user < USERS; user++)
        stream_expect_row(orders[user], voucher, user);
    stream_expect_row(written, voucher, USERS);
    assert_int_equal(rig_orders(voucher), USERS);
    assert_int_equal(rig_stock(voucher), 10 - USERS);
    rig_stop(&first);
    rig_stop(&second);
}

TEST(a_row_of_another_number_breaks_the_promise)
{
    promise_another_number("--duplicate-guard=none");
    promise_another_number("--duplicate-guard=count");
    promise_another_number("--duplicate-guard=unique");
    promise_another_number_in_a_batch();
}

static void set_stock(int64_t voucher, int64_t stock)
{
    static const struct postgres_statement SET = {
        "promises_set_stock", "UPDATE tb_seckill_voucher SET stock = $2 WHERE voucher_id = $1",
        "ii"};

    assert_int_equal(db_run_one(rig_db(), &SET, DB_VALUES(DB_INT(voucher), DB_INT(stock))), DB_OK);
}

static bool is_queued_now(void *voucher)
{
    struct rig_answer got;

    assert_true(rig_order(first.orders_port, *(int64_t *)voucher, 6, &got));
    return strcmp(got.outcome, "queued") == 0;
}

/* An operator lowers the stock in PostgreSQL after it was copied into Redis.  The promises beyond
 * the new stock are broken, but the first broken one ends the sale.  The process that starts then
 * does not remember by itself that the voucher is sold out. */
TEST(a_lowered_stock_breaks_no_promise_that_is_given_later)
{
    int64_t voucher = rig_voucher(10);

    stream_anew();
    second = STREAM_START("--lock=none");
    (void)stream_buy(&second, voucher, 1, "", 202, "queued"); /* copies the stock */
    stream_await_rows(voucher, 1);
    set_stock(voucher, 1);
    (void)stream_buy(&second, voucher, 2, "", 202, "queued");
    (void)stream_buy(&second, voucher, 3, "", 202, "queued");
    expect_ends(&second, 2, 1);
    first = STREAM_START("--lock=none");
    (void)stream_buy(&first, voucher, 4, "", 409, "sold-out");
    set_stock(voucher, 1);
    assert_true(rig_until(is_queued_now, &voucher, RIG_PATIENCE_MS));
    stream_await_rows(voucher, 3);
    assert_int_equal(rig_stock(voucher), 0);
    rig_stop(&first);
    rig_stop(&second);
}

static bool are_all_refused(void *count)
{
    return rig_metric(&second, "seckill_stream_refused_total ") == *(int *)count;
}

/* The log names the first broken promises and counts the others; the metric counts all of them.
 * The row of the voucher is locked until all orders are in the stream, so that one batch ends
 * them. */
TEST(many_broken_promises_do_not_fill_the_log)
{
    enum { A_SECOND = 10 }; /* lines */
    int users = 100;
    int64_t voucher = rig_voucher(2 * users), begin_ns, seconds, lines;

    stream_anew();
    first = RIG_START("--order-path=combined", "--lock=none");
    second = STREAM_START("--lock=none");
    for (int user = 1; user <= users; user++)
        (void)stream_buy(&first, voucher, user, "", 201, "accepted");
    batch_begin(voucher);
    for (int user = 1; user <= users; user++)
        (void)stream_buy(&second, voucher, user, "", 202, "queued");
    begin_ns = dlock_clock_ns();
    batch_let_go();
    assert_true(rig_until(are_all_refused, &users, RIG_PATIENCE_MS));
    seconds = (dlock_clock_ns() - begin_ns) / 1000000000;
    lines = rig_count_logged(&second, "a promise is broken: order ");
    assert_in_range(lines, 1, A_SECOND * (seconds + 2));
    rig_stop(&first);
    rig_stop(&second);
}

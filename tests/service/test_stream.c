/* SPDX-License-Identifier: MIT */
/* test_stream.c -- --order-path=stream while no server fails: which orders are admitted,
 * and that each queued order gets its row. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/service/batch.h"
#include "tests/service/stream_rig.h"

static struct rig_service service;

TEST(a_queued_order_gets_its_row_and_number)
{
    static struct rig_answer answer;
    int64_t voucher = rig_voucher(5);
    int64_t order;

    service = STREAM_START("--lock=reentrant");
    assert_true(rig_order_named(service.orders_port, voucher, 1, "stream-first", &answer));
    assert_int_equal(answer.status, 202);
    assert_string_equal(answer.outcome, "queued");
    assert_non_null(strstr(answer.head, "Location: /api/v1/requests/stream-first\r\n"));
    stream_await_rows(voucher, 1);
    order = stream_buy(&service, voucher, 1, "stream-first", 201, "accepted");
    stream_expect_row(order, voucher, 1);
    stream_await_waiting(0);
    stream_expect_request(&service, 1, "stream-first", "accepted", order);
    stream_expect_request(&service, 1, "stream-never", "none", 0);
    assert_int_equal(rig_stock(voucher), 4);
    rig_stop(&service);
}

TEST(the_courses_are_told_success_and_the_rows_number)
{
    static struct rig_answer answer;
    int64_t voucher = rig_voucher(5);
    char token[TOKEN_LEN + 1], extra[128], path[64];
    long long order = 0;

    service = STREAM_START("--lock=none");
    rig_token(1, token);
    (void)snprintf(extra, sizeof(extra), "authorization: %s\r\n", token);
    (void)snprintf(path, sizeof(path), "/voucher-order/seckill/%lld", (long long)voucher);
    assert_true(rig_request(service.orders_port, "POST", path, extra, NULL, &answer));
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.outcome, "queued");
    assert_int_equal(sscanf(answer.body, "{\"success\":true,\"data\":%lld}", &order), 1);
    stream_await_rows(voucher, 1);
    stream_expect_row(order, voucher, 1);
    rig_stop(&service);
}

/* While the voucher's row is locked no order gets its row, so Redis alone decides on all
 * promises. */
TEST(as_many_are_let_in_as_there_are_units)
{
    enum { STOCK = 5, USERS = 8 };
    int64_t voucher = rig_voucher(STOCK), orders[USERS + 1];

    service = STREAM_START("--lock=reentrant");
    batch_begin(voucher);
    for (int user = 1; user <= STOCK; user++)
        orders[user] = stream_buy(&service, voucher, user, "", 202, "queued");
    for (int user = STOCK + 1; user <= USERS; user++)
        (void)stream_buy(&service, voucher, user, "", 409, "sold-out");
    assert_int_equal(rig_orders(voucher), 0);
    batch_let_go();
    stream_await_rows(voucher, STOCK);
    for (int user = 1; user <= STOCK; user++)
        stream_expect_row(orders[user], voucher, user);
    assert_int_equal(rig_stock(voucher), 0);
    rig_stop(&service);
}

TEST(a_user_buys_once_and_a_request_has_one_order)
{
    int64_t voucher = rig_voucher(5), other = rig_voucher(5);
    int64_t order;

    service = STREAM_START("--lock=none");
    batch_begin(voucher);
    order = stream_buy(&service, voucher, 1, "stream-once", 202, "queued");
    assert_int_equal(stream_buy(&service, voucher, 1, "stream-once", 202, "queued"), order);
    stream_expect_request(&service, 1, "stream-once", "queued", order);
    (void)stream_buy(&service, voucher, 1, "", 409, "duplicate");
    (void)stream_buy(&service, other, 1, "stream-once", 422, "conflict");
    batch_let_go();
    stream_await_rows(voucher, 1);
    assert_int_equal(stream_buy(&service, voucher, 1, "stream-once", 201, "accepted"), order);
    (void)stream_buy(&service, voucher, 1, "", 409, "duplicate");
    (void)stream_buy(&service, other, 1, "stream-once", 422, "conflict");
    stream_await_waiting(0);
    assert_int_equal(rig_orders(voucher), 1);
    assert_int_equal(rig_orders(other), 0);
    assert_int_equal(rig_stock(voucher), 4);
    rig_stop(&service);
}

static bool is_queued_now(void *voucher)
{
    static struct rig_answer answer;

    (void)rig_order(service.orders_port, *(int64_t *)voucher, 3, &answer);
    return strcmp(answer.outcome, "queued") == 0;
}

TEST(stock_that_comes_back_is_sold)
{
    int64_t voucher = rig_voucher(1);
    char sql[128];

    service = STREAM_START("--lock=none");
    (void)stream_buy(&service, voucher, 1, "", 202, "queued");
    stream_await_rows(voucher, 1);
    (void)stream_buy(&service, voucher, 2, "", 409, "sold-out");
    (void)snprintf(sql, sizeof(sql),
                   "UPDATE tb_seckill_voucher SET stock = 1 WHERE voucher_id = %lld",
                   (long long)voucher);
    assert_int_equal(db_script(rig_db(), sql), DB_OK);
    assert_true(rig_until(is_queued_now, &voucher, RIG_PATIENCE_MS));
    stream_await_rows(voucher, 2);
    rig_stop(&service);
}

TEST(no_more_orders_wait_than_may)
{
    static struct rig_answer answer;
    int64_t voucher = rig_voucher(10);

    service = STREAM_START("--lock=none", "--stream-queued=3");
    batch_begin(voucher);
    for (int user = 1; user <= 3; user++)
        (void)stream_buy(&service, voucher, user, "", 202, "queued");
    assert_true(rig_order(service.orders_port, voucher, 4, &answer));
    assert_int_equal(answer.status, 503);
    assert_string_equal(answer.outcome, "queue-full");
    assert_non_null(strstr(answer.head, "Retry-After: "));
    batch_let_go();
    stream_await_waiting(0);
    (void)stream_buy(&service, voucher, 4, "", 202, "queued");
    stream_await_rows(voucher, 4);
    rig_stop(&service);
}

/* More orders than a writer takes at once; each time it takes some, it makes one transaction. */
TEST(many_orders_share_few_transactions)
{
    enum { USERS = 300 };
    static const struct postgres_statement TRANSACTIONS = {
        "stream_transactions",
        "SELECT count(DISTINCT xmin::text) FROM tb_voucher_order WHERE voucher_id = $1", "i"};
    int64_t voucher = rig_voucher(USERS), orders[USERS + 1];

    stream_anew();
    service = STREAM_START("--lock=none");
    batch_begin(voucher);
    for (int user = 1; user <= USERS; user++) {
        orders[user] = stream_buy(&service, voucher, user, "", 202, "queued");
        if (user == 1)
            stream_await_taken();
    }
    batch_let_go();
    stream_await_waiting(0);
    for (int user = 1; user <= USERS; user++)
        stream_expect_row(orders[user], voucher, user);
    assert_int_equal(rig_stock(voucher), 0);
    assert_int_equal(db_run_one(rig_db(), &TRANSACTIONS, DB_VALUES(DB_INT(voucher))), DB_OK);
    /* The first order alone, then 128, 128 and 43. */
    assert_int_equal(db_int(rig_db(), 0, 0, 0), 4);
    assert_int_equal((int)rig_metric(&service, "seckill_stream_queued_total "), USERS);
    assert_int_equal((int)rig_metric(&service, "seckill_stream_written_total "), USERS);
    assert_true(rig_metric(&service, "seckill_stream_length ") == 0);
    rig_stop(&service);
}

/* ---- guards and locks ---- */

static void sell_under(const char *lock, const char *scope, const char *stock_guard,
                       const char *duplicate_guard)
{
    enum { STOCK = 8, USERS = 12 };
    int64_t voucher = rig_voucher(STOCK);
    int64_t last = 0;

    stream_anew();
    service = STREAM_START(lock, scope, stock_guard, duplicate_guard);
    for (int user = 1; user <= USERS; user++)
        if (user <= STOCK)
            last = stream_buy(&service, voucher, user, "", 202, "queued");
        else
            (void)stream_buy(&service, voucher, user, "", 409, "sold-out");
    stream_await_waiting(0);
    stream_expect_row(last, voucher, STOCK);
    assert_int_equal(rig_orders(voucher), STOCK);
    assert_int_equal(rig_stock(voucher), 0);
    assert_int_equal(rig_duplicates(voucher), 0);
    rig_stop(&service);
}

TEST(every_guard_writes_what_was_let_in)
{
    static const char *const GUARDS[] = {
        "--stock-guard=read-write", "--stock-guard=decrement", "--stock-guard=conditional",
        "--stock-guard=version",    "--stock-guard=row-lock",  "--stock-guard=fence"};
    static const char *const DUPLICATES[] = {
        "--duplicate-guard=none", "--duplicate-guard=count", "--duplicate-guard=unique"};

    for (size_t i = 0; i < sizeof(GUARDS) / sizeof(GUARDS[0]); i++)
        sell_under("--lock=fenced", "--lock-scope=voucher", GUARDS[i], DUPLICATES[i % 3]);
    sell_under("--lock=pg-advisory", "--lock-scope=voucher", "--stock-guard=conditional",
               "--duplicate-guard=unique");
    sell_under("--lock=redlock", "--lock-scope=user", "--stock-guard=conditional",
               "--duplicate-guard=unique");
}

/* Two writers without a lock compute with the same stock; the voucher's lock excludes one of
 * them. */
TEST(the_writers_need_the_voucher_lock)
{
    struct rig_service other;
    int64_t voucher = rig_voucher(100);

    stream_anew();
    service = STREAM_START("--lock=reentrant", "--lock-scope=voucher",
                           "--stock-guard=read-write", "--duplicate-guard=none");
    other = STREAM_START("--lock=reentrant", "--lock-scope=voucher",
                         "--stock-guard=read-write", "--duplicate-guard=none");
    for (int user = 1; user <= 60; user++)
        (void)stream_buy(user % 2 ? &service : &other, voucher, user, "", 202, "queued");
    stream_await_waiting(0);
    assert_int_equal(rig_orders(voucher), 60);
    assert_int_equal(rig_stock(voucher), 40);
    rig_stop(&service);
    rig_stop(&other);
}

/* ---- settings that exclude each other, and the stop ---- */

static void expect_refusal(const char *words, const char *const *args)
{
    static char log[8192];

    if (rig_run(args, log, sizeof(log)) != 64 || strstr(log, words) == NULL)
        fail_msg("no \"%s\" in: %s", words, log);
}
#define EXPECT_REFUSAL(words, ...)                                                     \
    expect_refusal(words,                                                              \
                   (const char *const[]){"--order-path=stream", __VA_ARGS__, NULL})

TEST(settings_that_exclude_each_other_are_refused)
{
    EXPECT_REFUSAL("--unlock=before-commit needs --order-path=each", "--unlock=before-commit");
    EXPECT_REFUSAL("--lock=pg-row needs --lock-scope=voucher", "--lock=pg-row");
    EXPECT_REFUSAL("--lock=reentrant does with", "--lock=pg-unique");
    EXPECT_REFUSAL("use one of fenced", "--lock=reentrant", "--stock-guard=fence");
    EXPECT_REFUSAL("--stream-name must be", "--stream-name=a b");
}

TEST(a_stop_writes_what_is_queued)
{
    int64_t voucher = rig_voucher(20);

    stream_anew();
    service = STREAM_START("--lock=none");
    batch_begin(voucher);
    for (int user = 1; user <= 15; user++)
        (void)stream_buy(&service, voucher, user, "", 202, "queued");
    rig_signal(&service, SIGTERM);
    batch_let_go();
    assert_int_equal(rig_wait(&service, RIG_PATIENCE_MS), 0);
    assert_int_equal(rig_orders(voucher), 15);
    assert_int_equal(stream_waiting(), 0);
}

static bool has_left_orders(void *unused)
{
    (void)unused;
    return rig_has_logged(&service, "3 orders are left in the stream");
}

TEST(a_stop_says_what_it_leaves_and_the_next_service_writes_it)
{
    int64_t voucher = rig_voucher(20);

    stream_anew();
    service = RIG_START("--order-path=stream", stream_flag(), "--lock=none",
                        "--statement-timeout=1s", "--drain-timeout=100ms");
    batch_begin(voucher);
    for (int user = 1; user <= 3; user++)
        (void)stream_buy(&service, voucher, user, "", 202, "queued");
    rig_signal(&service, SIGTERM);
    assert_true(rig_until(has_left_orders, NULL, RIG_PATIENCE_MS));
    assert_int_equal(rig_wait(&service, RIG_PATIENCE_MS), 0);
    batch_let_go();
    assert_int_equal(rig_orders(voucher), 0);
    service = RIG_START("--order-path=stream", stream_flag(), "--lock=none",
                        "--stream-claim=100ms");
    stream_await_waiting(0);
    assert_int_equal(rig_orders(voucher), 3);
    assert_true(rig_metric(&service, "seckill_stream_written_total ") == 3);
    rig_stop(&service);
}

static bool are_taken(void *count)
{
    return STREAM_NUMBER("EVAL", "return redis.call('XPENDING', KEYS[1], 'writers')[1]", "1",
                         stream_name()) == *(int64_t *)count;
}

enum { STOP_VOUCHERS = 30 };

/* The writer has taken these orders, and the test has locked the rows of their vouchers. A writer
 * that tried all of them after --drain-timeout would not end before the test's time limit. */
static void stop_a_writer_with(int count, int users)
{
    int64_t first = rig_voucher(1), vouchers[STOP_VOUCHERS] = {0}, orders = (int64_t)count * users;
    char sql[160];

    stream_anew();
    service = RIG_START("--order-path=stream", stream_flag(), "--lock=none", "--allow-faults",
                        "--statement-timeout=3s", "--drain-timeout=100ms");
    stream_arm(&service, "before-commit", "hold");
    (void)stream_buy(&service, first, 1, "", 202, "queued");
    rig_await_held(&service, "before-commit");
    for (int i = 0; i < count; i++) {
        vouchers[i] = rig_voucher(users);
        for (int user = 1; user <= users; user++)
            (void)stream_buy(&service, vouchers[i], user, "", 202, "queued");
    }
    batch_begin(vouchers[0]);
    for (int i = 1; i < count; i++) {
        (void)snprintf(sql, sizeof(sql),
                       "SELECT 1 FROM tb_seckill_voucher WHERE voucher_id = %lld FOR UPDATE",
                       (long long)vouchers[i]);
        assert_int_equal(db_script(rig_db(), sql), DB_OK);
    }
    stream_release(&service, "before-commit");
    assert_true(rig_until(are_taken, &orders, RIG_PATIENCE_MS));
    rig_signal(&service, SIGTERM);
    assert_int_equal(rig_wait(&service, RIG_PATIENCE_MS), 0);
    batch_let_go();
    assert_int_equal(stream_waiting(), orders);
}

TEST(a_stop_begins_no_further_sale_after_its_time)
{
    stop_a_writer_with(STOP_VOUCHERS, 2);
    stop_a_writer_with(1, 30);
}

/* SPDX-License-Identifier: MIT */
/* test_fence.c -- the stock guard `fence`, and the voucher's own record of writes. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/sale.h"
#include "tests/service/rig.h"

static struct rig_answer answer;
static struct rig_service first, second;

static void expect(const char *outcome)
{
    if (strcmp(answer.outcome, outcome) != 0)
        fail_msg("%s instead of %s: %s", answer.outcome, outcome, answer.body);
}

static int64_t row_fence(int64_t voucher)
{
    static const struct postgres_statement FENCE = {
        "fence_of_row", "SELECT fence FROM tb_seckill_voucher WHERE voucher_id = $1",
        "i"};

    assert_int_equal(db_run_one(rig_db(), &FENCE, DB_VALUES(DB_INT(voucher))), DB_OK);
    return db_int(rig_db(), 0, 0, 0);
}

TEST(a_fence_that_cannot_hold_is_refused_at_the_start)
{
    static const char *const NO_FENCE[] = {"--stock-guard=fence", "--lock=reentrant",
                                           "--lock-scope=voucher", NULL};
    static const char *const PER_USER[] = {"--stock-guard=fence", "--lock=fenced", NULL};
    char log[1024];

    assert_int_equal(rig_run(NO_FENCE, log, sizeof(log)), 64);
    assert_non_null(strstr(log, "--lock=reentrant"));
    assert_non_null(strstr(log, "fenced"));
    assert_non_null(strstr(log, "zk-seq"));
    assert_int_equal(rig_run(PER_USER, log, sizeof(log)), 64);
    assert_non_null(strstr(log, "--lock-scope=voucher"));
}

/* --- the guard by itself --- */

/* A sale of a new user and request; *id keeps the text of the request. */
static struct sale read_under(struct db_conn *db, int64_t voucher, int64_t fence,
                              char id[64])
{
    static struct sale_terms terms = {.lock_variant = "fenced", .process = "test"};
    static int64_t user;
    struct sale sale = {.terms = &terms, .user_id = ++user, .voucher_id = voucher,
                        .request_id = id, .fence = fence};

    terms.stock_guard = guard_find("fence");
    (void)snprintf(id, 64, "fence-%lld-%lld", (long long)voucher, (long long)user);
    assert_true(sale_begin(db, &sale));
    return sale;
}

static enum sale_answer sell_under(int64_t voucher, int64_t fence)
{
    char id[64];
    struct sale sale = read_under(rig_db(), voucher, fence, id);

    return sale_finish(rig_db(), &sale, NULL, NULL);
}

TEST(an_older_fence_is_refused_and_an_equal_one_is_not)
{
    int64_t voucher = rig_voucher(10);

    assert_int_equal(sell_under(voucher, 33), SALE_SOLD);
    assert_int_equal(row_fence(voucher), 33);
    assert_int_equal(sell_under(voucher, 33), SALE_SOLD); /* a second write of the same holder */
    assert_int_equal(sell_under(voucher, 32), SALE_STALE);
    assert_int_equal(sell_under(voucher, 35), SALE_SOLD);
    assert_int_equal(sell_under(voucher, 34), SALE_STALE);
    assert_int_equal(row_fence(voucher), 35);
    assert_int_equal(rig_stock(voucher), 7);
}

/* The later holder has read the stock, and the earlier holder writes before the later one does. */
TEST(a_late_write_between_read_and_write_costs_no_unit)
{
    struct db_options opts = db_options_default(getenv("SECKILL_LAB_DATABASE_URL"));
    static const int64_t LATE[] = {33, 32}; /* the number of the row, and a smaller number */
    struct db_conn *other = db_new(&opts);

    for (size_t i = 0; i < 2; i++) {
        int64_t voucher = rig_voucher(10);
        struct sale present;
        char id[64];

        assert_int_equal(sell_under(voucher, LATE[0]), SALE_SOLD);
        present = read_under(other, voucher, 34, id);
        assert_int_equal(sell_under(voucher, LATE[i]),
                         i == 0 ? SALE_SOLD : SALE_STALE);
        assert_int_equal(sale_finish(other, &present, NULL, NULL), SALE_SOLD);
        assert_int_equal(rig_stock(voucher), i == 0 ? 7 : 8);
        assert_int_equal(row_fence(voucher), 34);
    }
    db_free(other);
}

TEST(a_sold_out_voucher_is_not_stale)
{
    int64_t voucher = rig_voucher(1);
    struct db_options opts = db_options_default(getenv("SECKILL_LAB_DATABASE_URL"));
    struct db_conn *other = db_new(&opts);
    char id[64];
    struct sale sale = read_under(other, voucher, 5, id);

    assert_int_equal(sell_under(voucher, 5), SALE_SOLD);
    assert_int_equal(sale_finish(other, &sale, NULL, NULL), SALE_SOLD_OUT);
    assert_int_equal(rig_stock(voucher), 0);
    db_free(other);
}

/* --- the service --- */

static struct rig_held held;

static bool is_sold_by_second(void *voucher)
{
    return rig_order(second.orders_port, *(int64_t *)voucher, 2, &answer) &&
           strcmp(answer.outcome, "accepted") == 0;
}

static struct rig_service start(const char *more)
{
    return RIG_START("--lock=fenced", "--lock-scope=voucher", "--stock-guard=fence",
                     "--duplicate-guard=none", "--lock-lease=300ms", "--watchdog=off",
                     "--allow-faults", "--workers=4", rig_record_flag(), more);
}

/* The holder stops for longer than its lease, and then writes. */
TEST(a_holder_that_comes_back_too_late_sells_nothing)
{
    int64_t voucher = rig_voucher(10);

    first = start(NULL);
    second = start(NULL);
    rig_hold(&held, &first, "after-read", voucher, 1);
    assert_true(rig_until(is_sold_by_second, &voucher, RIG_PATIENCE_MS));
    rig_let_go(&held, &first, "after-read");
    assert_string_equal(held.answer.outcome, "stale");
    assert_int_equal(held.answer.status, 503);
    assert_non_null(strstr(held.answer.head, "Retry-After: "));
    assert_int_equal(rig_orders(voucher), 1);
    assert_int_equal(rig_stock(voucher), 9);
    assert_int_equal(rig_writes(voucher, "accepted", "fence"), 1);
    assert_int_equal(rig_writes(voucher, "stale", "fence"), 1);
    assert_true(rig_metric(&first, "seckill_orders_stopped_total{layer=\"fence\"") == 1);
    /* The same buyer may order again. */
    assert_true(rig_order(first.orders_port, voucher, 1, &answer));
    expect("accepted");
    rig_stop(&second);
    rig_stop(&first);
}

/* A transaction that is open, and one that is rolled back, leave no line in the record. */
TEST(the_record_is_of_the_orders_transaction)
{
    int64_t voucher = rig_voucher(10);

    first = start(NULL);
    rig_hold(&held, &first, "before-commit", voucher, 1);
    assert_int_equal(rig_writes(voucher, "accepted", NULL), 0);
    rig_signal(&first, SIGKILL);
    assert_int_equal(rig_wait(&first, RIG_PATIENCE_MS), 128 + SIGKILL);
    (void)pthread_join(held.thread, NULL);
    first = start(NULL);
    assert_true(rig_order(first.orders_port, voucher, 2, &answer));
    while (strcmp(answer.outcome, "lock-busy") == 0)
        assert_true(rig_order(first.orders_port, voucher, 2, &answer));
    expect("accepted");
    assert_int_equal(rig_writes(voucher, "accepted", NULL), 1);
    assert_int_equal(rig_orders(voucher), 1);
    rig_stop(&first);
}

TEST(a_refusal_says_by_whom)
{
    int64_t voucher = rig_voucher(1);

    first = RIG_START("--lock=none", "--stock-guard=conditional", rig_record_flag(),
                      "--duplicate-guard=unique");
    assert_true(rig_order(first.orders_port, voucher, 1, &answer));
    assert_true(rig_order(first.orders_port, voucher, 2, &answer));
    expect("sold-out");
    assert_int_equal(rig_writes(voucher, "accepted", "conditional"), 1);
    assert_int_equal(rig_writes(voucher, "sold-out", "conditional"), 1);
    voucher = rig_voucher(5);
    for (int i = 0; i < 2; i++)
        assert_true(rig_order(first.orders_port, voucher, 1, &answer));
    expect("duplicate");
    assert_int_equal(rig_writes(voucher, "accepted", "conditional"), 1);
    assert_int_equal(rig_writes(voucher, "duplicate", "unique"), 1);
    assert_int_equal(rig_orders(voucher), 1);
    assert_int_equal(rig_stock(voucher), 4);
    rig_stop(&first);
    first = RIG_START("--lock=none"); /* without a lock there is no fence */
    assert_true(rig_order(first.orders_port, voucher, 7, &answer));
    expect("accepted");
    assert_int_equal(rig_writes(voucher, "accepted", NULL), 1);
    rig_stop(&first);
}

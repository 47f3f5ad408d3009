/* SPDX-License-Identifier: MIT */
/* test_tally.c -- the counts of a sale in progress: the counts of new orders agree with those of
 * all orders, and read only new orders. */
#include <string.h>

#include "db/tally.h"
#include "tests/registered.h"
#include "tests/service/scratch_database.h"

enum { VOUCHER = 1, STOCK = 100, LEFT = 97 };

static const char HELPERS[] =
    "CREATE FUNCTION buy(o bigint, u bigint) RETURNS void LANGUAGE sql AS $$"
    " INSERT INTO tb_voucher_order (id, user_id, voucher_id, request_id, lock_variant,"
    "  stock_guard, duplicate_guard, process)"
    " VALUES (o, u, 1, 'r-' || o, 'none', 'read-write', 'none', 'p1') $$;"
    "INSERT INTO tb_voucher (id, title, pay_value, actual_value)"
    " OVERRIDING SYSTEM VALUE VALUES (1, 'tally', 1, 2);"
    "INSERT INTO tb_seckill_voucher (voucher_id, stock, begin_time, end_time)"
    " VALUES (1, 97, now(), now() + interval '1 hour');"
    "INSERT INTO lab.issue (voucher_id, stock, issued_at, begin_time, end_time)"
    " VALUES (1, 100, now(), now(), now() + interval '1 hour')";

static lab_db *db;

static void run(const char *sql)
{
    if (!lab_db_run(db, sql))
        fail_msg("%s: %s", sql, lab_db_error(db));
}

static int make_database(void **state)
{
    (void)state;
    return scratch_database_make("tally", &db) && lab_db_run(db, HELPERS) ? 0 : -1;
}

static int drop_database(void **state)
{
    (void)state;
    return scratch_database_drop(&db) ? 0 : -1;
}

/* Sell three orders; the second order of user 1 is a duplicate. */
static int sell_three(void **state)
{
    (void)state;
    run("DELETE FROM tb_voucher_order; SELECT buy(10, 1), buy(11, 1), buy(12, 2)");
    return 0;
}

static void counts(enum tally_scope scope, struct tally_kept *kept, int64_t orders,
                   int64_t doubles)
{
    struct tally tally;

    assert_true(tally_read(db, VOUCHER, scope, kept, &tally));
    assert_int_equal(tally.issued, STOCK);
    assert_int_equal(tally.left, LEFT);
    assert_int_equal(tally.orders, orders);
    assert_int_equal(tally.doubles, doubles);
}

TEST_WITH(sell_three, NULL, new_orders_are_added)
{
    struct tally_kept kept = {0}, again = {0};

    counts(TALLY_NEW, &kept, 3, 1);
    run("SELECT buy(next_order_id(), 2), buy(next_order_id(), 3), buy(next_order_id(), 3)");
    counts(TALLY_NEW_ORDERS, &kept, 6, 1);
    counts(TALLY_NEW, &kept, 6, 3);
    counts(TALLY_NEW_ORDERS, &kept, 6, 3);
    counts(TALLY_NEW, &kept, 6, 3);
    counts(TALLY_ALL, &again, 6, 3);
}

/* The transaction drew the order's number long before it committed. */
TEST_WITH(sell_three, NULL, a_late_order_is_found_by_a_count_of_all)
{
    struct tally_kept kept = {0};

    counts(TALLY_ALL, &kept, 3, 1);
    run("SELECT buy(9, 2)");
    counts(TALLY_NEW, &kept, 3, 1);
    counts(TALLY_ALL, &kept, 4, 2);
    counts(TALLY_NEW, &kept, 4, 2);
}

TEST_WITH(sell_three, NULL, no_such_voucher)
{
    struct tally_kept kept = {.below = 5, .orders = 6, .doubles = 7};
    struct tally tally = {.orders = 8};

    assert_false(tally_read(db, VOUCHER + 1, TALLY_ALL, &kept, &tally));
    assert_non_null(strstr(lab_db_error(db), "never issued voucher 2"));
    assert_true(kept.below == 5 && kept.orders == 6 && kept.doubles == 7 && tally.orders == 8);
}

/* PostgreSQL has no statistics of a table that was just filled. */
TEST_WITH(sell_three, NULL, new_orders_alone_are_read)
{
    struct tally_kept kept = {0};

    run("SELECT buy(n, n) FROM generate_series(100, 20000) AS n");
    counts(TALLY_ALL, &kept, 19904, 1);
    run("SELECT pg_stat_force_next_flush()"); /* so that earlier reads are not counted */
    run("BEGIN");
    counts(TALLY_NEW_ORDERS, &kept, 19904, 1);
    counts(TALLY_NEW, &kept, 19904, 1);
    run("DO $$ DECLARE n bigint := (SELECT seq_tup_read + coalesce(idx_tup_fetch, 0)"
        "  FROM pg_stat_xact_user_tables WHERE relname = 'tb_voucher_order'); BEGIN"
        " IF n > 100 THEN RAISE EXCEPTION '% rows were read', n; END IF; END $$");
    run("COMMIT");
}

GROUP(make_database, drop_database)

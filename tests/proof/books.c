/* SPDX-License-Identifier: MIT */
/* books.c -- stores the buyers' requests in a table, and runs queries that must find no
 * row. */
#include "tests/proof/books.h"

#include <stdio.h>
#include <string.h>

#include "db/sale_columns.h"
#include "tests/proof/buyers.h"

enum { ROWS_AT_ONCE = 5000 };

#define OF_VOUCHERS " voucher_id IN ($1, $2) "

/* Each query finds rows that must not exist: their number and an example. */
static const struct question {
    const char *says;
    struct postgres_statement ask;
} QUESTIONS[] = {
    {"accepted requests have no row, or more than one, or one of another number",
     {"books_accepted",
      "SELECT count(*), min(t.id) FROM told t WHERE t.told = 1 AND $1 <> $2 AND 1 <>"
      " (SELECT count(*) FROM tb_voucher_order o WHERE o.request_id = t.id AND"
      " o.user_id = t.user_id AND o.voucher_id = t.voucher_id AND o.id = t.order_id)",
      "ii"}},
    {"refused requests have a row",
     {"books_refused",
      "SELECT count(*), min(t.id) FROM told t JOIN tb_voucher_order o ON"
      " o.request_id = t.id WHERE t.told = 2 AND $1 <> $2",
      "ii"}},
    {"rows are of no request",
     {"books_unasked",
      "SELECT count(*), min(o.request_id) FROM tb_voucher_order o WHERE" OF_VOUCHERS
      "AND NOT EXISTS (SELECT FROM told t WHERE t.id = o.request_id AND"
      " t.user_id = o.user_id AND t.voucher_id = o.voucher_id)",
      "ii"}},
    {"rows are further ones of a user",
     {"books_twice",
      "SELECT count(*), min(request_id) FROM (SELECT request_id, row_number() OVER"
      " (PARTITION BY voucher_id, user_id ORDER BY id) AS n FROM tb_voucher_order WHERE"
      OF_VOUCHERS ") AS o WHERE n > 1",
      "ii"}},
    {"rows have no line in the record of writes, or more than one",
     {"books_unwritten",
      "SELECT count(*), min(o.request_id) FROM tb_voucher_order o WHERE" OF_VOUCHERS
      "AND 1 <> (SELECT count(*) FROM tb_voucher_write w WHERE w.outcome = 'accepted'"
      " AND w.request_id = o.request_id AND w.user_id = o.user_id"
      " AND w.voucher_id = o.voucher_id)",
      "ii"}},
    {"accepted lines of the record of writes have no row",
     {"books_unsold",
      "SELECT count(*), min(w.request_id) FROM tb_voucher_write w WHERE" OF_VOUCHERS
      "AND w.outcome = 'accepted' AND NOT EXISTS (SELECT FROM tb_voucher_order o WHERE"
      " o.request_id = w.request_id AND o.user_id = w.user_id"
      " AND o.voucher_id = w.voucher_id)",
      "ii"}},
};

static const struct postgres_statement BROKEN = {
    "books_broken",
    "SELECT count(*), min(t.id) FROM told t WHERE t.told = 3 AND $1 <> $2 AND 1 <>"
    " (SELECT count(*) FROM tb_voucher_order o WHERE o.request_id = t.id AND"
    " o.user_id = t.user_id AND o.voucher_id = t.voucher_id AND o.id = t.order_id)",
    "ii"};

static void run(const char *sql)
{
    if (db_script(rig_db(), sql) != DB_OK)
        fail_msg("%s: %s", sql, db_error(rig_db()));
}

static size_t add_some(size_t first, struct books *books)
{
    static const struct postgres_statement INSERT = {
        "books_insert",
        "INSERT INTO told SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[],"
        " $4::bigint[], $5::bigint[])",
        "ttttt"};
    struct sale_column ids = {0}, users = {0}, vouchers = {0}, orders = {0}, told = {0};
    const struct buyers_request *r;
    size_t i = first;

    for (; i < first + ROWS_AT_ONCE && (r = buyers_request_at(i)) != NULL; i++) {
        sale_column_add_text(&ids, r->id);
        sale_column_add_integer(&users, rig_user(r->user));
        sale_column_add_integer(&vouchers, r->voucher);
        sale_column_add_integer(&orders, r->order_id);
        sale_column_add_integer(&told, r->told);
        books->accepted += r->told == TOLD_ACCEPTED;
        books->queued += r->told == TOLD_QUEUED;
        books->refused += r->told == TOLD_REFUSED;
        books->open += r->told == TOLD_OPEN;
    }
    if (i > first &&
        db_run_one(rig_db(), &INSERT,
                   DB_VALUES(DB_TEXT(sale_column_text(&ids)),
                             DB_TEXT(sale_column_text(&users)),
                             DB_TEXT(sale_column_text(&vouchers)),
                             DB_TEXT(sale_column_text(&orders)),
                             DB_TEXT(sale_column_text(&told)))) != DB_OK)
        fail_msg("cannot keep what buyers were told: %s", db_error(rig_db()));
    sale_column_free(&ids);
    sale_column_free(&users);
    sale_column_free(&vouchers);
    sale_column_free(&orders);
    sale_column_free(&told);
    return i - first;
}

/* The backend of a killed process notices the end only when it sends something. */
static bool is_quiet(void *arg)
{
    static const struct postgres_statement BUSY = {
        "books_busy",
        "SELECT count(*) FROM pg_stat_activity WHERE usename = 'seckill_service'"
        " AND xact_start IS NOT NULL", ""};

    (void)arg;
    return db_run_one(rig_db(), &BUSY, NULL) == DB_OK && db_int(rig_db(), 0, 0, 0) == 0;
}

/* The number of rows that the statement finds; the second column has an example. */
static int64_t count_of(const struct postgres_statement *ask, const int64_t vouchers[2])
{
    if (db_run_one(rig_db(), ask, DB_VALUES(DB_INT(vouchers[0]), DB_INT(vouchers[1]))) !=
        DB_OK)
        fail_msg("%s: %s", ask->name, db_error(rig_db()));
    return db_int(rig_db(), 0, 0, 0);
}

struct books books_audit(const int64_t vouchers[2], const int64_t issued[2])
{
    struct books books = {0};

    if (!rig_until(is_quiet, NULL, RIG_PATIENCE_MS))
        fail_msg("transactions of services that have ended are still open");
    run("SET statement_timeout = '60s'"); /* the machine may be busy */
    run("CREATE TEMPORARY TABLE IF NOT EXISTS told (id text PRIMARY KEY, user_id bigint,"
        " voucher_id bigint, order_id bigint, told bigint); TRUNCATE told");
    for (size_t i = 0, n = 1; n > 0; i += n)
        n = add_some(i, &books);
    run("ANALYZE told, tb_voucher_order, tb_voucher_write");
    for (size_t i = 0; i < sizeof(QUESTIONS) / sizeof(QUESTIONS[0]); i++) {
        if (count_of(&QUESTIONS[i].ask, vouchers) != 0)
            fail_msg("%lld %s, such as %s", (long long)db_int(rig_db(), 0, 0, 0),
                     QUESTIONS[i].says, db_text(rig_db(), 0, 0, 1));
    }
    books.broken = count_of(&BROKEN, vouchers);
    if (books.broken > 0)
        (void)snprintf(books.broken_example, sizeof(books.broken_example), "%s",
                       db_text(rig_db(), 0, 0, 1));
    for (int v = 0; v < 2; v++) {
        int64_t rows = rig_orders(vouchers[v]), left = rig_stock(vouchers[v]);

        books.rows += rows;
        if (left < 0 || left + rows != issued[v])
            fail_msg("%lld vouchers were issued, %lld are left and %lld are sold",
                     (long long)issued[v], (long long)left, (long long)rows);
    }
    return books;
}

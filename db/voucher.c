/* SPDX-License-Identifier: MIT */
/* voucher.c -- the SQL about vouchers. */
#include "db/voucher.h"

#include "base/os/clock.h"
#include "db/instant.h"
#include "db/sale_columns.h"

#define VOUCHER_ROW                                                                    \
    "SELECT v.id, v.shop_id, v.title, v.sub_title, v.rules, v.pay_value,"              \
    " v.actual_value, v.type, v.status, s.stock, " INSTANT_US("s.begin_time")             \
    " AS begin_us, " INSTANT_US("s.end_time") " AS end_us"                                \
    " FROM tb_voucher v JOIN tb_seckill_voucher s ON s.voucher_id = v.id "

static const struct postgres_statement CREATE = {
    "voucher_create",
    "WITH v AS (INSERT INTO tb_voucher"
    "  (shop_id, title, sub_title, rules, pay_value, actual_value, type)"
    "  VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id)"
    " INSERT INTO tb_seckill_voucher (voucher_id, stock, begin_time, end_time)"
    " SELECT id, $8, " INSTANT_OF_US("$9") ", " INSTANT_OF_US("$10") " FROM v"
    " RETURNING voucher_id",
    "itttiiiiii",
};

static const struct postgres_statement FIND_WINDOW = {
    "voucher_find_window",
    "SELECT " INSTANT_US("s.begin_time") ", " INSTANT_US("s.end_time")
    ", " INSTANT_US("clock_timestamp()") ", (v.status = 1)::int FROM tb_seckill_voucher s"
    " JOIN tb_voucher v ON v.id = s.voucher_id WHERE s.voucher_id = $1",
    "i",
};

static const struct postgres_statement FIND_STOCK = {
    "voucher_find_stock",
    "SELECT stock FROM tb_seckill_voucher WHERE voucher_id = $1",
    "i",
};

/* No join, because without statistics the planner would compare every row with every other. */
static const struct postgres_statement FIND_SOLD_OUT = {
    "voucher_find_sold_out",
    "SELECT voucher_id FROM tb_seckill_voucher WHERE voucher_id = ANY($1::bigint[]) AND stock <= 0"
    " AND begin_time <= clock_timestamp() AND end_time >= clock_timestamp()"
    " AND (SELECT status FROM tb_voucher WHERE id = voucher_id) = 1",
    "s",
};

static const struct postgres_statement FIND = {
    "voucher_find",
    VOUCHER_ROW "WHERE v.id = $1",
    "i",
};

/* A voucher stays out if the texts of those before it reach $4 bytes, so that a page takes
 * as much memory as its answer, not as much as `limit` of the longest texts do. */
#define TEXT_BYTES                                                                     \
    "octet_length(title) + coalesce(octet_length(sub_title), 0)"                       \
    " + coalesce(octet_length(rules), 0)"

static const struct postgres_statement LIST = {
    "voucher_list",
    "SELECT id, shop_id, title, sub_title, rules, pay_value, actual_value, type, status,"
    " stock, begin_us, end_us FROM (SELECT *, sum(" TEXT_BYTES ")"
    "  OVER (ORDER BY id DESC) - (" TEXT_BYTES ") AS bytes_before FROM ("
    VOUCHER_ROW "WHERE v.status = 1 AND ($1 = 0 OR v.shop_id = $1) AND v.id < $2"
    "  ORDER BY v.id DESC LIMIT $3) AS newest) AS counted"
    " WHERE bytes_before < $4 ORDER BY id DESC",
    "iiii",
};

int64_t voucher_clock_us(const struct voucher_window *window)
{
    return dlock_clock_ns() / 1000 + window->clock_ahead_us;
}

enum voucher_phase voucher_phase_at(const struct voucher_window *window, int64_t now_us)
{
    if (!window->is_on_offer)
        return VOUCHER_ENDED;
    if (now_us < window->begin_us)
        return VOUCHER_NOT_STARTED;
    return now_us > window->end_us ? VOUCHER_ENDED : VOUCHER_ON_SALE;
}

enum db_status voucher_create(struct db_conn *db, const struct voucher *voucher,
                              int64_t *id)
{
    const struct postgres_value values[] = {
        DB_INT(voucher->shop_id),
        DB_TEXT(voucher->title),
        DB_TEXT(voucher->sub_title),
        DB_TEXT(voucher->rules),
        DB_INT(voucher->pay_value),
        DB_INT(voucher->actual_value),
        DB_INT(voucher->type),
        DB_INT(voucher->stock),
        DB_INT(voucher->begin_us),
        DB_INT(voucher->end_us),
    };
    enum db_status st = db_run_one(db, &CREATE, values);

    if (st == DB_OK)
        *id = db_int(db, 0, 0, 0);
    return st;
}

enum db_status voucher_find_window(struct db_conn *db, int64_t voucher_id,
                                   struct voucher_window *window, bool *found)
{
    enum db_status st = db_run_one(db, &FIND_WINDOW, DB_VALUES(DB_INT(voucher_id)));

    if (st != DB_OK)
        return st;
    *found = db_rows(db, 0) == 1;
    if (*found)
        *window = (struct voucher_window){
            .voucher_id = voucher_id,
            .begin_us = db_int(db, 0, 0, 0),
            .end_us = db_int(db, 0, 0, 1),
            .clock_ahead_us = db_int(db, 0, 0, 2) - dlock_clock_ns() / 1000,
            .is_on_offer = db_int(db, 0, 0, 3) != 0,
        };
    return DB_OK;
}

enum db_status voucher_find_stock(struct db_conn *db, int64_t voucher_id, int64_t *stock,
                                  bool *found)
{
    enum db_status st = db_run_one(db, &FIND_STOCK, DB_VALUES(DB_INT(voucher_id)));

    *found = st == DB_OK && db_rows(db, 0) == 1;
    if (*found)
        *stock = db_int(db, 0, 0, 0);
    return st;
}

enum db_status voucher_find_sold_out(struct db_conn *db, const int64_t *ids, size_t count)
{
    struct sale_column column = {0};
    enum db_status st = DB_ERROR;
    const char *text;

    for (size_t i = 0; i < count; i++)
        sale_column_add_integer(&column, ids[i]);
    text = sale_column_text(&column);
    if (text != NULL)
        st = db_run_one(db, &FIND_SOLD_OUT, DB_VALUES(DB_TEXT(text)));
    sale_column_free(&column);
    return st;
}

enum db_status voucher_find(struct db_conn *db, int64_t voucher_id)
{
    return db_run_one(db, &FIND, DB_VALUES(DB_INT(voucher_id)));
}

enum db_status voucher_list(struct db_conn *db, const struct voucher_page *page)
{
    return db_run_one(db, &LIST,
                      DB_VALUES(DB_INT(page->shop_id),
                                DB_INT(page->after > 0 ? page->after : INT64_MAX),
                                DB_INT(page->limit), DB_INT(page->text_bytes)));
}

static const char *text_or_null(const struct db_conn *db, size_t row, int column)
{
    return db_is_null(db, 0, row, column) ? NULL : db_text(db, 0, row, column);
}

struct voucher voucher_at(const struct db_conn *db, size_t row)
{
    return (struct voucher){
        .id = db_int(db, 0, row, 0),
        .shop_id = db_int(db, 0, row, 1),
        .title = db_text(db, 0, row, 2),
        .sub_title = text_or_null(db, row, 3),
        .rules = text_or_null(db, row, 4),
        .pay_value = db_int(db, 0, row, 5),
        .actual_value = db_int(db, 0, row, 6),
        .type = db_int(db, 0, row, 7),
        .status = db_int(db, 0, row, 8),
        .stock = db_int(db, 0, row, 9),
        .begin_us = db_int(db, 0, row, 10),
        .end_us = db_int(db, 0, row, 11),
    };
}

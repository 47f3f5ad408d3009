/* SPDX-License-Identifier: MIT */
/* rig_database.c -- reads the database directly, without the service. */
#include "tests/service/rig.h"
#include "tests/service/rig_inside.h"

static struct db_conn *database;

void rig_forget_database(void)
{
    db_free(database);
    database = NULL;
}

struct db_conn *rig_db(void)
{
    if (database == NULL) {
        struct db_options opts =
            db_options_default(rig_environment("SECKILL_LAB_DATABASE_URL"));

        opts.application_name = "test";
        database = db_new(&opts);
        assert_non_null(database);
    }
    return database;
}

int64_t rig_voucher_at(int64_t stock, int64_t begin_s, int64_t end_s)
{
    static const struct postgres_statement CREATE = {
        "rig_create",
        "WITH v AS (INSERT INTO tb_voucher (title, pay_value, actual_value)"
        " VALUES ('test', 100, 200) RETURNING id)"
        " INSERT INTO tb_seckill_voucher (voucher_id, stock, begin_time, end_time)"
        " SELECT id, $1, now() + $2 * interval '1 second',"
        " now() + $3 * interval '1 second' FROM v RETURNING voucher_id",
        "iii"};

    if (db_run_one(rig_db(), &CREATE,
                   DB_VALUES(DB_INT(stock), DB_INT(begin_s), DB_INT(end_s))) != DB_OK)
        fail_msg("cannot create a voucher: %s", db_error(rig_db()));
    return db_int(rig_db(), 0, 0, 0);
}

int64_t rig_voucher(int64_t stock)
{
    return rig_voucher_at(stock, -3600, 3600);
}

static int64_t ask(const struct postgres_statement *statement, int64_t voucher_id)
{
    if (db_run_one(rig_db(), statement, DB_VALUES(DB_INT(voucher_id))) != DB_OK)
        fail_msg("cannot ask the database: %s", db_error(rig_db()));
    return db_int(rig_db(), 0, 0, 0);
}

int64_t rig_stock(int64_t voucher_id)
{
    static const struct postgres_statement STOCK = {
        "rig_stock", "SELECT stock FROM tb_seckill_voucher WHERE voucher_id = $1", "i"};

    return ask(&STOCK, voucher_id);
}

int64_t rig_orders(int64_t voucher_id)
{
    static const struct postgres_statement ORDERS = {
        "rig_orders", "SELECT count(*) FROM tb_voucher_order WHERE voucher_id = $1",
        "i"};

    return ask(&ORDERS, voucher_id);
}

int64_t rig_writes(int64_t voucher_id, const char *outcome, const char *guard)
{
    static const struct postgres_statement WRITES = {
        "rig_writes",
        "SELECT count(*) FROM tb_voucher_write WHERE voucher_id = $1 AND outcome = $2"
        " AND ($3::text IS NULL OR guard = $3)",
        "itt"};
    const struct postgres_value values[] = {
        DB_INT(voucher_id), DB_TEXT(outcome), {0, guard, guard == NULL}};

    assert_int_equal(db_run_one(rig_db(), &WRITES, values), DB_OK);
    return db_int(rig_db(), 0, 0, 0);
}

int64_t rig_duplicates(int64_t voucher_id)
{
    static const struct postgres_statement DUPLICATES = {
        "rig_duplicates",
        "SELECT count(*) - count(DISTINCT user_id) FROM tb_voucher_order"
        " WHERE voucher_id = $1",
        "i"};

    return ask(&DUPLICATES, voucher_id);
}

/* SPDX-License-Identifier: MIT */
/* issue.c -- issues vouchers for the laboratory. */
#include "db/issue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/lab_db_ask.h"

enum { NUMBER_MAX = 24 };

/* The times of a sale, of the parameters $3 and $4, with their defaults. */
#define BEGIN_TIME "coalesce($3::timestamptz, now() - interval '1 minute')"
#define END_TIME                                                                       \
    "coalesce($4::timestamptz, greatest($3::timestamptz, now()) + interval '1 year')"

bool lab_issue_reads_time(lab_db *db, const char *text, bool *is_time)
{
    struct postgres_result *result = lab_db_ask(db, "SELECT $1::timestamptz", 1, &text);

    *is_time = result != NULL;
    postgres_result_free(result);
    return *is_time || !lab_db_is_lost(db);
}

bool lab_issue_judge_window(lab_db *db, const char *begin, const char *end,
                            enum lab_window *window)
{
    static const char sql[] =
        "SELECT CASE WHEN NOT (isfinite(begin_time) AND isfinite(end_time)) THEN $1::int"
        "            WHEN begin_time > end_time THEN $2::int ELSE 0 END"
        " FROM (SELECT " BEGIN_TIME " AS begin_time, " END_TIME " AS end_time) AS sale";
    char endless[NUMBER_MAX], reversed[NUMBER_MAX];
    const char *values[] = {endless, reversed, begin, end};
    struct postgres_result *result;

    snprintf(endless, sizeof endless, "%d", LAB_WINDOW_IS_ENDLESS);
    snprintf(reversed, sizeof reversed, "%d", LAB_WINDOW_IS_REVERSED);
    result = lab_db_ask(db, sql, 4, values);
    if (!result)
        return false;
    *window = (enum lab_window)strtol(postgres_result_text(result, 0, 0), NULL, 10);
    postgres_result_free(result);
    return true;
}

bool lab_issue_begin(lab_db *db, bool *has_vouchers)
{
    struct postgres_result *result;

    /* The lock makes the check and the later INSERT one step.  Another transaction, such as this
     * program's own if two URLs lead to one database, may keep the lock for ever. */
    if (!lab_db_run(db, "BEGIN; SET LOCAL lock_timeout = '30s';"
                        " LOCK TABLE tb_voucher IN SHARE ROW EXCLUSIVE MODE"))
        return false;
    result =
        lab_db_ask(db, "SELECT EXISTS (SELECT FROM tb_voucher)", 0, NULL);
    if (!result)
        return false;
    *has_vouchers = postgres_result_text(result, 0, 0)[0] == 't';
    postgres_result_free(result);
    return true;
}

bool lab_issue_commit(lab_db *db)
{
    if (!lab_db_is_in_transaction(db)) {
        snprintf(db->error, sizeof db->error, "the connection to PostgreSQL was lost");
        return false;
    }
    return lab_db_run(db, "COMMIT");
}

bool lab_issue_voucher(lab_db *db, const struct lab_voucher *voucher, int64_t *id)
{
    static const char sql[] =
        "WITH voucher AS ("
        "  INSERT INTO tb_voucher (title, sub_title, rules, pay_value, actual_value)"
        "  VALUES ($1, 'made by the laboratory', 'one for each user', 8000, 10000)"
        "  RETURNING id),"
        " sale AS ("
        "  INSERT INTO tb_seckill_voucher (voucher_id, stock, begin_time, end_time)"
        "  SELECT id, $2::int,"
        "         " BEGIN_TIME ", " END_TIME
        "  FROM voucher RETURNING voucher_id, begin_time, end_time)"
        "INSERT INTO lab.issue (voucher_id, stock, begin_time, end_time)"
        " SELECT voucher_id, $2::int, begin_time, end_time FROM sale RETURNING voucher_id";
    char stock[NUMBER_MAX];
    const char *values[] = {voucher->title, stock, voucher->begin, voucher->end};
    struct postgres_result *result;

    snprintf(stock, sizeof stock, "%" PRId64, voucher->stock);
    result = lab_db_ask(db, sql, 4, values);
    if (!result)
        return false;
    *id = strtoll(postgres_result_text(result, 0, 0), NULL, 10);
    postgres_result_free(result);
    return true;
}

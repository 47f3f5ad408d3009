/* SPDX-License-Identifier: MIT */
/* tally.c -- how a sale stands, in one question. */
#include "db/tally.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/lab_db_ask.h"

enum { NUMBER_MAX = 24 };

bool tally_read(lab_db *db, int64_t voucher, int64_t after, struct tally *out)
{
    /* The horizon has the form of next_order_id() in schema.sql. */
    static const char sql[] =
        "WITH horizon AS MATERIALIZED (SELECT"
        "  (extract(epoch FROM clock_timestamp())::bigint - 2 - 1640995200) << 32 AS id),"
        " found AS (SELECT o.id, EXISTS (SELECT FROM tb_voucher_order AS earlier"
        "   WHERE earlier.voucher_id = o.voucher_id AND earlier.user_id = o.user_id"
        "     AND earlier.id < o.id) AS is_double FROM tb_voucher_order AS o"
        "  WHERE o.voucher_id = $1::bigint AND o.id > $2::bigint)"
        " SELECT issue.stock, sale.stock, sale.fence, (SELECT id FROM horizon),"
        "  (SELECT count(*) FROM found),"
        "  (SELECT count(*) FROM found WHERE is_double),"
        "  (SELECT count(*) FROM found, horizon WHERE found.id <= horizon.id),"
        "  (SELECT count(*) FROM found, horizon WHERE is_double AND found.id <= horizon.id)"
        " FROM lab.issue JOIN tb_seckill_voucher AS sale USING (voucher_id)"
        " WHERE voucher_id = $1::bigint";
    char id[NUMBER_MAX], above[NUMBER_MAX];
    const char *values[] = {id, above};
    struct postgres_result *result;
    int64_t numbers[8];
    bool found;

    snprintf(id, sizeof id, "%" PRId64, voucher);
    snprintf(above, sizeof above, "%" PRId64, after);
    result = lab_db_ask(db, sql, 2, values);
    if (!result)
        return false;
    found = postgres_result_rows(result) == 1;
    for (int i = 0; found && i < 8; i++)
        numbers[i] = strtoll(postgres_result_text(result, 0, i), NULL, 10);
    if (found)
        *out = (struct tally){.issued = numbers[0],
                              .left = numbers[1],
                              .fence = (uint64_t)numbers[2],
                              .horizon = numbers[3],
                              .orders = numbers[4],
                              .doubles = numbers[5],
                              .older = numbers[6],
                              .older_doubles = numbers[7]};
    else
        snprintf(db->error, sizeof db->error, "the laboratory never issued voucher %" PRId64,
                 voucher);
    postgres_result_free(result);
    return found;
}

bool tally_under_fence(lab_db *db, int64_t voucher, uint64_t fence, int64_t *orders)
{
    static const char sql[] = "SELECT count(*) FROM tb_voucher_order"
                              " WHERE voucher_id = $1::bigint AND fence = $2::bigint";
    char id[NUMBER_MAX], number[NUMBER_MAX];
    const char *values[] = {id, number};
    struct postgres_result *result;

    snprintf(id, sizeof id, "%" PRId64, voucher);
    snprintf(number, sizeof number, "%" PRIu64, fence);
    result = lab_db_ask(db, sql, 2, values);
    if (!result)
        return false;
    *orders = strtoll(postgres_result_text(result, 0, 0), NULL, 10);
    postgres_result_free(result);
    return true;
}

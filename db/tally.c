/* SPDX-License-Identifier: MIT */
/* tally.c -- the counts of a sale, in one statement. */
#include "db/tally.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/lab_db_ask.h"

enum { NUMBER_MAX = 24 };

/* The horizon has the form of next_order_id() in schema.sql: the numbers of orders that are made
 * from two seconds ago on are above it.  Each question answers with the voucher's row, the
 * horizon, and four counts: orders, doubles, and the part of both up to the horizon. */
#define ASK(counts)                                                                    \
    "SELECT issue.stock, sale.stock, sale.fence, horizon.id, counted.*"                \
    " FROM lab.issue JOIN tb_seckill_voucher AS sale USING (voucher_id),"              \
    " (SELECT (extract(epoch FROM clock_timestamp())::bigint - 2 - 1640995200) << 32"  \
    "   AS id OFFSET 0) AS horizon, LATERAL (" counts ") AS counted"                   \
    " WHERE voucher_id = $1::bigint"
/* The table has just been filled, so PostgreSQL has no statistics.  Two bounds for the
 * id, and an expression for the voucher that fits no index, make it use the index of
 * the ids. */
#define NEW "voucher_id + 0 = $1::bigint AND id > $2::bigint AND id <= 9223372036854775807"

static const char *const QUESTIONS[] = {
    [TALLY_NEW_ORDERS] = ASK("SELECT count(*), 0, 0, 0 FROM tb_voucher_order WHERE " NEW),
    [TALLY_NEW] =
        ASK("WITH found AS MATERIALIZED (SELECT id, EXISTS ("
            "   SELECT FROM tb_voucher_order AS earlier"
            "   WHERE earlier.voucher_id = found.voucher_id"
            "     AND earlier.user_id = found.user_id AND earlier.id < found.id) AS is_double"
            "  FROM tb_voucher_order AS found WHERE " NEW ")"
            " SELECT count(*), count(*) FILTER (WHERE is_double),"
            "  count(*) FILTER (WHERE found.id <= horizon.id),"
            "  count(*) FILTER (WHERE is_double AND found.id <= horizon.id) FROM found"),
    /* Among the orders up to any number, the first order of each user is no double. */
    [TALLY_ALL] =
        ASK("SELECT count(*), count(*) - count(DISTINCT user_id),"
            "  count(*) FILTER (WHERE id <= horizon.id),"
            "  count(*) FILTER (WHERE id <= horizon.id)"
            "   - count(DISTINCT user_id) FILTER (WHERE id <= horizon.id)"
            " FROM tb_voucher_order WHERE voucher_id = $1::bigint"),
};

static void take(enum tally_scope scope, const int64_t numbers[8], struct tally_kept *kept,
                 struct tally *out)
{
    if (scope == TALLY_ALL)
        *kept = (struct tally_kept){0};
    if (scope != TALLY_NEW_ORDERS)
        kept->last_doubles = kept->doubles + numbers[5];
    *out = (struct tally){.issued = numbers[0],
                          .left = numbers[1],
                          .fence = (uint64_t)numbers[2],
                          .orders = kept->orders + numbers[4],
                          .doubles = kept->last_doubles};
    if (scope != TALLY_NEW_ORDERS) {
        kept->below = numbers[3];
        kept->orders += numbers[6];
        kept->doubles += numbers[7];
    }
}

bool tally_read(lab_db *db, int64_t voucher, enum tally_scope scope, struct tally_kept *kept,
                struct tally *out)
{
    char id[NUMBER_MAX], above[NUMBER_MAX];
    const char *values[] = {id, above};
    struct postgres_result *result;
    int64_t numbers[8];
    bool found;

    snprintf(id, sizeof id, "%" PRId64, voucher);
    snprintf(above, sizeof above, "%" PRId64, kept->below);
    result = lab_db_ask(db, QUESTIONS[scope], scope == TALLY_ALL ? 1 : 2, values);
    if (!result)
        return false;
    found = postgres_result_rows(result) == 1;
    for (int i = 0; found && i < 8; i++)
        numbers[i] = strtoll(postgres_result_text(result, 0, i), NULL, 10);
    if (found)
        take(scope, numbers, kept, out);
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

/* SPDX-License-Identifier: MIT */
/* audit.c -- the laboratory's questions to the database about a sale. */
#include "db/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/instant.h"
#include "db/lab_db_ask.h"

enum { NUMBER_MAX = 24 };

static int64_t number(const struct postgres_result *result, int column)
{
    return strtoll(postgres_result_text(result, 0, column), NULL, 10);
}

bool audit_db_begin(lab_db **out, const char *url, int64_t *read_us, char *error,
                    size_t size)
{
    /* The first question after BEGIN takes the snapshot. */
    static const char sql[] = "SELECT " INSTANT_US("clock_timestamp()");
    struct postgres_result *result = NULL;
    lab_db *db;

    if (!lab_db_open(&db, url, error, size))
        return false;
    if (lab_db_run(db, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        result = lab_db_ask(db, sql, 0, NULL);
    if (!result) {
        snprintf(error, size, "%s", lab_db_error(db));
        lab_db_close(db);
        db = NULL;
    } else {
        *read_us = number(result, 0);
        postgres_result_free(result);
    }
    *out = db;
    return db != NULL;
}

/* If the connection was lost and made again, it is in no transaction. */
bool audit_db_end(lab_db *db)
{
    bool is_whole = db && lab_db_is_in_transaction(db);

    lab_db_close(db);
    return is_whole;
}

bool audit_db_stock(lab_db *db, int64_t voucher, struct audit_db_stock *out)
{
    static const char sql[] =
        "SELECT issue.stock, sale.stock, sale.fence, " INSTANT_US("issue.issued_at")
        ", " INSTANT_US("issue.begin_time") ", " INSTANT_US("issue.end_time")
        ", CASE WHEN (issue.begin_time, issue.end_time)"
        "   = (sale.begin_time, sale.end_time) THEN 0 ELSE 1 END FROM lab.issue"
        " JOIN tb_seckill_voucher AS sale USING (voucher_id)"
        " WHERE voucher_id = $1::bigint";
    char id[NUMBER_MAX];
    const char *values[] = {id};
    struct postgres_result *result;
    bool found;

    snprintf(id, sizeof id, "%" PRId64, voucher);
    result = lab_db_ask(db, sql, 1, values);
    if (!result)
        return false;
    found = postgres_result_rows(result) == 1;
    if (found)
        *out = (struct audit_db_stock){number(result, 0), number(result, 1),
                                       (uint64_t)number(result, 2), number(result, 3),
                                       number(result, 4), number(result, 5),
                                       number(result, 6) == 1};
    else
        snprintf(db->error, sizeof db->error,
                 "the laboratory never issued voucher %" PRId64, voucher);
    postgres_result_free(result);
    return found;
}

/* Read orders by one number.  The statement has the columns of ORDER_ROW. */
static bool each_order(lab_db *db, const char *sql, int64_t parameter,
                       audit_db_order_fn *each, void *arg)
{
    char text[NUMBER_MAX];
    const char *values[] = {text};
    struct postgres_result *result;
    int rows;

    snprintf(text, sizeof text, "%" PRId64, parameter);
    result = lab_db_ask(db, sql, 1, values);
    if (!result)
        return false;
    rows = postgres_result_rows(result);
    for (int row = 0; row < rows; row++) {
        struct audit_db_order order = {
            .id = postgres_result_text(result, row, 0),
            .user = postgres_result_text(result, row, 1),
            .voucher = postgres_result_text(result, row, 2),
            .request = postgres_result_text(result, row, 3),
            .variant = postgres_result_text(result, row, 4),
            .stock_guard = postgres_result_text(result, row, 5),
            .duplicate_guard = postgres_result_text(result, row, 6),
            .process = postgres_result_text(result, row, 7),
            .created = postgres_result_text(result, row, 8),
            .admitted_us = postgres_result_text(result, row, 9),
            .created_us = postgres_result_text(result, row, 10),
        };

        if (!each(&order, arg))
            break;
    }
    postgres_result_free(result);
    return true;
}

#define ORDER_ROW                                                                      \
    "SELECT o.id, o.user_id, o.voucher_id, o.request_id, o.lock_variant, o.stock_guard," \
    " o.duplicate_guard, o.process, o.create_time, " INSTANT_US("o.admitted_at")        \
    ", " INSTANT_US("o.create_time") " FROM tb_voucher_order AS o "

bool audit_db_orders(lab_db *db, int64_t voucher, audit_db_order_fn *each, void *arg)
{
    return each_order(db, ORDER_ROW "WHERE o.voucher_id = $1::bigint ORDER BY o.id",
                      voucher, each, arg);
}

bool audit_db_strays(lab_db *db, int64_t since_us, audit_db_order_fn *each, void *arg)
{
    return each_order(db,
                      ORDER_ROW
                      "WHERE o.create_time >= " INSTANT_OF_US("$1::bigint")
                      " AND NOT EXISTS (SELECT FROM tb_seckill_voucher AS sale"
                      "  WHERE sale.voucher_id = o.voucher_id) ORDER BY o.id",
                      since_us, each, arg);
}

bool audit_db_writes(lab_db *db, int64_t voucher, audit_db_write_fn *each, void *arg)
{
    static const char sql[] =
        "SELECT position, voucher_id, lock_name, fence, request_id, user_id, process,"
        "       guard, outcome, written_at"
        " FROM tb_voucher_write WHERE voucher_id = $1::bigint ORDER BY position";
    char id[NUMBER_MAX];
    const char *values[] = {id};
    struct postgres_result *result;
    int rows;

    snprintf(id, sizeof id, "%" PRId64, voucher);
    result = lab_db_ask(db, sql, 1, values);
    if (!result)
        return false;
    rows = postgres_result_rows(result);
    for (int row = 0; row < rows; row++) {
        struct audit_db_write write = {
            .position = postgres_result_text(result, row, 0),
            .voucher = postgres_result_text(result, row, 1),
            .lock = postgres_result_text(result, row, 2),
            .fence = postgres_result_text(result, row, 3),
            .request = postgres_result_text(result, row, 4),
            .user = postgres_result_text(result, row, 5),
            .process = postgres_result_text(result, row, 6),
            .guard = postgres_result_text(result, row, 7),
            .outcome = postgres_result_text(result, row, 8),
            .written = postgres_result_text(result, row, 9),
        };

        if (!each(&write, arg))
            break;
    }
    postgres_result_free(result);
    return true;
}

bool audit_db_count(lab_db *db, const struct audit_db_filter *filter, int64_t *count)
{
    static const char sql[] = "SELECT count(*) FROM tb_voucher_order"
                              " WHERE voucher_id BETWEEN $1::bigint AND $2::bigint"
                              "   AND ($3::bigint = 0 OR user_id = $3::bigint)"
                              "   AND ($4::text IS NULL OR process = $4)"
                              "   AND ($5::text IS NULL OR process <> $5)";
    char first[NUMBER_MAX], last[NUMBER_MAX], user[NUMBER_MAX];
    const char *values[] = {first, last, user, filter->process, filter->not_process};
    struct postgres_result *result;

    snprintf(first, sizeof first, "%" PRId64, filter->first_voucher);
    snprintf(last, sizeof last, "%" PRId64, filter->last_voucher);
    snprintf(user, sizeof user, "%" PRId64, filter->user);
    result = lab_db_ask(db, sql, 5, values);
    if (!result)
        return false;
    *count = number(result, 0);
    postgres_result_free(result);
    return true;
}

bool audit_db_blocked_by(lab_db *db, const char *process, bool *blocked)
{
    static const char sql[] =
        "SELECT count(*) FROM pg_stat_activity w,"
        " unnest(pg_blocking_pids(w.pid)) AS blocker(pid), pg_stat_activity b"
        " WHERE w.datname = current_database() AND w.state = 'active'"
        "   AND w.wait_event_type = 'Lock' AND w.application_name NOT LIKE 'dlock-%'"
        "   AND b.pid = blocker.pid AND b.application_name = $1"
        "   AND b.state = 'idle in transaction'";
    const char *values[] = {process};
    struct postgres_result *result = lab_db_ask(db, sql, 1, values);

    if (!result)
        return false;
    *blocked = number(result, 0) > 0;
    postgres_result_free(result);
    return true;
}

/* No order follows the last statement of a lock's session or of a probe of readiness: the
 * laboratory itself looks at locks, and each process probes for a minute after its start. */
bool audit_db_quiet(lab_db *db, bool *quiet)
{
    static const char sql[] =
        "SELECT count(*) FROM pg_stat_activity WHERE usename = 'seckill_service'"
        "   AND (state <> 'idle' OR state_change > clock_timestamp() - interval '1 second'"
        "        AND application_name NOT LIKE 'dlock-%'"
        "        AND query NOT LIKE 'SELECT pg_is_in_recovery()%')";
    struct postgres_result *result = lab_db_ask(db, sql, 0, NULL);

    if (!result)
        return false;
    *quiet = number(result, 0) == 0;
    postgres_result_free(result);
    return true;
}

bool audit_db_services(lab_db *db, audit_db_service_fn *each, void *arg)
{
    static const char sql[] = "SELECT DISTINCT application_name FROM pg_stat_activity"
                              " WHERE usename = 'seckill_service'";
    struct postgres_result *result = lab_db_ask(db, sql, 0, NULL);
    int rows;

    if (!result)
        return false;
    rows = postgres_result_rows(result);
    for (int row = 0; row < rows && each(postgres_result_text(result, row, 0), arg);)
        row++;
    postgres_result_free(result);
    return true;
}

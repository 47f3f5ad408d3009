/* SPDX-License-Identifier: MIT */
/* audit.c -- what the laboratory asks the database about a sale. */
#include "db/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/instant.h"
#include "db/lab_db_ask.h"

enum { NUMBER_MAX = 24 };

static int64_t number(const PGresult *result, int column)
{
    return strtoll(PQgetvalue(result, 0, column), NULL, 10);
}

bool audit_db_begin(lab_db **out, const char *url, int64_t *read_us, char *error,
                    size_t size)
{
    /* The first question after BEGIN takes the snapshot. */
    static const char sql[] = "SELECT " INSTANT_US("clock_timestamp()");
    PGresult *result = NULL;
    lab_db *db;

    if (!lab_db_open(&db, url, error, size))
        return false;
    if (lab_db_run(db, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        result = lab_db_ask(db, PGRES_TUPLES_OK, sql, 0, NULL);
    if (!result) {
        snprintf(error, size, "%s", lab_db_error(db));
        lab_db_close(db);
        db = NULL;
    } else {
        *read_us = number(result, 0);
        PQclear(result);
    }
    *out = db;
    return db != NULL;
}

/* A connection that was made again on the way is in no transaction. */
bool audit_db_end(lab_db *db)
{
    bool is_whole = db && PQtransactionStatus(db->conn) == PQTRANS_INTRANS;

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
    PGresult *result;
    bool found;

    snprintf(id, sizeof id, "%" PRId64, voucher);
    result = lab_db_ask(db, PGRES_TUPLES_OK, sql, 1, values);
    if (!result)
        return false;
    found = PQntuples(result) == 1;
    if (found)
        *out = (struct audit_db_stock){number(result, 0), number(result, 1),
                                       (uint64_t)number(result, 2), number(result, 3),
                                       number(result, 4), number(result, 5),
                                       number(result, 6) == 1};
    else
        snprintf(db->error, sizeof db->error,
                 "the laboratory never issued voucher %" PRId64, voucher);
    PQclear(result);
    return found;
}

/* Ask for orders by one number; what is asked names the columns of ORDER_ROW. */
static bool each_order(lab_db *db, const char *sql, int64_t parameter,
                       audit_db_order_fn *each, void *arg)
{
    char text[NUMBER_MAX];
    const char *values[] = {text};
    PGresult *result;
    int rows;

    snprintf(text, sizeof text, "%" PRId64, parameter);
    result = lab_db_ask(db, PGRES_TUPLES_OK, sql, 1, values);
    if (!result)
        return false;
    rows = PQntuples(result);
    for (int row = 0; row < rows; row++) {
        struct audit_db_order order = {
            .id = PQgetvalue(result, row, 0),
            .user = PQgetvalue(result, row, 1),
            .voucher = PQgetvalue(result, row, 2),
            .request = PQgetvalue(result, row, 3),
            .variant = PQgetvalue(result, row, 4),
            .stock_guard = PQgetvalue(result, row, 5),
            .duplicate_guard = PQgetvalue(result, row, 6),
            .process = PQgetvalue(result, row, 7),
            .created = PQgetvalue(result, row, 8),
            .admitted_us = PQgetvalue(result, row, 9),
            .created_us = PQgetvalue(result, row, 10),
        };

        if (!each(&order, arg))
            break;
    }
    PQclear(result);
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
    PGresult *result;
    int rows;

    snprintf(id, sizeof id, "%" PRId64, voucher);
    result = lab_db_ask(db, PGRES_TUPLES_OK, sql, 1, values);
    if (!result)
        return false;
    rows = PQntuples(result);
    for (int row = 0; row < rows; row++) {
        struct audit_db_write write = {
            .position = PQgetvalue(result, row, 0),
            .voucher = PQgetvalue(result, row, 1),
            .lock = PQgetvalue(result, row, 2),
            .fence = PQgetvalue(result, row, 3),
            .request = PQgetvalue(result, row, 4),
            .user = PQgetvalue(result, row, 5),
            .process = PQgetvalue(result, row, 6),
            .guard = PQgetvalue(result, row, 7),
            .outcome = PQgetvalue(result, row, 8),
            .written = PQgetvalue(result, row, 9),
        };

        if (!each(&write, arg))
            break;
    }
    PQclear(result);
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
    PGresult *result;

    snprintf(first, sizeof first, "%" PRId64, filter->first_voucher);
    snprintf(last, sizeof last, "%" PRId64, filter->last_voucher);
    snprintf(user, sizeof user, "%" PRId64, filter->user);
    result = lab_db_ask(db, PGRES_TUPLES_OK, sql, 5, values);
    if (!result)
        return false;
    *count = number(result, 0);
    PQclear(result);
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
    PGresult *result = lab_db_ask(db, PGRES_TUPLES_OK, sql, 1, values);

    if (!result)
        return false;
    *blocked = number(result, 0) > 0;
    PQclear(result);
    return true;
}

bool audit_db_quiet(lab_db *db, bool *quiet)
{
    static const char sql[] = "SELECT count(*) FROM pg_stat_activity"
                              " WHERE usename = 'seckill_service'"
                              "   AND (state <> 'idle' OR state_change > "
                              "clock_timestamp() - interval '1 second')";
    PGresult *result = lab_db_ask(db, PGRES_TUPLES_OK, sql, 0, NULL);

    if (!result)
        return false;
    *quiet = number(result, 0) == 0;
    PQclear(result);
    return true;
}

bool audit_db_lock_rows(lab_db *db, int64_t *count)
{
    static const char sql[] = "SELECT (SELECT count(*) FROM dlock_lock)"
                              " + (SELECT count(*) FROM dlock_row)"
                              " + (SELECT count(*) FROM dlock_queue)";
    PGresult *result = lab_db_ask(db, PGRES_TUPLES_OK, sql, 0, NULL);

    if (!result)
        return false;
    *count = number(result, 0);
    PQclear(result);
    return true;
}

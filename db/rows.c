/* SPDX-License-Identifier: MIT */
/* rows.c -- reads the results of a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/conn.h"
#include "db/conn_private.h"

void db_clear_results(struct db_conn *db)
{
    for (size_t i = 0; i < db->result_count; i++) {
        postgres_result_free(db->results[i]);
        db->results[i] = NULL;
    }
    db->result_count = 0;
}

/* The result of the `i`th statement; NULL: it has none. */
static const struct postgres_result *result_at(const struct db_conn *db, size_t i)
{
    return i < db->result_count ? db->results[i] : NULL;
}

size_t db_rows(const struct db_conn *db, size_t i)
{
    return (size_t)postgres_result_rows(result_at(db, i));
}

bool db_is_null(const struct db_conn *db, size_t i, size_t row, int column)
{
    return row >= db_rows(db, i) ||
           postgres_result_is_null(result_at(db, i), (int)row, column);
}

const char *db_text(const struct db_conn *db, size_t i, size_t row, int column)
{
    return row < db_rows(db, i)
               ? postgres_result_text(result_at(db, i), (int)row, column)
               : "";
}

int64_t db_int(const struct db_conn *db, size_t i, size_t row, int column)
{
    return strtoll(db_text(db, i, row, column), NULL, 10);
}

bool db_in_transaction(const struct db_conn *db)
{
    return db->open != NULL && postgres_connection_is_in_transaction(db->open);
}

int db_backend_pid(const struct db_conn *db)
{
    return db->open != NULL
               ? postgres_wire_backend_pid(postgres_connection_wire(db->open))
               : 0;
}

const char *db_error(const struct db_conn *db)
{
    return db->error;
}

const char *db_constraint(const struct db_conn *db)
{
    return db->constraint;
}

const char *db_state(const struct db_conn *db)
{
    return db->state;
}

const char *db_status_name(enum db_status status)
{
    static const char *const NAMES[] = {
        [DB_OK] = "ok",           [DB_UNIQUE] = "unique", [DB_CONFLICT] = "conflict",
        [DB_TIMEOUT] = "timeout", [DB_UNABLE] = "unable", [DB_LOST] = "lost",
        [DB_ERROR] = "error",
    };

    return NAMES[status];
}

void db_keep_refusal(struct db_conn *db, const struct postgres_result *result)
{
    const char *constraint = postgres_result_constraint(result);
    const char *state = postgres_result_state(result);

    postgres_message_fold(db->error, sizeof(db->error), postgres_result_message(result));
    (void)snprintf(db->constraint, sizeof(db->constraint), "%s",
                   constraint != NULL ? constraint : "");
    (void)snprintf(db->state, sizeof(db->state), "%s", state != NULL ? state : "");
}

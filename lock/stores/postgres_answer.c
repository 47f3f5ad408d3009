/* SPDX-License-Identifier: MIT */
/* postgres_answer.c -- reads the answer to a statement, and checks that the statement
 * can have it. */
#include "lock/stores/postgres_answer.h"

#include <stdio.h>
#include <string.h>

#include "base/os/number.h"

/* The numbers of the types, which are the same in every server. */
static const unsigned TYPES[] = {
    [POSTGRES_VOID] = 2278, [POSTGRES_BOOL] = 16, [POSTGRES_INT4] = 23,
    [POSTGRES_INT8] = 20,   [POSTGRES_TEXT] = 25,
};

static dlock_status refuse(const char *sql, const char *what)
{
    return dlock_fail(DLOCK_PROTOCOL, "answered %s to: %.60s", what, sql);
}

/* Does the command tag fit the statement?  A COMMIT that failed has the tag
 * ROLLBACK. */
static bool is_done(const struct postgres_result *result, const char *sql)
{
    const char *tag = postgres_result_tag(result);
    size_t len = strcspn(sql, " ");

    return strncmp(tag, sql, len) == 0 && (tag[len] == '\0' || tag[len] == ' ');
}

static bool read_value(const struct postgres_result *result, const struct postgres_shape *shape,
                       struct postgres_answer *out)
{
    const char *value = postgres_result_text(result, 0, 0);
    size_t len = postgres_result_length(result, 0, 0);

    switch (shape->kind) {
    case POSTGRES_VOID:
        return len == 0;
    case POSTGRES_BOOL:
        out->is_true = value[0] == 't';
        return len == 1 && (value[0] == 't' || value[0] == 'f');
    case POSTGRES_INT4:
    case POSTGRES_INT8:
        return dlock_number_read(value, len, shape->least, shape->most, &out->number);
    default:
        snprintf(out->text, sizeof(out->text), "%s", value);
        return strlen(value) == len;
    }
}

dlock_status postgres_answer_read(const struct postgres_result *result, const char *sql,
                                  const struct postgres_shape *shape,
                                  struct postgres_answer *out)
{
    int row_count = postgres_result_rows(result);

    *out = (struct postgres_answer){.has_row = row_count > 0, .is_null = true};
    if (postgres_result_kind(result) == POSTGRES_RESULT_DONE) {
        if (shape->kind != POSTGRES_NOTHING)
            return refuse(sql, "no rows");
        return is_done(result, sql) ? DLOCK_OK : refuse(sql, "that it did something else");
    }
    if (shape->kind == POSTGRES_NOTHING)
        return refuse(sql, "rows");
    if (postgres_result_columns(result) != 1 ||
        postgres_result_type(result, 0) != TYPES[shape->kind])
        return refuse(sql, "columns of another kind");
    if (row_count > 1 || (row_count == 0 && !shape->may_be_absent))
        return refuse(sql, row_count == 0 ? "no row" : "several rows");
    if (row_count == 0)
        return DLOCK_OK;
    out->is_null = postgres_result_is_null(result, 0, 0);
    if (out->is_null)
        return shape->may_be_null ? DLOCK_OK : refuse(sql, "NULL");
    return read_value(result, shape, out) ? DLOCK_OK : refuse(sql, "an impossible value");
}

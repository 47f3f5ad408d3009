/* SPDX-License-Identifier: MIT */
/* sale_columns.h -- values of several rows as one parameter: an array in PostgreSQL's text
 * form, such as {1,2} or {"a","b"}, which a statement casts and unnests.
 *
 * Ownership   A column begins as {0}, which is empty; sale_column_free() frees its
 *             text.
 * Threads     One thread at a time.
 */
#ifndef DB_SALE_COLUMNS_H
#define DB_SALE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sale_column {
    char *text;
    size_t length, room;
    bool has_failed; /* there was no memory, and the text is not whole */
};

/* Append a value.  A text may hold any bytes but NUL; NULL becomes the SQL NULL. */
void sale_column_add_integer(struct sale_column *column, int64_t value);
void sale_column_add_text(struct sale_column *column, const char *value);

/* The array's text, valid until the next call; NULL: there was no memory. */
const char *sale_column_text(struct sale_column *column);

void sale_column_free(struct sale_column *column);

#endif /* DB_SALE_COLUMNS_H */

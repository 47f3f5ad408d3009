/* SPDX-License-Identifier: MIT */
/* sale_columns.c -- arrays in PostgreSQL's text form. */
#include "db/sale_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 1024, INTEGER_ROOM = 24 };

/* Make room for `more` bytes, the closing brace and the NUL. False: no memory. */
static bool need(struct sale_column *column, size_t more)
{
    size_t wanted = column->length + more + 2;
    char *text;

    if (column->has_failed || wanted <= column->room)
        return !column->has_failed;
    column->room = wanted * 2 > ROOM_FIRST ? wanted * 2 : ROOM_FIRST;
    text = realloc(column->text, column->room);
    column->has_failed = text == NULL;
    if (text != NULL)
        column->text = text;
    return text != NULL;
}

/* Begin the array or its next value. */
static void separate(struct sale_column *column)
{
    column->text[column->length] = column->length == 0 ? '{' : ',';
    column->length++;
}

void sale_column_add_integer(struct sale_column *column, int64_t value)
{
    if (!need(column, INTEGER_ROOM))
        return;
    separate(column);
    column->length += (size_t)snprintf(column->text + column->length, INTEGER_ROOM,
                                       "%" PRId64, value);
}

void sale_column_add_text(struct sale_column *column, const char *value)
{
    const char *text = value != NULL ? value : "NULL";

    if (!need(column, 2 * strlen(text) + 3))
        return;
    separate(column);
    if (value != NULL)
        column->text[column->length++] = '"';
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            column->text[column->length++] = '\\';
        column->text[column->length++] = *at;
    }
    if (value != NULL)
        column->text[column->length++] = '"';
}

const char *sale_column_text(struct sale_column *column)
{
    if (column->length == 0 && need(column, 1))
        column->text[column->length++] = '{';
    if (column->has_failed)
        return NULL;
    memcpy(column->text + column->length, "}", 2);
    return column->text;
}

void sale_column_free(struct sale_column *column)
{
    free(column->text);
    *column = (struct sale_column){0};
}

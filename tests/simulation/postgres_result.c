/* SPDX-License-Identifier: MIT */
/* postgres_result.c -- implements the results of base/postgres/wire.h as answers of the model, and
 * the functions of that header that need no session. */
#include <stdio.h>
#include <string.h>

#include "tests/simulation/postgres_network.h"

static const struct postgres_answer *own(const struct postgres_result *result)
{
    static const struct postgres_answer none = {.kind = POSTGRES_RESULT_ERROR};

    return result != NULL ? (const struct postgres_answer *)(const void *)result : &none;
}

enum postgres_result_kind postgres_result_kind(const struct postgres_result *result)
{
    return own(result)->kind;
}

int postgres_result_rows(const struct postgres_result *result)
{
    return own(result)->rows;
}

int postgres_result_columns(const struct postgres_result *result)
{
    return own(result)->columns;
}

/* NULL: there is no such cell, or its value is NULL. */
static const char *cell(const struct postgres_result *result, int row, int column)
{
    const struct postgres_answer *answer = own(result);

    return row >= 0 && row < answer->rows && column >= 0 && column < answer->columns
               ? answer->cells[row * answer->columns + column]
               : NULL;
}

bool postgres_result_is_null(const struct postgres_result *result, int row, int column)
{
    return cell(result, row, column) == NULL;
}

const char *postgres_result_text(const struct postgres_result *result, int row, int column)
{
    const char *text = cell(result, row, column);

    return text != NULL ? text : "";
}

size_t postgres_result_length(const struct postgres_result *result, int row, int column)
{
    return strlen(postgres_result_text(result, row, column));
}

/* The model knows no types of columns, so the seed ends. */
unsigned postgres_result_type(const struct postgres_result *result, int column)
{
    (void)result;
    (void)column;
    world_condemn(NOT_KNOWN, "the model of PostgreSQL knows no types of columns");
    return 0;
}

const char *postgres_result_tag(const struct postgres_result *result)
{
    return own(result)->tag;
}

const char *postgres_result_state(const struct postgres_result *result)
{
    return own(result)->state[0] != '\0' ? own(result)->state : NULL;
}

const char *postgres_result_constraint(const struct postgres_result *result)
{
    return own(result)->constraint[0] != '\0' ? own(result)->constraint : NULL;
}

const char *postgres_result_message(const struct postgres_result *result)
{
    return own(result)->text;
}

/* Frees nothing, because the memory ends with the process of the seed. */
void postgres_result_free(struct postgres_result *result)
{
    (void)result;
}

/* ---- without a session ---- */

bool postgres_url_is_valid(const char *url, char *why, size_t size)
{
    (void)snprintf(why, size, "%s", "");
    return url != NULL;
}

bool postgres_answers(const char *url)
{
    return url != NULL && !postgres_server.is_down;
}

bool postgres_wire_hash_password(struct postgres_wire *wire, const char *role,
                                 const char *password, char *out, size_t size)
{
    (void)wire;
    (void)role;
    (void)password;
    (void)snprintf(out, size, "%s", "");
    world_condemn(NOT_KNOWN, "the simulation knows no passwords");
    return false;
}

/* SPDX-License-Identifier: MIT */
/* connection.c -- a connection to PostgreSQL that prepares each statement once. */
#include "base/postgres/connection.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_SIZE = 512 };

struct postgres_connection {
    struct postgres_wire *wire;
    bool prepares; /* statements by name */
    const struct postgres_statement *prepared[POSTGRES_PREPARED_MAX];
    size_t prepared_count;
    char error[ERROR_SIZE];
    char state[POSTGRES_STATE_SIZE];
};

/* ---- open and close ---- */

struct postgres_connection *
postgres_connection_new(const struct postgres_wire_options *options,
                        enum postgres_pooler pooler)
{
    struct postgres_connection *connection = calloc(1, sizeof(*connection));

    if (connection == NULL)
        return NULL;
    connection->prepares = pooler != POSTGRES_POOLER_TRANSACTION;
    connection->wire = postgres_wire_new(options);
    if (connection->wire == NULL) {
        free(connection);
        return NULL;
    }
    return connection;
}

enum postgres_opening postgres_connection_open(struct postgres_connection *connection,
                                               int64_t deadline_ns)
{
    enum postgres_opening answer = postgres_wire_open(connection->wire, deadline_ns);

    if (answer != POSTGRES_OPEN)
        postgres_message_state(connection->state, postgres_wire_error(connection->wire));
    return answer;
}

void postgres_connection_close(struct postgres_connection *connection)
{
    if (connection == NULL)
        return;
    postgres_wire_close(connection->wire);
    free(connection);
}

struct postgres_wire *postgres_connection_wire(struct postgres_connection *connection)
{
    return connection->wire;
}

/* ---- statements ---- */

bool postgres_connection_has(const struct postgres_connection *connection,
                             const struct postgres_statement *statement)
{
    for (size_t i = 0; i < connection->prepared_count; i++)
        if (connection->prepared[i] == statement)
            return true;
    return !connection->prepares;
}

/* The server's number of a type, pg_type.oid, which never changes; 0 lets the server
 * infer the type. */
static unsigned type_number(char letter)
{
    switch (letter) {
    case 'i':
        return 20;
    case 't':
        return 25;
    case 'b':
        return 17;
    default:
        return 0;
    }
}

static int read_types(const struct postgres_statement *statement,
                      unsigned types[POSTGRES_PARAMETERS_MAX])
{
    int count = 0;

    for (const char *letter = statement->types; *letter != '\0'; letter++)
        types[count++] = type_number(*letter);
    return count;
}

bool postgres_connection_prepare(struct postgres_connection *connection,
                                 const struct postgres_statement *statement)
{
    unsigned types[POSTGRES_PARAMETERS_MAX];
    int count = read_types(statement, types);

    if (connection->prepared_count == POSTGRES_PREPARED_MAX)
        return false;
    if (!postgres_wire_put_prepare(connection->wire, statement->name, statement->sql, count,
                                   types))
        return false;
    connection->prepared[connection->prepared_count++] = statement;
    return true;
}

void postgres_connection_forget(struct postgres_connection *connection,
                                const struct postgres_statement *statement)
{
    for (size_t i = 0; i < connection->prepared_count; i++)
        if (connection->prepared[i] == statement)
            connection->prepared[i] = connection->prepared[--connection->prepared_count];
}

bool postgres_connection_execute(struct postgres_connection *connection,
                                 const struct postgres_statement *statement,
                                 const struct postgres_value *values)
{
    const char *parts[POSTGRES_PARAMETERS_MAX];
    int lengths[POSTGRES_PARAMETERS_MAX];
    int formats[POSTGRES_PARAMETERS_MAX];
    uint64_t integers[POSTGRES_PARAMETERS_MAX];
    unsigned types[POSTGRES_PARAMETERS_MAX];
    size_t count = strlen(statement->types);

    for (size_t i = 0; i < count; i++) {
        bool is_integer = statement->types[i] == 'i';
        bool is_bytes = statement->types[i] == 'b';

        integers[i] = htobe64((uint64_t)values[i].integer);
        parts[i] = is_integer ? (const char *)&integers[i] : values[i].text;
        if (values[i].is_null)
            parts[i] = NULL;
        lengths[i] = is_integer ? (int)sizeof(integers[i]) : 0;
        if (is_bytes && parts[i] != NULL)
            lengths[i] = (int)strlen(parts[i]);
        formats[i] = is_integer || is_bytes;
    }
    if (!connection->prepares)
        return postgres_wire_put_unnamed(connection->wire, statement->sql,
                                         read_types(statement, types), types, parts,
                                         lengths, formats);
    return postgres_wire_put_execute(connection->wire, statement->name, (int)count, parts,
                                     lengths, formats);
}

/* ---- what is known without I/O ---- */

bool postgres_connection_is_gone(const struct postgres_connection *connection)
{
    return postgres_wire_is_broken(connection->wire) ||
           postgres_wire_wait(connection->wire, 0);
}

bool postgres_connection_is_in_transaction(const struct postgres_connection *connection)
{
    return postgres_wire_transaction(connection->wire) != POSTGRES_NO_TRANSACTION;
}

const char *postgres_connection_error(struct postgres_connection *connection)
{
    postgres_message_fold(connection->error, sizeof(connection->error),
                          postgres_wire_error(connection->wire));
    return connection->error;
}

const char *postgres_connection_state(const struct postgres_connection *connection)
{
    return connection->state;
}

/* ---- the poolers ---- */

static const char *const POOLERS[] = {
#define X(id, name) name,
    POSTGRES_POOLERS(X)
#undef X
};

enum { POOLER_COUNT = sizeof(POOLERS) / sizeof(POOLERS[0]) };

const char *postgres_pooler_name_at(size_t index)
{
    return index < POOLER_COUNT ? POOLERS[index] : NULL;
}

bool postgres_pooler_read(const char *name, enum postgres_pooler *out)
{
    for (size_t i = 0; i < POOLER_COUNT; i++) {
        if (strcmp(POOLERS[i], name) != 0)
            continue;
        *out = (enum postgres_pooler)i;
        return true;
    }
    return false;
}

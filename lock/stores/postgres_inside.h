/* SPDX-License-Identifier: MIT */
/* postgres_inside.h -- the struct of a connection.  Only for postgres_opening.c and
 * postgres_question.c. */
#ifndef DLOCK_POSTGRES_INSIDE_H
#define DLOCK_POSTGRES_INSIDE_H

#include "base/postgres/connection.h"
#include "lock/dlock_variant.h"

enum { POSTGRES_LABEL_SIZE = 128, POSTGRES_SAID_SIZE = 300 };

struct postgres_conn {
    struct postgres_connection *open; /* NULL: the connection broke */
    enum postgres_pooler pooler;
    int timeout_ms;
    char label[POSTGRES_LABEL_SIZE]; /* the server, for messages */
};

/* Set dlock_error() to the server's address and `text`, one line of libpq or of the
 * server.  The URL never appears there, because it has a password.  Returns `st`. */
dlock_status dlock_postgres_fail(const struct postgres_conn *conn, dlock_status st,
                                 const char *text);

#endif /* DLOCK_POSTGRES_INSIDE_H */

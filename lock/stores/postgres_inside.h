/* SPDX-License-Identifier: MIT */
/* postgres_inside.h -- what postgres_opening.c and postgres_question.c share; no other file
 * includes it. */
#ifndef DLOCK_POSTGRES_INSIDE_H
#define DLOCK_POSTGRES_INSIDE_H

#include "base/postgres/connection.h"
#include "lock/dlock_variant.h"

enum { POSTGRES_LABEL_SIZE = 128, POSTGRES_SAID_SIZE = 300 };

struct postgres_conn {
    struct postgres_connection *open; /* NULL: it broke */
    enum postgres_pooler pooler;
    int timeout_ms;
    char label[POSTGRES_LABEL_SIZE]; /* the server, for messages */
};

/* Set dlock_error() to `text`, which is one line of what libpq or the server said, behind
 * the server's address; never to the URL, which has a password.  Answers `st`. */
dlock_status dlock_postgres_fail(const struct postgres_conn *conn, dlock_status st,
                                 const char *text);

#endif /* DLOCK_POSTGRES_INSIDE_H */

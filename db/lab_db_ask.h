/* SPDX-License-Identifier: MIT */
/* lab_db_ask.h -- how issue.c, audit.c and backend.c ask the connection of lab_db.h. */
#ifndef DB_LAB_DB_ASK_H
#define DB_LAB_DB_ASK_H

#include <libpq-fe.h>

enum { LAB_DB_ERROR_MAX = 512 };

struct lab_db {
    PGconn *conn;
    char error[LAB_DB_ERROR_MAX];
};

/* Ask with `count` text parameters (NULL: SQL's NULL).  A connection that has broken is
 * made again first.  NULL, and text in db->error, unless the answer is `wanted`; the
 * caller clears what is returned. */
PGresult *lab_db_ask(struct lab_db *db, ExecStatusType wanted, const char *sql, int count,
                     const char *const *values);

#endif /* DB_LAB_DB_ASK_H */

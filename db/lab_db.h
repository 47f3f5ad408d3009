/* SPDX-License-Identifier: MIT */
/* lab_db.h -- what issue.c and audit.c share: one connection and how to ask it. */
#ifndef DB_LAB_DB_H
#define DB_LAB_DB_H

#include <libpq-fe.h>

#include "db/issue.h"

enum { LAB_DB_ERROR_MAX = 512 };

struct lab_db {
    PGconn *conn;
    char error[LAB_DB_ERROR_MAX];
};

/* Ask with `count` text parameters (NULL: SQL's NULL).  A connection that has broken is
 * made again first.  NULL, and text in db->error, unless the answer is `wanted`; the
 * caller clears what is returned. */
PGresult *lab_db_ask(lab_db *db, ExecStatusType wanted, const char *sql, int count,
                     const char *const *values);

#endif /* DB_LAB_DB_H */

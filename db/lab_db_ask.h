/* SPDX-License-Identifier: MIT */
/* lab_db_ask.h -- how the files of db/ for the laboratory ask the connection of
 * lab_db.h. */
#ifndef DB_LAB_DB_ASK_H
#define DB_LAB_DB_ASK_H

#include "base/postgres/wire.h"

enum { LAB_DB_ERROR_MAX = 512 };

struct lab_db {
    struct postgres_wire *wire; /* NULL: it was lost, and a new one could not be made */
    char *url;
    int64_t limit_ms; /* of each question, and of each connecting; 0: none */
    char error[LAB_DB_ERROR_MAX];
};

/* Run a statement with `count` text parameters (NULL: SQL's NULL).  A broken connection
 * is made again first.  Returns rows, which the caller frees with
 * postgres_result_free().  NULL: any other answer or none, and db->error has the
 * reason. */
struct postgres_result *lab_db_ask(struct lab_db *db, const char *sql, int count,
                                   const char *const *values);

/* Is a transaction open that has not failed? */
bool lab_db_is_in_transaction(const struct lab_db *db);

#endif /* DB_LAB_DB_ASK_H */

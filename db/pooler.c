/* SPDX-License-Identifier: MIT */
/* pooler.c -- checks the kind of pooler by the sessions that connections get.
 *
 * In the opening of a connection PgBouncer sends a process number of its own, and not
 * that of the server process. */
#include "db/pooler.h"

#include <stdio.h>

/* Ask for the process number of the server process; 0: no answer. */
static int64_t ask_session(struct db_conn *db)
{
    static const struct postgres_statement WHICH = {"pooler_session", "SELECT pg_backend_pid()",
                                                    ""};

    return db_run_one(db, &WHICH, NULL) == DB_OK ? db_int(db, 0, 0, 0) : 0;
}

bool db_pooler_mixes_sessions(const struct db_options *opts, char *why, size_t size)
{
    struct db_options careful = *opts;
    struct db_conn *one, *other;
    int64_t pid = 0, other_pid = 0;

    if (opts->pooler != POSTGRES_POOLER_SESSION)
        return false;
    careful.pooler = POSTGRES_POOLER_TRANSACTION;
    one = db_new(&careful);
    other = db_new(&careful);
    if (one != NULL && other != NULL) {
        pid = ask_session(one);
        other_pid = ask_session(other);
    }
    db_free(other);
    db_free(one);
    if (pid == 0 || pid != other_pid)
        return false;
    (void)snprintf(why, size, "two connections were given one session, so the pooler does not "
                              "keep a session for each connection: set "
                              "--database-pooler=transaction, or pool_mode = session in the "
                              "pooler");
    return true;
}

enum db_status db_pooler_is_absent(struct db_conn *db, const struct db_options *opts,
                                   char *why, size_t size)
{
    int64_t pid = 0;

    if (opts->pooler != POSTGRES_POOLER_NONE)
        return DB_OK;
    pid = ask_session(db);
    if (pid == 0) {
        (void)snprintf(why, size, "%s", db_error(db));
        return DB_LOST;
    }
    if (pid == db_backend_pid(db))
        return DB_OK;
    (void)snprintf(why, size, "there is a pooler in front of PostgreSQL: set "
                              "--database-pooler to session or transaction, as its pool_mode "
                              "is");
    return DB_ERROR;
}

/* SPDX-License-Identifier: MIT */
/* lab_db.c -- the laboratory's own connection to the database. */
#include "db/lab_db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/lab_db_ask.h"

/* libpq ends its texts with a newline and may use several lines. */
static void keep_error(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text);
    for (char *p = out; *p; p++) {
        if (*p == '\n')
            *p = p[1] ? ' ' : '\0';
    }
}

bool lab_db_open(lab_db **out, const char *url, char *error, size_t size)
{
    lab_db *db = calloc(1, sizeof *db);

    *out = NULL;
    if (!db)
        abort();
    db->conn = PQconnectdb(url);
    if (PQstatus(db->conn) != CONNECTION_OK) {
        keep_error(error, size, PQerrorMessage(db->conn));
        lab_db_close(db);
        return false;
    }
    *out = db;
    return true;
}

void lab_db_close(lab_db *db)
{
    if (!db)
        return;
    PQfinish(db->conn);
    free(db);
}

const char *lab_db_error(const lab_db *db)
{
    return db->error;
}

bool lab_db_answers(const char *url)
{
    return PQping(url) == PQPING_OK;
}

PGresult *lab_db_ask(lab_db *db, ExecStatusType wanted, const char *sql, int count,
                     const char *const *values)
{
    PGresult *result;

    db->error[0] = '\0';
    if (PQstatus(db->conn) != CONNECTION_OK)
        PQreset(db->conn);
    result = PQexecParams(db->conn, sql, count, NULL, values, NULL, NULL, 0);
    if (PQresultStatus(result) == wanted)
        return result;
    keep_error(db->error, sizeof db->error, PQerrorMessage(db->conn));
    PQclear(result);
    return NULL;
}

bool lab_db_run(lab_db *db, const char *sql)
{
    PGresult *result;
    bool ok;

    db->error[0] = '\0';
    result = PQexec(db->conn, sql);
    ok = PQresultStatus(result) == PGRES_COMMAND_OK ||
         PQresultStatus(result) == PGRES_TUPLES_OK;
    if (!ok)
        keep_error(db->error, sizeof db->error, PQerrorMessage(db->conn));
    PQclear(result);
    return ok;
}

bool lab_db_create(lab_db *db, const char *name, const char *service,
                   const char *password)
{
    char *hash = PQencryptPasswordConn(db->conn, password, service, "scram-sha-256");
    char *quoted_hash = hash ? PQescapeLiteral(db->conn, hash, strlen(hash)) : NULL;
    char *quoted_role = PQescapeIdentifier(db->conn, service, strlen(service));
    char *quoted_name = PQescapeIdentifier(db->conn, name, strlen(name));
    char sql[1024];
    bool ok = false;

    if (quoted_hash && quoted_role && quoted_name) {
        snprintf(sql, sizeof sql, "CREATE ROLE %s LOGIN PASSWORD %s", quoted_role,
                 quoted_hash);
        ok = lab_db_run(db, sql);
        snprintf(sql, sizeof sql, "CREATE DATABASE %s", quoted_name);
        ok = ok && lab_db_run(db, sql); /* not within a transaction */
    }
    PQfreemem(quoted_name);
    PQfreemem(quoted_role);
    PQfreemem(quoted_hash);
    PQfreemem(hash);
    return ok;
}

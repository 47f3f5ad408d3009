/* SPDX-License-Identifier: MIT */
/* lab_db.c -- the laboratory's own connection to the database. */
#include "db/lab_db.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/random.h"
#include "base/postgres/message.h"
#include "db/lab_db_ask.h"

enum { CONNECT_TIMEOUT_MS = 30000 }; /* for a server that hangs */

static void keep_error(lab_db *db, const char *text)
{
    postgres_message_fold(db->error, sizeof(db->error), text);
}

/* Connect.  False: it failed, and db->error has the reason. */
static bool connect_now(lab_db *db)
{
    int64_t limit_ms = db->limit_ms > 0 ? db->limit_ms : CONNECT_TIMEOUT_MS;
    int64_t deadline_ns = dlock_clock_after(dlock_clock_ns(), limit_ms);
    const struct postgres_wire_options options = {
        .url = db->url, .wants_primary = postgres_url_hosts(db->url) > 1};
    enum postgres_opening answer = POSTGRES_FAILED;

    postgres_wire_close(db->wire);
    db->wire = postgres_wire_new(&options);
    if (db->wire != NULL)
        answer = postgres_wire_open(db->wire, deadline_ns);
    if (answer == POSTGRES_OPEN)
        return true;
    keep_error(db, db->wire != NULL ? postgres_wire_error(db->wire) : "out of memory");
    postgres_message_complete(db->error, sizeof(db->error),
                              "the server did not answer in time");
    postgres_wire_close(db->wire);
    db->wire = NULL;
    return false;
}

bool lab_db_open(lab_db **out, const char *url, char *error, size_t size)
{
    lab_db *db = calloc(1, sizeof *db);

    *out = NULL;
    if (!db || !(db->url = strdup(url)))
        abort();
    if (!connect_now(db)) {
        snprintf(error, size, "%s", db->error);
        lab_db_close(db);
        return false;
    }
    *out = db;
    return true;
}

void lab_db_limit(lab_db *db, int64_t limit_ms)
{
    db->limit_ms = limit_ms;
}

void lab_db_close(lab_db *db)
{
    if (!db)
        return;
    postgres_wire_close(db->wire);
    free(db->url);
    free(db);
}

const char *lab_db_error(const lab_db *db)
{
    return db->error;
}

bool lab_db_is_lost(const lab_db *db)
{
    return db->wire == NULL || postgres_wire_is_broken(db->wire);
}

bool lab_db_answers(const char *url)
{
    return postgres_answers(url);
}

/* Close the connection after a timeout, because the late answer may still come. */
static void give_up(lab_db *db)
{
    keep_error(db, postgres_wire_error(db->wire));
    postgres_message_complete(db->error, sizeof(db->error),
                              "the server did not answer in time");
    postgres_wire_close(db->wire);
    db->wire = NULL;
}

/* Read all results, and return the first error, or else the last result.  NULL: the
 * connection broke or the time has passed, and db->error says so. */
static struct postgres_result *last_result(lab_db *db, bool was_put)
{
    int64_t deadline_ns =
        db->limit_ms > 0 ? dlock_clock_after(dlock_clock_ns(), db->limit_ms) : INT64_MAX;
    struct postgres_result *kept = NULL;
    struct postgres_result *next = NULL;
    bool is_whole = was_put && postgres_wire_send(db->wire, deadline_ns);

    while (is_whole && (is_whole = postgres_wire_receive(db->wire, deadline_ns, &next)) &&
           next != NULL) {
        if (kept == NULL || postgres_result_kind(kept) != POSTGRES_RESULT_ERROR) {
            postgres_result_free(kept);
            kept = next;
        } else {
            postgres_result_free(next);
        }
    }
    if (!is_whole) {
        postgres_result_free(kept);
        give_up(db);
        return NULL;
    }
    return kept;
}

struct postgres_result *lab_db_ask(lab_db *db, const char *sql, int count,
                                   const char *const *values)
{
    struct postgres_result *result;

    db->error[0] = '\0';
    if (lab_db_is_lost(db) && !connect_now(db))
        return NULL;
    result = last_result(db, postgres_wire_put_question(db->wire, sql, count, values));
    if (postgres_result_kind(result) == POSTGRES_RESULT_ROWS)
        return result;
    if (result != NULL)
        keep_error(db, postgres_result_message(result));
    postgres_result_free(result);
    return NULL;
}

bool lab_db_run(lab_db *db, const char *sql)
{
    struct postgres_result *result = NULL;
    enum postgres_result_kind kind;

    db->error[0] = '\0';
    if (db->wire != NULL)
        result = last_result(db, postgres_wire_put_query(db->wire, sql));
    else
        keep_error(db, "the connection to PostgreSQL is lost");
    kind = postgres_result_kind(result);
    if (result != NULL && (kind == POSTGRES_RESULT_ERROR || kind == POSTGRES_RESULT_OTHER))
        keep_error(db, postgres_result_message(result));
    postgres_result_free(result);
    return kind == POSTGRES_RESULT_DONE || kind == POSTGRES_RESULT_ROWS;
}

bool lab_db_is_in_transaction(const lab_db *db)
{
    return db->wire != NULL &&
           postgres_wire_transaction(db->wire) == POSTGRES_IN_TRANSACTION;
}

enum { SCRAM_HASH = SHA256_DIGEST_LENGTH, SCRAM_SALT = 16, SCRAM_SECRET_MAX = 192 };

static bool scram_mac(const void *key, size_t key_len, const void *text, size_t len,
                      unsigned char out[SCRAM_HASH])
{
    return HMAC(EVP_sha256(), key, (int)key_len, text, len, out, NULL) != NULL;
}

/* Write the secret by which PostgreSQL knows a password (RFC 5802, section 3).  Its one
 * iteration suffices for a random password, and every iteration is repeated by each connection. */
static bool scram_write(const char *password, char out[SCRAM_SECRET_MAX])
{
    unsigned char salt[SCRAM_SALT + 4] = {[SCRAM_SALT + 3] = 1}; /* and the block's number */
    unsigned char salted[SCRAM_HASH], client[SCRAM_HASH], stored[SCRAM_HASH], server[SCRAM_HASH];
    unsigned char salt64[2 * SCRAM_SALT], stored64[2 * SCRAM_HASH], server64[2 * SCRAM_HASH];

    dlock_random_bytes(salt, SCRAM_SALT);
    if (!scram_mac(password, strlen(password), salt, sizeof(salt), salted) ||
        !scram_mac(salted, SCRAM_HASH, "Client Key", strlen("Client Key"), client) ||
        !scram_mac(salted, SCRAM_HASH, "Server Key", strlen("Server Key"), server) ||
        SHA256(client, SCRAM_HASH, stored) == NULL)
        return false;
    (void)EVP_EncodeBlock(salt64, salt, SCRAM_SALT);
    (void)EVP_EncodeBlock(stored64, stored, SCRAM_HASH);
    (void)EVP_EncodeBlock(server64, server, SCRAM_HASH);
    (void)snprintf(out, SCRAM_SECRET_MAX, "SCRAM-SHA-256$1:%s$%s:%s", (char *)salt64,
                   (char *)stored64, (char *)server64);
    return true;
}

bool lab_db_create(lab_db *db, const char *name, const char *service,
                   const char *password, const char *own_password)
{
    /* The server quotes the names and the secrets. */
    static const char ROLES[] =
        "SELECT format('CREATE ROLE %I LOGIN PASSWORD %L; ALTER ROLE CURRENT_USER PASSWORD %L',"
        " $1::text, $2::text, $3::text)";
    static const char DATABASE[] = "SELECT format('CREATE DATABASE %I', $1::text)";
    char secret[SCRAM_SECRET_MAX], own_secret[SCRAM_SECRET_MAX];
    const char *role_values[] = {service, secret, own_secret};
    const char *database_values[] = {name};
    struct postgres_result *roles = NULL;
    struct postgres_result *database = NULL;
    bool ok = false;

    if (scram_write(password, secret) && scram_write(own_password, own_secret)) {
        roles = lab_db_ask(db, ROLES, 3, role_values);
        database = roles ? lab_db_ask(db, DATABASE, 1, database_values) : NULL;
    }
    if (roles && database)
        ok = lab_db_run(db, postgres_result_text(roles, 0, 0)) &&
             lab_db_run(db, postgres_result_text(database, 0, 0)); /* no transaction */
    postgres_result_free(database);
    postgres_result_free(roles);
    return ok;
}

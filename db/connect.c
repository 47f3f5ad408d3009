/* SPDX-License-Identifier: MIT */
/* connect.c -- the life of a connection to PostgreSQL: open, lose, open again.
 *
 * Invariant: a connection on which anything went wrong below SQL is closed at once.  No
 * later statement can then read the answer of an earlier one.
 */
#include "db/conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "db/conn_private.h"

enum {
    ANSWER_MAX = 16 << 20, /* bytes */
    BACKOFF_FIRST_MS = 20,
    BACKOFF_LAST_MS = 1000,
};

struct db_options db_options_default(const char *url)
{
    return (struct db_options){
        .url = url,
        .connect_timeout_ms = 2000,
        .statement_timeout_ms = 5000,
        .idle_timeout_ms = 60000,
    };
}

struct db_conn *db_new(const struct db_options *opts)
{
    struct db_conn *db = calloc(1, sizeof(*db));

    if (db == NULL)
        return NULL;
    db->opts = *opts;
    db->url = strdup(opts->url);
    db->application_name =
        strdup(opts->application_name != NULL ? opts->application_name : "seckill");
    if (db->url == NULL || db->application_name == NULL) {
        db_free(db);
        return NULL;
    }
    return db;
}

void db_disconnect(struct db_conn *db)
{
    postgres_connection_close(db->open);
    db->open = NULL;
}

void db_break(struct db_conn *db)
{
    if (db->open != NULL)
        postgres_wire_cut(postgres_connection_wire(db->open));
}

void db_free(struct db_conn *db)
{
    if (db == NULL)
        return;
    db_clear_results(db);
    db_disconnect(db);
    free(db->application_name);
    free(db->url);
    free(db);
}

enum db_status db_lose(struct db_conn *db, const char *text)
{
    (void)snprintf(db->error, sizeof(db->error), "%s", text);
    db_disconnect(db);
    return DB_LOST;
}

enum db_status db_lose_talk(struct db_conn *db)
{
    return db_lose(db, postgres_connection_error(db->open));
}

enum db_status db_lose_silent(struct db_conn *db, bool is_late, int64_t allowed_ms)
{
    char late[64];

    (void)db_lose_talk(db);
    db->fell_silent = is_late;
    (void)snprintf(late, sizeof(late), "the server did not answer within %lld ms",
                   (long long)allowed_ms);
    postgres_message_complete(db->error, sizeof(db->error),
                              is_late ? late : "the connection broke");
    return DB_LOST;
}

static struct postgres_connection *start_connecting(const struct db_conn *db)
{
    char settings[DB_SETTINGS_MAX];
    const struct postgres_wire_options options = {
        .url = db->url,
        .application_name = db->application_name,
        .settings = db_limits_at_start(db, settings),
        .wants_primary = true,
        .first_host = db->host,
        .answer_max = ANSWER_MAX,
    };

    return postgres_connection_new(&options, db->opts.pooler);
}

static void back_off(struct db_conn *db)
{
    db->backoff_ms = db->backoff_ms == 0 ? BACKOFF_FIRST_MS : db->backoff_ms * 2;
    if (db->backoff_ms > BACKOFF_LAST_MS)
        db->backoff_ms = BACKOFF_LAST_MS;
    db->next_try_ns = dlock_clock_after(dlock_clock_ns(), db->backoff_ms);
}

static enum db_status connect_now(struct db_conn *db)
{
    int64_t deadline_ns =
        dlock_clock_after(dlock_clock_ns(), db->opts.connect_timeout_ms);
    enum postgres_opening answer;

    db->state[0] = '\0';
    db->open = start_connecting(db);
    if (db->open == NULL)
        return db_lose(db, "out of memory");
    answer = postgres_connection_open(db->open, deadline_ns);
    if (answer != POSTGRES_OPEN) {
        back_off(db);
        (void)snprintf(db->state, sizeof(db->state), "%s",
                       postgres_connection_state(db->open));
        return db_lose_silent(db, answer == POSTGRES_LATE, db->opts.connect_timeout_ms);
    }
    db->host = postgres_wire_host(postgres_connection_wire(db->open));
    if (!db_limits_set(db, deadline_ns)) {
        back_off(db);
        if (db->state[0] == '\0')
            return db_lose_silent(db, dlock_clock_ns() >= deadline_ns,
                                  db->opts.connect_timeout_ms);
        db_disconnect(db);
        return DB_LOST;
    }
    db->backoff_ms = 0;
    db->next_try_ns = 0;
    db->fell_silent = db->was_demoted = false;
    if (!postgres_wire_set_batches(postgres_connection_wire(db->open), true))
        return db_lose_talk(db);
    return DB_OK;
}

/* Check before a run that the server has not closed the connection: so a restarted
 * server costs no order.  Inside a transaction the check is skipped, because the server
 * may have sent a notice that it ends the session, and the next answer shows that. */
bool db_is_stale(const struct db_conn *db)
{
    return postgres_connection_is_in_transaction(db->open)
               ? postgres_wire_is_broken(postgres_connection_wire(db->open))
               : postgres_connection_is_gone(db->open);
}

enum db_status db_connect(struct db_conn *db)
{
    if (db->open != NULL && !db_is_stale(db))
        return DB_OK;
    if (db->open != NULL && postgres_connection_is_in_transaction(db->open))
        return db_lose(db, "the connection broke inside a transaction");
    db_disconnect(db);
    if (dlock_clock_ns() < db->next_try_ns)
        return DB_LOST;
    return connect_now(db);
}

enum db_status db_connect_alone(struct db_conn *db)
{
    enum { LOOKS_MAX = 10, PAUSE_MS = 20 }; /* a second in all */
    static const char OBJECT_IN_USE[] = "55006"; /* of db_limits_set() */
    enum db_status st = db_connect(db);
    char *found;

    for (int i = 1; st != DB_OK && strcmp(db->state, OBJECT_IN_USE) == 0; i++) {
        if (i == LOOKS_MAX) {
            found = strstr(db->error, "the service ");
            if (found != NULL)
                memmove(db->error, found, strlen(found) + 1);
            db->error[strcspn(db->error, ";")] = '\0'; /* the hint and the context follow */
            return DB_ERROR;
        }
        dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), (int64_t)i * PAUSE_MS));
        st = db_connect(db);
    }
    return st;
}

bool db_is_refused(const struct db_conn *db)
{
    return postgres_message_is_final(db->state, db->error);
}

/* Does the text contain a second URL? libpq would take it for a part of the database's
 * name, and show it with its password in the error message. */
static bool has_second_url(const char *url)
{
    const char *first = strstr(url, "://");

    return first != NULL && (strstr(first + 1, "postgresql://") != NULL ||
                             strstr(first + 1, "postgres://") != NULL);
}

bool db_url_is_valid(const char *url, char *why, size_t size)
{
    static const char BLANKS[] = " \t\r\n";
    char said[ERROR_MAX];
    bool is_valid;

    if (url[strspn(url, BLANKS)] == '\0') {
        (void)snprintf(why, size, "there is no URL");
        return false;
    }
    if (has_second_url(url)) {
        (void)snprintf(why, size, "a second URL begins inside it; white space stands between "
                                  "URLs where several are allowed, and a comma between the "
                                  "hosts of one URL");
        return false;
    }
    is_valid = postgres_url_is_valid(url, said, sizeof(said));
    postgres_message_fold(why, size, said);
    return is_valid;
}

/* SPDX-License-Identifier: MIT */
/* postgres_session.c -- locks that live with a connection: each hold has its own.
 *
 * The slots of the holds are freed only at the end, and are used again.  So an outdated
 * note finds a slot with another token, and never freed memory. */
#include "lock/stores/postgres_session.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/mutex.h"

struct slot {
    struct postgres_conn *conn; /* NULL: free */
    char token[DLOCK_TOKEN_LEN + 1];
};

struct postgres_sessions {
    struct postgres_pool *pool;
    struct dlock_mutex mutex; /* protects what follows, and is held while a connection
                               * is probed */
    struct slot *slots;
    size_t slot_count;
};

dlock_status postgres_sessions_open(struct postgres_sessions **out,
                                    const dlock_options *opts)
{
    struct postgres_sessions *sessions = calloc(1, sizeof(*sessions));
    dlock_status st;

    *out = NULL;
    if (sessions == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the sessions");
    dlock_mutex_init(&sessions->mutex);
    st = postgres_pool_open(&sessions->pool, opts);
    if (st == DLOCK_OK &&
        postgres_pool_pooler(sessions->pool) == POSTGRES_POOLER_TRANSACTION)
        st = dlock_fail(DLOCK_INVALID,
                        "each lock of this variant, and each wait for one, needs a session of "
                        "PostgreSQL to itself, and a pooler of transactions gives none; use "
                        "pg-unique or pg-fair, a pooler of sessions, or the server's own "
                        "address");
    if (st != DLOCK_OK) {
        postgres_sessions_close(sessions);
        return st;
    }
    *out = sessions;
    return DLOCK_OK;
}

void postgres_sessions_close(struct postgres_sessions *sessions)
{
    if (sessions == NULL)
        return;
    for (size_t i = 0; i < sessions->slot_count; i++)
        postgres_hang_up(sessions->slots[i].conn);
    free(sessions->slots);
    postgres_pool_close(sessions->pool);
    dlock_mutex_destroy(&sessions->mutex);
    free(sessions);
}

struct postgres_pool *postgres_sessions_pool(struct postgres_sessions *sessions)
{
    return sessions->pool;
}

/* A free slot, with the mutex held; NULL: no memory. */
static struct slot *find_free(struct postgres_sessions *sessions)
{
    size_t count = sessions->slot_count;
    size_t more = count == 0 ? 16 : count;
    struct slot *grown;

    for (size_t i = 0; i < count; i++)
        if (sessions->slots[i].conn == NULL)
            return &sessions->slots[i];
    grown = realloc(sessions->slots, (count + more) * sizeof(*grown));
    if (grown == NULL)
        return NULL;
    memset(grown + count, 0, more * sizeof(*grown));
    sessions->slots = grown;
    sessions->slot_count = count + more;
    return &grown[count];
}

dlock_status postgres_session_keep(struct postgres_sessions *sessions,
                                   dlock_claim *claim, struct postgres_conn *conn)
{
    struct slot *slot;

    dlock_mutex_lock(&sessions->mutex);
    slot = find_free(sessions);
    if (slot != NULL) {
        slot->conn = conn;
        strcpy(slot->token, claim->token);
        claim->note = (uint64_t)(slot - sessions->slots) + 1; /* 0: no hold */
    }
    dlock_mutex_unlock(&sessions->mutex);
    if (slot != NULL)
        return DLOCK_OK;
    postgres_hang_up(conn);
    return dlock_fail(DLOCK_NOMEM, "no memory for a session");
}

/* The claim's slot, with the mutex held; NULL: it has none. */
static struct slot *find(struct postgres_sessions *sessions, const dlock_claim *claim)
{
    struct slot *slot;

    if (claim->note == 0 || claim->note > sessions->slot_count)
        return NULL;
    slot = &sessions->slots[claim->note - 1];
    return slot->conn != NULL && strcmp(slot->token, claim->token) == 0 ? slot : NULL;
}

struct postgres_conn *postgres_session_end(struct postgres_sessions *sessions,
                                           const dlock_claim *claim)
{
    struct postgres_conn *conn = NULL;
    struct slot *slot;

    dlock_mutex_lock(&sessions->mutex);
    slot = find(sessions, claim);
    if (slot != NULL) {
        conn = slot->conn;
        slot->conn = NULL;
    }
    dlock_mutex_unlock(&sessions->mutex);
    if (conn != NULL && postgres_is_gone(conn)) {
        postgres_hang_up(conn);
        conn = NULL;
    }
    return conn;
}

dlock_status postgres_session_probe(struct postgres_sessions *sessions,
                                    const dlock_claim *claim)
{
    dlock_status st = DLOCK_LOST;
    struct slot *slot;

    dlock_mutex_lock(&sessions->mutex);
    slot = find(sessions, claim);
    if (slot != NULL && !postgres_is_gone(slot->conn))
        st = DLOCK_OK;
    dlock_mutex_unlock(&sessions->mutex);
    return st;
}

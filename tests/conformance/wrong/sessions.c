/* SPDX-License-Identifier: MIT */
/* sessions.c -- locks of PostgreSQL whose sessions or rows outlive them. */
#include "lock/stores/postgres_session.h"
#include "tests/conformance/wrong.h"

static const struct postgres_question SESSIONS_TRY = {
    {"wrong_try",
     "SELECT pg_try_advisory_lock(hashtextextended(encode($1, 'escape'), 0))",
     "b"},
    .shape = {.kind = POSTGRES_BOOL}};
static const struct postgres_question SESSIONS_UNLOCK = {
    {"wrong_unlock",
     "SELECT pg_advisory_unlock(hashtextextended(encode($1, 'escape'), 0))",
     "b"},
    .shape = {.kind = POSTGRES_BOOL}};

static dlock_status unlocks_another_session_release(void *sessions, const dlock_claim *claim)
{
    const char *values[] = {claim->name};

    return postgres_pool_ask(postgres_sessions_pool(sessions), &SESSIONS_UNLOCK, values,
                             claim->give_up_ns, NULL);
}

/* An unlock on any connection of the pool, whose answer is not checked. */
void wrong_unlocks_another_session(dlock_variant *it)
{
    it->release = unlocks_another_session_release;
}

static dlock_status gives_back_its_session_acquire(void *sessions, dlock_claim *claim)
{
    const char *values[] = {claim->name};
    struct postgres_answer answer;
    dlock_status st = postgres_pool_ask(postgres_sessions_pool(sessions), &SESSIONS_TRY, values,
                                        claim->give_up_ns, &answer);

    return st == DLOCK_OK && !answer.is_true ? DLOCK_BUSY : st;
}

static dlock_status sessions_probe_nothing(void *sessions, const dlock_claim *claim)
{
    (void)sessions;
    (void)claim;
    return DLOCK_OK;
}

static dlock_status gives_back_its_session_release(void *sessions, const dlock_claim *claim)
{
    const char *values[] = {claim->name};
    struct postgres_answer answer;
    dlock_status st = postgres_pool_ask(postgres_sessions_pool(sessions), &SESSIONS_UNLOCK,
                                        values, claim->give_up_ns, &answer);

    return st == DLOCK_OK && !answer.is_true ? DLOCK_LOST : st;
}

/* A session lock whose connection goes back to the pool: the next user of the connection has the
 * lock too. */
void wrong_gives_back_its_session(dlock_variant *it)
{
    it->try_acquire = gives_back_its_session_acquire;
    it->probe = sessions_probe_nothing;
    it->release = gives_back_its_session_release;
}

/* A session lock that does not tell its holder when the session has ended. */
void wrong_never_looks_at_its_session(dlock_variant *it)
{
    it->probe = sessions_probe_nothing;
}

static const struct postgres_question SESSIONS_LOCK = {
    {"wrong_lock",
     "SELECT pg_advisory_lock(hashtextextended(encode($1, 'escape'), 0))",
     "b"},
    .shape = {.kind = POSTGRES_VOID}, .may_wait = true};

static dlock_status trusts_its_refusal_acquire(void *state, dlock_claim *claim)
{
    bool waits = claim->store_until_ns != 0;
    const char *values[] = {claim->name};
    struct postgres_conn *conn = NULL;
    struct postgres_answer answer;
    dlock_status st = postgres_take(postgres_sessions_pool(state), claim->give_up_ns, &conn);

    if (st == DLOCK_OK && waits)
        st = postgres_limit_wait(conn, claim->store_until_ns, claim->give_up_ns);
    if (st == DLOCK_OK)
        st = postgres_ask(conn, waits ? &SESSIONS_LOCK : &SESSIONS_TRY, values,
                          claim->give_up_ns, &answer);
    if (st == DLOCK_OK && !waits && !answer.is_true)
        st = DLOCK_BUSY;
    if (st == DLOCK_OK)
        return postgres_session_keep(state, claim, conn);
    postgres_give(postgres_sessions_pool(state), conn);
    return st;
}

/* A session lock that is granted at the moment in which its wait ends in an error: the connection
 * goes back to the pool with the lock. */
void wrong_trusts_its_refusal(dlock_variant *it)
{
    it->try_acquire = trusts_its_refusal_acquire;
}

static const struct postgres_question SESSIONS_COMMIT = {.statement.sql = "COMMIT"};

static dlock_status leaves_its_row_release(void *sessions, const dlock_claim *claim)
{
    struct postgres_conn *conn = postgres_session_end(sessions, claim);
    dlock_status st;

    if (conn == NULL)
        return DLOCK_LOST;
    st = postgres_ask(conn, &SESSIONS_COMMIT, NULL, claim->give_up_ns, NULL);
    postgres_give(postgres_sessions_pool(sessions), conn);
    return st;
}

/* A row stays for each name that was ever locked. */
void wrong_leaves_its_row(dlock_variant *it)
{
    it->release = leaves_its_row_release;
}

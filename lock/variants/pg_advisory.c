/* SPDX-License-Identifier: MIT */
/* pg_advisory.c -- a session advisory lock of PostgreSQL: no table, no expiry.
 *
 * Promises    one holder for as long as its connection lives; free again as soon as the
 *             server sees the end of the connection, whatever happened to the holder.
 * Breaks      a connection that is reset while its holder works: the server frees the
 *             lock at once, the holder is told up to a tenth of a second later, and its
 *             writes go over another connection.  If the network is silent, the holder is
 *             told after about 11 s, and the server frees the lock after 25 to 30 s, unless
 *             a pooler is between them, whose keepalives decide.  A failover.
 *             A pooler that shares sessions, which opening refuses.
 * Described   PostgreSQL's manual, "Advisory Locks".
 *
 * A process that stops keeps its lock: the kernel answers for it, so others wait, for
 * ever if it never goes on.  If the holder's whole machine or its network is silent, the
 * server ends the connection, and frees the lock, after about 30 s
 * (postgres_question.c).  A child made by fork() that lives on without exec() keeps
 * the connection open after its parent has died.
 *
 * The server knows the lock by 64 bits: hashtextextended(name, 0), so that SQL can take
 * the same lock; bytes that are no text are escaped as encode(name, 'escape') does.
 * Two names with the same 64 bits exclude each other, which is safe.  But a thread that
 * holds one of them and waits for the other waits for itself.  Among a million names
 * the chance of two such names is one in 37 million.  Each hold has a connection of its
 * own, because a session may take its own advisory lock again.  Each waiter, which
 * waits in the server, has one too. */
#include "lock/stores/postgres_session.h"

static const struct postgres_question TRY = {
    {"try",
     "SELECT pg_try_advisory_lock(hashtextextended(encode($1, 'escape'), 0))",
     "b"},
    .shape = {.kind = POSTGRES_BOOL}};
static const struct postgres_question LOCK = {
    {"lock",
     "SELECT pg_advisory_lock(hashtextextended(encode($1, 'escape'), 0))",
     "b"},
    .shape = {.kind = POSTGRES_VOID}, .may_wait = true};
static const struct postgres_question UNLOCK = {
    {"unlock",
     "SELECT pg_advisory_unlock(hashtextextended(encode($1, 'escape'), 0))",
     "b"},
    .shape = {.kind = POSTGRES_BOOL}};

/* The server keeps the 64 bits as two halves. */
#define THIS_LOCK                                                                      \
    "locktype = 'advisory' AND objsubid = 1 AND database = (SELECT oid FROM"           \
    " pg_database WHERE datname = current_database()) AND (classid::bigint << 32 |"    \
    " objid::bigint) = hashtextextended(encode($1, 'escape'), 0)"

static const struct postgres_question INSPECT = {
    {"inspect",
     "SELECT format('%s never %s %s 0 0 backend %s', count(*) FILTER (WHERE granted),"
     " count(*) FILTER (WHERE granted), count(*) FILTER (WHERE NOT granted),"
     " max(pid) FILTER (WHERE granted)) FROM pg_locks WHERE " THIS_LOCK,
     "b"},
    .shape = {.kind = POSTGRES_TEXT}};

static const struct postgres_question FORCE = {
    {"force",
     POSTGRES_END_SESSIONS("SELECT pid FROM pg_locks WHERE granted AND " THIS_LOCK),
     "b"},
    .shape = POSTGRES_ENDED};

static dlock_status open_state(const dlock_options *opts, void **out)
{
    struct postgres_sessions *sessions = NULL;
    dlock_status st = postgres_sessions_open(&sessions, opts);

    *out = sessions;
    return st;
}

static void close_state(void *state)
{
    postgres_sessions_close(state);
}

static dlock_status check(void *state)
{
    return postgres_ping(postgres_sessions_pool(state));
}

/* After a refusal, check that the session does not hold the lock all the same.  If the
 * wait times out at the moment of the grant, the server answers an error, but the
 * session lock survives the error.  Until the lock is given back, others are refused. */
static bool is_free_of(struct postgres_conn *conn, dlock_claim *claim)
{
    const char *values[] = {claim->name};
    struct postgres_answer answer;
    bool is_free;

    if (claim->store_until_ns == 0)
        return true; /* pg_try_advisory_lock() answered false */
    is_free =
        postgres_ask(conn, &UNLOCK, values, claim->give_up_ns, &answer) == DLOCK_OK;
    claim->gave_back = !is_free || answer.is_true;
    if (!is_free)
        (void)dlock_fail(DLOCK_BUSY, "%s", "");
    return is_free;
}

static dlock_status try_acquire(void *state, dlock_claim *claim)
{
    struct postgres_pool *pool = postgres_sessions_pool(state);
    const char *values[] = {claim->name};
    struct postgres_conn *conn = NULL;
    struct postgres_answer answer;
    dlock_status st;

    claim->note = 0;
    st = postgres_take(pool, claim->give_up_ns, &conn);
    if (st != DLOCK_OK)
        return st;
    if (claim->store_until_ns == 0) {
        st = postgres_ask(conn, &TRY, values, claim->give_up_ns, &answer);
        if (st == DLOCK_OK && !answer.is_true)
            st = DLOCK_BUSY;
    } else {
        st = postgres_limit_wait(conn, claim->store_until_ns, claim->give_up_ns);
        if (st == DLOCK_OK) {
            st = postgres_ask(conn, &LOCK, values, claim->give_up_ns, NULL);
            claim->waited = st == DLOCK_BUSY;
        }
    }
    if (st == DLOCK_OK)
        return postgres_session_keep(state, claim, conn);
    if (st == DLOCK_BUSY && is_free_of(conn, claim))
        postgres_give(pool, conn);
    else
        postgres_hang_up(conn);
    return st;
}

static dlock_status probe(void *state, const dlock_claim *claim)
{
    return postgres_session_probe(state, claim);
}

static dlock_status release(void *state, const dlock_claim *claim)
{
    const char *values[] = {claim->name};
    struct postgres_conn *conn = postgres_session_end(state, claim);
    struct postgres_answer answer;
    dlock_status st;

    if (conn == NULL)
        return DLOCK_LOST;
    st = postgres_ask(conn, &UNLOCK, values, claim->give_up_ns, &answer);
    if (st == DLOCK_OK && answer.is_true) {
        postgres_give(postgres_sessions_pool(state), conn);
        return DLOCK_OK;
    }
    postgres_hang_up(conn);
    return st == DLOCK_OK ? DLOCK_LOST : st;
}

static dlock_status inspect(void *state, const char *name, dlock_info *out)
{
    return postgres_inspect(postgres_sessions_pool(state), &INSPECT, name, out);
}

static dlock_status force(void *state, const char *name)
{
    return postgres_force(postgres_sessions_pool(state), &FORCE, name);
}

extern const dlock_variant dlock_variant_pg_advisory;

const dlock_variant dlock_variant_pg_advisory = {
    .info =
        {
            .name = "pg-advisory",
            .store = "postgresql",
            .promises = "one holder while its connection lives; free when the server sees its end",
            .breaks = "a connection that breaks while its holder works on; a fail-over",
            .source = "PostgreSQL's session advisory locks",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_OWNED |
                    DLOCK_CAP_SESSION,
        },
    .open = open_state,
    .close = close_state,
    .check = check,
    .try_acquire = try_acquire,
    .probe = probe,
    .release = release,
    .inspect = inspect,
    .force = force,
};

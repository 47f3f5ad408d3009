/* SPDX-License-Identifier: MIT */
/* pg_row.c -- SELECT ... FOR UPDATE on the lock's row, in a transaction of its own.
 *
 * Promises    one holder for as long as its connection lives; free again as soon as the
 *             server sees the end of the connection, whatever happened to the holder.
 *             Waiters wait in the database.
 * Breaks      a connection that is reset while its holder works: the server frees the
 *             row at once, the holder is told up to a tenth of a second later, and its
 *             writes go over another connection.  If the network is silent, the holder is
 *             told after about 11 s, and the server frees the row after 25 to 30 s, unless
 *             a pooler is between them, whose keepalives decide.  A failover.
 * Described   the articles' exclusive lock, `for update` and COMMIT.
 *
 * A stopped process keeps its lock, because its kernel still answers for the
 * connection.  So others wait, for ever if it never goes on.  If the holder's whole
 * machine or its network is silent, the server ends the connection, and frees the row,
 * after about 30 s (postgres_question.c).  A child made by fork()
 * that lives on without exec() keeps the connection open after its parent has died.  A
 * long transaction prevents vacuum from removing dead rows in the whole database, so
 * this lock is for short work.
 *
 * The row is inserted if it does not exist, and the transaction that releases the lock
 * deletes it, so no row of a name stays.  A waiter then finds no row and tries again.
 * A holder that dies leaves its row behind, which the next holder of the name
 * deletes. */
#include "lock/stores/postgres_session.h"

/* Runs outside the transaction, because a row inserted inside would block the inserts of other
 * sessions.  An INSERT waits for a transaction that has deleted the row, so the statement inserts
 * only while it sees no row. */
static const struct postgres_question MAKE = {
    {"make",
     "INSERT INTO dlock_row (name) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM dlock_row"
     " WHERE name = $1) ON CONFLICT (name) DO NOTHING",
     "b"},
    .may_wait = true};
static const struct postgres_question BEGIN = {.statement.sql = "BEGIN"};
static const struct postgres_question TRY = {
    {"try",
     "SELECT 1 FROM dlock_row WHERE name = $1 FOR UPDATE SKIP LOCKED",
     "b"},
    .shape = POSTGRES_ONE_IF_ANY,
    .may_wait = true};
static const struct postgres_question LOCK = {
    {"lock",
     "SELECT 1 FROM dlock_row WHERE name = $1 FOR UPDATE",
     "b"},
    .shape = POSTGRES_ONE_IF_ANY,
    .may_wait = true};
static const struct postgres_question REMOVE = {
    {"remove",
     "DELETE FROM dlock_row WHERE name = $1 RETURNING 1",
     "b"},
    .shape = POSTGRES_ONE_IF_ANY,
    .may_wait = true};
static const struct postgres_question COMMIT = {.statement.sql = "COMMIT"};
static const struct postgres_question ROLLBACK = {.statement.sql = "ROLLBACK"};

/* The holder is the transaction whose number is in the row's header, while it runs.
 * The first waiter waits for this transaction, and the other waiters wait for the
 * first. */
#define HOLDER                                                                         \
    "SELECT l.pid FROM dlock_row AS r JOIN pg_locks AS l ON l.locktype ="              \
    " 'transactionid' AND l.transactionid = r.xmax AND l.granted WHERE r.name = $1"

static const struct postgres_question INSPECT = {
    {"inspect",
     "WITH holder AS (" HOLDER "), waiter AS (SELECT count(DISTINCT l.pid) AS n FROM"
     " dlock_row AS r JOIN pg_locks AS l ON NOT l.granted AND (l.locktype ="
     " 'transactionid' AND l.transactionid = r.xmax OR l.locktype = 'tuple' AND l.relation"
     " = 'dlock_row'::regclass AND l.page = (r.ctid::text::point)[0]::int AND l.tuple ="
     " (r.ctid::text::point)[1]::int) WHERE r.name = $1)"
     " SELECT format('%s never %s %s 0 0 backend %s', (SELECT count(*) FROM holder),"
     " (SELECT count(*) FROM holder), (SELECT n FROM waiter), (SELECT pid FROM holder))",
     "b"},
    .shape = {.kind = POSTGRES_TEXT}};

static const struct postgres_question FORCE = {
    {"force",
     POSTGRES_END_SESSIONS(HOLDER),
     "b"},
    .shape = POSTGRES_ENDED};

static dlock_status open_state(const dlock_options *opts, void **out)
{
    struct postgres_sessions *sessions = NULL;
    dlock_status st = postgres_sessions_open(&sessions, opts);

    if (st == DLOCK_OK)
        st = postgres_check_rights(postgres_sessions_pool(sessions), "dlock_row");
    if (st != DLOCK_OK) {
        postgres_sessions_close(sessions);
        sessions = NULL;
    }
    *out = sessions;
    return st;
}

static void close_state(void *state)
{
    postgres_sessions_close(state);
}

static dlock_status check(void *state)
{
    return postgres_check_rights(postgres_sessions_pool(state), "dlock_row");
}

/* Lock the row in the open transaction.  OK: it is locked. */
static dlock_status lock_row(struct postgres_conn *conn, dlock_claim *claim)
{
    const char *values[] = {claim->name};
    struct postgres_answer answer = {0};
    dlock_status st = DLOCK_OK;

    if (claim->store_until_ns != 0)
        st = postgres_limit_wait(conn, claim->store_until_ns, claim->give_up_ns);
    if (st == DLOCK_OK)
        st = postgres_ask(conn, &MAKE, values, claim->give_up_ns, NULL);
    if (st == DLOCK_OK)
        st = postgres_ask(conn, &BEGIN, NULL, claim->give_up_ns, NULL);
    if (st == DLOCK_OK) {
        st = postgres_ask(conn, claim->store_until_ns != 0 ? &LOCK : &TRY, values,
                          claim->give_up_ns, &answer);
        claim->waited = st == DLOCK_BUSY; /* OK without a row: another session deleted the row,
                                           * so the attempt did not wait */
    }
    return st == DLOCK_OK && !answer.has_row ? DLOCK_BUSY : st;
}

static dlock_status try_acquire(void *state, dlock_claim *claim)
{
    struct postgres_pool *pool = postgres_sessions_pool(state);
    struct postgres_conn *conn = NULL;
    dlock_status st;

    claim->note = 0;
    st = postgres_take(pool, claim->give_up_ns, &conn);
    if (st != DLOCK_OK)
        return st;
    st = lock_row(conn, claim);
    if (st == DLOCK_OK)
        return postgres_session_keep(state, claim, conn);
    /* If the row may be locked, end the transaction, or else the connection. */
    if (st == DLOCK_BUSY && postgres_is_in_transaction(conn) &&
        postgres_ask(conn, &ROLLBACK, NULL, claim->give_up_ns, NULL) != DLOCK_OK)
        (void)dlock_fail(DLOCK_OK, "%s", "");
    postgres_give(pool, conn);
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
    st = postgres_ask(conn, &REMOVE, values, claim->give_up_ns, &answer);
    if (st == DLOCK_OK) {
        st = postgres_ask(conn, &COMMIT, NULL, claim->give_up_ns, NULL);
        if (st == DLOCK_IO) /* the lock ended with its session */
            st = DLOCK_UNKNOWN;
    }
    if (st == DLOCK_OK && answer.has_row) {
        postgres_give(postgres_sessions_pool(state), conn);
        return DLOCK_OK;
    }
    postgres_hang_up(conn); /* which frees the row too */
    if (st == DLOCK_BUSY)
        return dlock_fail(DLOCK_IO, "the table of rows was locked against the delete");
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

extern const dlock_variant dlock_variant_pg_row;

const dlock_variant dlock_variant_pg_row = {
    .info =
        {
            .name = "pg-row",
            .store = "postgresql",
            .promises = "one holder while its connection lives; waiters wait in the database",
            .breaks = "a connection that breaks while its holder works on; a fail-over",
            .source = "the articles' SELECT ... FOR UPDATE",
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

/* SPDX-License-Identifier: MIT */
/* pg_unique.c -- a row in a table whose primary key is the name of the lock.
 *
 * Promises    one holder, who may lock again; frees only its own; the watchdog renews
 *             the lease while it works.  The statement that finds an expired row takes
 *             it over; an expired row whose name is not used again is deleted later.
 * Breaks      when the whole process stops for longer than the lease, and then goes on
 *             writing; when the clock of the database jumps; when a failover loses the
 *             row.  An insert that was not answered may still run for as long as the
 *             command timeout, after its clean-up: then the lock stays held for a lease.
 * Described   the articles' table with a unique key, with the owner, expiry and timed
 *             clean-up that they ask for.
 *
 * The expiry is counted by the database's clock alone, so clocks of clients that
 * disagree do no harm.  Waiters poll.  Each hold and release waits for the disk: the row
 * must survive a crash of the server as long as its lease runs. */
#include <stdio.h>

#include "lock/stores/postgres_pool.h"

enum {
    REAP_EVERY_MS = 1000,
    GRANTED = -1, /* as ACQUIRE answers */
};

/* Level 1.  Answers -1 if the lock is granted, or how long another owner holds it.  If
 * the same owner sends it again, only the expiry changes.  The outer query sees the
 * table as it was before the statement; if a holder has come since, there is no row,
 * and the answer is NULL. */
static const struct postgres_question ACQUIRE = {
    {"acquire",
     "WITH taken AS ("
     "INSERT INTO dlock_lock AS l (name, owner, hold_count, expires_at)"
     " VALUES ($1, $2, 1, clock_timestamp() + $3::int * interval '1 ms')"
     " ON CONFLICT (name) DO UPDATE SET owner = excluded.owner,"
     " hold_count = CASE WHEN l.owner = excluded.owner"
     " AND l.expires_at > clock_timestamp() THEN l.hold_count ELSE 1 END,"
     " expires_at = clock_timestamp() + $3::int * interval '1 ms'"
     " WHERE l.owner = excluded.owner OR l.expires_at <= clock_timestamp()"
     " RETURNING 1)"
     " SELECT CASE WHEN EXISTS (SELECT FROM taken) THEN -1 ELSE (SELECT greatest(0,"
     " ceil(extract(epoch FROM expires_at - clock_timestamp()) * 1000))::bigint"
     " FROM dlock_lock WHERE name = $1) END",
     "buu"},
    .shape = {
        .kind = POSTGRES_INT8, .may_be_null = true, .least = GRANTED, .most = POSTGRES_MS_MOST}};

/* Neither statement makes the end earlier: see lua/reentrant_renew.lua. */
static const struct postgres_question ACQUIRE_AGAIN = {
    {"acquire_again",
     "UPDATE dlock_lock SET hold_count = greatest(hold_count, $4::int),"
     " expires_at = greatest(expires_at,"
     " clock_timestamp() + $3::int * interval '1 ms')"
     " WHERE name = $1 AND owner = $2 AND expires_at > clock_timestamp()"
     " AND hold_count >= $4::int - 1 RETURNING 1",
     "buuu"},
    .shape = POSTGRES_ONE_IF_ANY};

static const struct postgres_question RENEW = {
    {"renew",
     "UPDATE dlock_lock SET expires_at = greatest(expires_at,"
     " clock_timestamp() + $3::int * interval '1 ms')"
     " WHERE name = $1 AND owner = $2 AND expires_at > clock_timestamp() RETURNING 1",
     "buu"},
    .shape = POSTGRES_ONE_IF_ANY};

static const struct postgres_question RENEW_ALL = POSTGRES_RENEW_ALL(
    "dlock_lock", "name", "l.owner = a.owner AND l.expires_at > clock_timestamp()",
    "greatest(l.expires_at, clock_timestamp() + a.lease)");

/* Level 1.  Also deletes an expired row of this owner, but does not count it as a
 * release. */
static const struct postgres_question RELEASE = {
    {"release",
     "DELETE FROM dlock_lock WHERE name = $1 AND owner = $2"
     " RETURNING expires_at > clock_timestamp()",
     "bu"},
    .shape = {.kind = POSTGRES_BOOL, .may_be_absent = true}};

static const struct postgres_question RELEASE_LEVEL = {
    {"release_level",
     "UPDATE dlock_lock SET hold_count = least(hold_count, $3::int)"
     " WHERE name = $1 AND owner = $2 AND expires_at > clock_timestamp() RETURNING true",
     "buu"},
    .shape = {.kind = POSTGRES_BOOL, .may_be_absent = true}};

static const struct postgres_question REAP = {
    .statement.sql =
        "DELETE FROM dlock_lock WHERE name IN (SELECT name FROM dlock_lock"
        " WHERE expires_at <= clock_timestamp() ORDER BY expires_at LIMIT 100"
        " FOR UPDATE SKIP LOCKED)"};

static const struct postgres_question INSPECT = {
    {"inspect",
     "SELECT format('1 %s %s -1 0 0 %s', greatest(0, ceil(extract(epoch FROM"
     " expires_at - clock_timestamp()) * 1000))::bigint, hold_count, owner)"
     " FROM dlock_lock WHERE name = $1 AND expires_at > clock_timestamp()",
     "b"},
    .shape = {.kind = POSTGRES_TEXT, .may_be_absent = true}};

static const struct postgres_question FORCE = {
    {"force",
     "WITH freed AS (DELETE FROM dlock_lock WHERE name = $1"
     " RETURNING expires_at > clock_timestamp() AS held)"
     " SELECT count(*) FROM freed WHERE held",
     "b"},
    .shape = POSTGRES_COUNT};

static dlock_status open_state(const dlock_options *opts, void **out)
{
    struct postgres_pool *pool = NULL;
    dlock_status st = postgres_pool_open(&pool, opts);

    if (st == DLOCK_OK)
        st = postgres_check_rights(pool, "dlock_lock");
    if (st != DLOCK_OK) {
        postgres_pool_close(pool);
        pool = NULL;
    }
    *out = pool;
    return st;
}

static void close_state(void *state)
{
    postgres_pool_close(state);
}

static dlock_status check(void *state)
{
    return postgres_check_rights(state, "dlock_lock");
}

static dlock_status acquire_again(struct postgres_pool *pool, const dlock_claim *claim,
                                  const char *lease)
{
    struct postgres_answer answer;
    char level[12];
    const char *values[] = {claim->name, claim->owner, lease, level};
    dlock_status st;

    snprintf(level, sizeof(level), "%d", claim->level);
    st = postgres_pool_ask(pool, &ACQUIRE_AGAIN, values, claim->give_up_ns, &answer);
    return st == DLOCK_OK && !answer.has_row ? DLOCK_LOST : st;
}

static dlock_status try_acquire(void *state, dlock_claim *claim)
{
    struct postgres_answer answer;
    char lease[12];
    const char *values[] = {claim->name, claim->owner, lease};
    dlock_status st;

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    if (claim->level > 1)
        return acquire_again(state, claim, lease);
    st = postgres_pool_ask(state, &ACQUIRE, values, claim->give_up_ns, &answer);
    if (st != DLOCK_OK)
        return st;
    if (!answer.is_null && answer.number == GRANTED)
        return DLOCK_OK;
    if (!answer.is_null)
        claim->free_in_ms = answer.number;
    return DLOCK_BUSY;
}

static dlock_status renew(void *state, const dlock_claim *claim)
{
    struct postgres_answer answer;
    char lease[12];
    const char *values[] = {claim->name, claim->owner, lease};
    dlock_status st;

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    st = postgres_pool_ask(state, &RENEW, values, claim->give_up_ns, &answer);
    return st == DLOCK_OK && !answer.has_row ? DLOCK_LOST : st;
}

static void pg_unique_renew_all(void *state, const dlock_claim *claims, size_t count,
                                dlock_status *statuses)
{
    postgres_renew_all(state, &RENEW_ALL, renew, claims, count, statuses);
}

/* Delete expired rows of dead holders whose names are not used any more: one statement
 * a second, for any number of threads.  A failure does not concern the caller. */
static void reap(struct postgres_pool *pool)
{
    if (postgres_is_time_to_reap(pool, REAP_EVERY_MS) &&
        postgres_pool_ask(pool, &REAP, NULL, INT64_MAX, NULL) != DLOCK_OK)
        (void)dlock_fail(DLOCK_OK, "%s", ""); /* the release itself did not fail */
}

static dlock_status release(void *state, const dlock_claim *claim)
{
    struct postgres_answer answer;
    char kept[12];
    const char *values[] = {claim->name, claim->owner, kept};
    dlock_status st;

    snprintf(kept, sizeof(kept), "%d", claim->level - 1);
    st = postgres_pool_ask(state, claim->level > 1 ? &RELEASE_LEVEL : &RELEASE, values,
                           claim->give_up_ns, &answer);
    if (st != DLOCK_OK)
        return st;
    reap(state);
    return answer.is_true ? DLOCK_OK : DLOCK_LOST;
}

static dlock_status inspect(void *state, const char *name, dlock_info *out)
{
    return postgres_inspect(state, &INSPECT, name, out);
}

static dlock_status force(void *state, const char *name)
{
    return postgres_force(state, &FORCE, name);
}

extern const dlock_variant dlock_variant_pg_unique;

const dlock_variant dlock_variant_pg_unique = {
    .info =
        {
            .name = "pg-unique",
            .store = "postgresql",
            .promises = "one holder, re-entrant; renewed while its process runs",
            .breaks = "a process that stops beyond its lease; a database whose clock jumps; a "
                      "fail-over that loses the row",
            .source = "the articles' table with a unique key",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_OWNED | DLOCK_CAP_RENEW | DLOCK_CAP_REENTRANT |
                    DLOCK_CAP_ATOMIC,
        },
    .drift_per_mille = 1,
    .watched = true,
    .open = open_state,
    .close = close_state,
    .check = check,
    .try_acquire = try_acquire,
    .renew = renew,
    .renew_all = pg_unique_renew_all,
    .release = release,
    .inspect = inspect,
    .force = force,
};

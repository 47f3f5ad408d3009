/* SPDX-License-Identifier: MIT */
/* pg_fair.c -- a table of the waiters in the order of arrival; the first may enter.
 *
 * Promises    one holder; waiters are served in the order in which they came; frees only
 *             its own; the watchdog renews the lease while it works.
 * Breaks      when the whole process stops for longer than the lease, and then goes on
 *             writing; when the clock of the database jumps; when a failover loses the
 *             queue.  A waiter that stops for longer than WAITER_MS loses its place,
 *             and a waiter that dies delays those behind it for as long.  An acquire
 *             that was not answered may still run after its clean-up: then the lock
 *             stays held for a lease.
 * Described   the articles' second table, sorted by time, for a lock that is not unfair.
 *
 * The holder stays first in the queue until it releases or its lease runs out.  An
 * acquire that does not wait gets the lock only if it has no holder and no waiters.
 * Waiters poll, and each poll extends the expiry of their row.  All expiries are
 * counted by the database's clock alone. */
#include <stdio.h>

#include "lock/stores/postgres_pool.h"

/* The expiry of a waiter's row.  Ten of the longest pauses between two polls are 500
 * ms.  A busy machine needs more than that, and a waiter behind a dead one is delayed
 * by the whole time. */
#define WAITER_MS "2000"

enum {
    REAP_EVERY_MS = 1000,
    GRANTED = -1, /* as dlock_queue_try() answers */
};

static const struct postgres_question TRY = {
    {"try",
     "SELECT dlock_queue_try($1, $2, $3, $4::int, $5::int, $6::boolean)",
     "buuuuu"},
    .shape = {.kind = POSTGRES_INT8, .least = GRANTED, .most = POSTGRES_MS_MOST}};

static const struct postgres_question RENEW = {
    {"renew",
     "UPDATE dlock_queue SET expires_at = clock_timestamp() + $4::int * interval '1 ms'"
     " WHERE name = $1 AND owner = $2 AND token = $3 AND granted"
     " AND expires_at > clock_timestamp() RETURNING 1",
     "buuu"},
    .shape = POSTGRES_ONE_IF_ANY};

static const struct postgres_question RENEW_ALL = POSTGRES_RENEW_ALL(
    "dlock_queue", "ticket",
    "l.owner = a.owner AND l.token = a.token AND l.granted AND l.expires_at > clock_timestamp()",
    "clock_timestamp() + a.lease");

/* Also deletes a place in the queue that an unanswered attempt may have left. */
static const struct postgres_question RELEASE = {
    {"release",
     "DELETE FROM dlock_queue WHERE name = $1 AND owner = $2"
     " AND (token = $3 OR NOT granted)"
     " RETURNING granted AND expires_at > clock_timestamp()",
     "buu"},
    .shape = {.kind = POSTGRES_BOOL, .may_be_absent = true}};

static const struct postgres_question REAP = {
    .statement.sql =
        "DELETE FROM dlock_queue WHERE ticket IN (SELECT ticket FROM dlock_queue"
        " WHERE expires_at <= clock_timestamp() ORDER BY ticket LIMIT 100"
        " FOR UPDATE SKIP LOCKED)"};

#define MS_LEFT                                                                        \
    "greatest(0, ceil(extract(epoch FROM max(expires_at) FILTER (WHERE granted)"       \
    " - clock_timestamp()) * 1000))::bigint"

static const struct postgres_question INSPECT = {
    {"inspect",
     "SELECT format('%s %s %s %s 0 0 %s', count(*) FILTER (WHERE granted),"
     " coalesce(" MS_LEFT ", 0), count(*) FILTER (WHERE granted), count(*) FILTER (WHERE"
     " NOT granted), max(owner) FILTER (WHERE granted)) FROM dlock_queue"
     " WHERE name = $1 AND expires_at > clock_timestamp()",
     "b"},
    .shape = {.kind = POSTGRES_TEXT}};

static const struct postgres_question FORCE = {
    {"force",
     "WITH freed AS (DELETE FROM dlock_queue WHERE name = $1 AND granted"
     " RETURNING expires_at > clock_timestamp() AS held)"
     " SELECT count(*) FROM freed WHERE held",
     "b"},
    .shape = POSTGRES_COUNT};

static dlock_status open_state(const dlock_options *opts, void **out)
{
    struct postgres_pool *pool = NULL;
    dlock_status st = postgres_pool_open(&pool, opts);

    if (st == DLOCK_OK)
        st = postgres_check_rights(pool, "dlock_queue");
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
    return postgres_check_rights(state, "dlock_queue");
}

static dlock_status try_acquire(void *state, dlock_claim *claim)
{
    struct postgres_answer answer;
    char lease[12];
    const char *values[] = {
        claim->name, claim->owner, claim->token,
        lease,       WAITER_MS,    claim->wait_until_ns != 0 ? "t" : "f"};
    dlock_status st;

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    st = postgres_pool_ask(state, &TRY, values, claim->give_up_ns, &answer);
    if (st != DLOCK_OK)
        return st;
    if (answer.number == GRANTED)
        return DLOCK_OK;
    claim->free_in_ms = answer.number;
    return DLOCK_BUSY;
}

static dlock_status renew(void *state, const dlock_claim *claim)
{
    struct postgres_answer answer;
    char lease[12];
    const char *values[] = {claim->name, claim->owner, claim->token, lease};
    dlock_status st;

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    st = postgres_pool_ask(state, &RENEW, values, claim->give_up_ns, &answer);
    return st == DLOCK_OK && !answer.has_row ? DLOCK_LOST : st;
}

static void pg_fair_renew_all(void *state, const dlock_claim *claims, size_t count,
                              dlock_status *statuses)
{
    postgres_renew_all(state, &RENEW_ALL, renew, claims, count, statuses);
}

static dlock_status leave(void *state, const dlock_claim *claim, bool *held)
{
    const char *values[] = {claim->name, claim->owner, claim->token};
    struct postgres_answer answer = {0};
    dlock_status st =
        postgres_pool_ask(state, &RELEASE, values, claim->give_up_ns, &answer);

    *held = answer.is_true;
    return st;
}

/* Delete expired rows of names that are not used any more; see pg_unique.c. */
static void reap(struct postgres_pool *pool)
{
    if (postgres_is_time_to_reap(pool, REAP_EVERY_MS) &&
        postgres_pool_ask(pool, &REAP, NULL, INT64_MAX, NULL) != DLOCK_OK)
        (void)dlock_fail(DLOCK_OK, "%s", ""); /* the release itself did not fail */
}

static dlock_status release(void *state, const dlock_claim *claim)
{
    bool held = false;
    dlock_status st = leave(state, claim, &held);

    if (st != DLOCK_OK)
        return st;
    reap(state);
    return held ? DLOCK_OK : DLOCK_LOST;
}

/* If that fails, the place ends when its row expires. */
static void give_up_place(void *state, const dlock_claim *claim)
{
    bool held;

    (void)leave(state, claim, &held);
}

static dlock_status inspect(void *state, const char *name, dlock_info *out)
{
    return postgres_inspect(state, &INSPECT, name, out);
}

static dlock_status force(void *state, const char *name)
{
    return postgres_force(state, &FORCE, name);
}

extern const dlock_variant dlock_variant_pg_fair;

const dlock_variant dlock_variant_pg_fair = {
    .info =
        {
            .name = "pg-fair",
            .store = "postgresql",
            .promises = "one holder, in the order of arrival; renewed while its process runs",
            .breaks = "a process that stops beyond its lease; a database whose clock jumps; a "
                      "fail-over that loses the row",
            .source = "the articles' waiting table, sorted by time",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_OWNED | DLOCK_CAP_RENEW | DLOCK_CAP_FAIR |
                    DLOCK_CAP_ATOMIC,
        },
    .drift_per_mille = 1,
    .watched = true,
    .open = open_state,
    .close = close_state,
    .check = check,
    .try_acquire = try_acquire,
    .renew = renew,
    .renew_all = pg_fair_renew_all,
    .release = release,
    .leave = give_up_place,
    .inspect = inspect,
    .force = force,
};

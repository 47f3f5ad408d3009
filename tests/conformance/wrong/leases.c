/* SPDX-License-Identifier: MIT */
/* leases.c -- leases that end at another time than their holder believes. */
#include "lock/stores/postgres_pool.h"
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static dlock_status ignores_the_lease_acquire(void *link, dlock_claim *claim)
{
    return redis_set_first(link, claim->name, claim->token);
}

/* A lock without a lease: it never ends by itself. */
void wrong_ignores_the_lease(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = ignores_the_lease_acquire;
}

static dlock_status cuts_the_lease_to_seconds_acquire(void *link, dlock_claim *claim)
{
    int lease_ms = claim->lease_ms / 1000 * 1000;

    return redis_set_if_absent(link, claim->name, claim->token,
                               lease_ms > 0 ? lease_ms : claim->lease_ms);
}

/* EX in place of PX: the lease ends in the store before it ends for its holder. */
void wrong_cuts_the_lease_to_seconds(dlock_variant *it)
{
    wrong_be_plain(it);
    it->try_acquire = cuts_the_lease_to_seconds_acquire;
}

static dlock_status takes_the_unit_for_seconds_acquire(void *lock, dlock_claim *claim)
{
    static _Thread_local bool has_waited;
    dlock_claim longer = *claim;
    dlock_status st;

    if (has_waited)
        longer.lease_ms *= 1000;
    st = redisson_acquire(lock, &longer);
    claim->free_in_ms = longer.free_in_ms;
    has_waited = st == DLOCK_BUSY;
    return st;
}

/* A lease that is multiplied by 1000 in each attempt after the first, a mistake in the waiting
 * loop, as in RedissonMultiLock. */
void wrong_takes_the_unit_for_seconds(dlock_variant *it)
{
    it->try_acquire = takes_the_unit_for_seconds_acquire;
}

static const struct postgres_question NEVER_TAKES_OVER_INSERT = {
    {"wrong_insert",
     "INSERT INTO dlock_lock (name, owner, hold_count, expires_at)"
     " VALUES ($1, $2, 1, clock_timestamp() + interval '1 minute')"
     " ON CONFLICT (name) DO NOTHING RETURNING 1",
     "bu"},
    .shape = POSTGRES_ONE_IF_ANY};

static dlock_status never_takes_over_acquire(void *pool, dlock_claim *claim)
{
    const char *values[] = {claim->name, claim->owner};
    struct postgres_answer answer;
    dlock_status st =
        postgres_pool_ask(pool, &NEVER_TAKES_OVER_INSERT, values, claim->give_up_ns, &answer);

    return st == DLOCK_OK && !answer.has_row ? DLOCK_BUSY : st;
}

/* A row whose expiry an acquire does not read. Its expiry is a minute away, because other processes
 * would delete an ended row. */
void wrong_never_takes_over(dlock_variant *it)
{
    it->try_acquire = never_takes_over_acquire;
}

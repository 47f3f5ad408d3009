/* SPDX-License-Identifier: MIT */
/* renewals.c -- renewals that come too seldom, too late, or for a lock that is lost. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "gen/lua_scripts.h"
#include "lock/stores/postgres_pool.h"
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static const char RENEWS_AFTER_RELEASE_RENEW[] =
    "if redis.call('EXISTS', KEYS[1]) == 1"
    " and redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return 0 end"
    " if redis.call('EXISTS', KEYS[1]) == 0 then"
    " redis.call('HSET', KEYS[1], ARGV[3], 1) end"
    " return redis.call('PEXPIRE', KEYS[1], ARGV[2])";

static dlock_status renews_after_release_renew(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;

    return wrong_ask(lock->link, RENEWS_AFTER_RELEASE_RENEW, claim);
}

/* "extend or set": a renewal that arrives after the release takes the lock for an owner that does
 * not hold it. */
void wrong_renews_after_release(dlock_variant *it)
{
    it->renew = renews_after_release_renew;
}

static dlock_status renews_anybody_renew(void *link, const dlock_claim *claim)
{
    return redis_expire(link, claim->name, claim->lease_ms);
}

/* A renewal that prolongs the next holder's lease. */
void wrong_renews_anybody(dlock_variant *it)
{
    wrong_be_plain(it);
    it->renew = renews_anybody_renew;
}

static const char RENEWS_BY_ADDING_RENEW[] =
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end"
    " return redis.call('PEXPIRE', KEYS[1],"
    " redis.call('PTTL', KEYS[1]) + ARGV[2])";

static dlock_status renews_by_adding_renew(void *link, const dlock_claim *claim)
{
    return wrong_ask(link, RENEWS_BY_ADDING_RENEW, claim);
}

/* A renewal that adds its time to the lease, as those of redis-py and of redbeat #127. */
void wrong_renews_by_adding(dlock_variant *it)
{
    wrong_be_plain(it);
    it->renew = renews_by_adding_renew;
}

static const char RENEWAL_OF_ZERO_DELETES_RENEW[] =
    "if redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return 0 end"
    " return redis.call('EXPIRE', KEYS[1], math.floor(ARGV[2] / 1000))";

static dlock_status renewal_of_zero_deletes_renew(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;

    return wrong_ask(lock->link, RENEWAL_OF_ZERO_DELETES_RENEW, claim);
}

/* EXPIRE with a lease cut to seconds: with 0 it deletes and says 1, as in redis-py #4279. */
void wrong_renewal_of_zero_deletes(dlock_variant *it)
{
    it->renew = renewal_of_zero_deletes_renew;
}

static dlock_status renewal_does_nothing_renew(void *lock, const dlock_claim *claim)
{
    (void)lock;
    (void)claim;
    return DLOCK_OK;
}

/* A renewal that says OK and does nothing. */
void wrong_renewal_does_nothing(dlock_variant *it)
{
    it->renew = renewal_does_nothing_renew;
}

static dlock_status gives_up_renewing_renew(void *lock, const dlock_claim *claim)
{
    dlock_status st = redisson_renew(lock, claim);

    return dlock_is_failure(st) ? DLOCK_LOST : st;
}

/* One unanswered renewal ends all renewals, as in redisson #775. */
void wrong_gives_up_renewing(dlock_variant *it)
{
    it->renew = gives_up_renewing_renew;
}

static struct redis_talk renews_over_one_connection_talk;

static dlock_status renews_over_one_connection_renew(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    char lease[12];
    struct redis_command eval = {
        6, {"EVAL", LUA_REENTRANT_RENEW, "1", claim->name, lease, claim->owner}, REDIS_SHAPE_ANY};
    struct redis_answer answer;
    dlock_status st;

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    renews_over_one_connection_talk.link = lock->link;
    st = redis_talk_say(&renews_over_one_connection_talk, &eval, claim->give_up_ns, &answer);
    return st == DLOCK_OK && answer.integer == 0 ? DLOCK_LOST : st;
}

static void renews_over_one_connection_close(void *lock)
{
    redis_talk_end(&renews_over_one_connection_talk, false);
    redisson_close(lock);
}

/* A connection for renewals that is not opened again after it was closed, as in redisson #2515. */
void wrong_renews_over_one_connection(dlock_variant *it)
{
    it->renew = renews_over_one_connection_renew;
    it->close = renews_over_one_connection_close;
}

static dlock_status stops_renewing_after_an_error_renew(void *lock, const dlock_claim *claim)
{
    static atomic_bool stopped;
    dlock_status st = DLOCK_IO;

    if (!atomic_load(&stopped))
        st = redisson_renew(lock, claim);
    atomic_store(&stopped, dlock_is_failure(st));
    return st;
}

/* After one error nothing is renewed any more, not even a lock that is acquired later: redisson
 * #3194. */
void wrong_stops_renewing_after_an_error(dlock_variant *it)
{
    it->renew = stops_renewing_after_an_error_renew;
}

enum { RENEWS_THE_FIRST_OF_MANY_KNOWN_MAX = 32 };

static dlock_status renews_the_first_of_many_renew(void *lock, const dlock_claim *claim)
{
    /* Without a mutex, since only the thread of the watchdog uses it. */
    static char known[RENEWS_THE_FIRST_OF_MANY_KNOWN_MAX][DLOCK_NAME_MAX + 1];
    static int known_count;
    int i = 0;

    while (i < known_count && strcmp(known[i], claim->name) != 0)
        i++;
    if (i == RENEWS_THE_FIRST_OF_MANY_KNOWN_MAX)
        return DLOCK_OK;
    if (i == known_count)
        strcpy(known[known_count++], claim->name);
    return redisson_renew(lock, claim);
}

/* A table of renewals that has room for 32 locks. */
void wrong_renews_the_first_of_many(dlock_variant *it)
{
    it->renew = renews_the_first_of_many_renew;
}

static char renewals_ended[DLOCK_NAME_MAX + 1];

static dlock_status inner_release_ends_renewal_release(void *lock, const dlock_claim *claim)
{
    if (claim->level > 1)
        snprintf(renewals_ended, sizeof(renewals_ended), "%s", claim->name);
    return redisson_release(lock, claim);
}

static dlock_status inner_release_ends_renewal_renew(void *lock, const dlock_claim *claim)
{
    return strcmp(renewals_ended, claim->name) == 0 ? DLOCK_OK : redisson_renew(lock, claim);
}

/* The release of any level ends the renewals of the name. */
void wrong_inner_release_ends_renewal(dlock_variant *it)
{
    it->release = inner_release_ends_renewal_release;
    it->renew = inner_release_ends_renewal_renew;
}

static const struct postgres_question REVIVES_ITS_ROW_RENEW = {
    {"wrong_renew",
     "UPDATE dlock_lock SET expires_at = clock_timestamp() + $3::int * interval '1 ms'"
     " WHERE name = $1 AND owner = $2 RETURNING 1",
     "buu"},
    .shape = POSTGRES_ONE_IF_ANY};

static dlock_status revives_its_row_renew(void *pool, const dlock_claim *claim)
{
    struct postgres_answer answer;
    char lease[12];
    const char *values[] = {claim->name, claim->owner, lease};
    dlock_status st;

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    st = postgres_pool_ask(pool, &REVIVES_ITS_ROW_RENEW, values, claim->give_up_ns, &answer);
    return st == DLOCK_OK && !answer.has_row ? DLOCK_LOST : st;
}

/* A renewal of a row that has ended and is still there, although its holder was told that the lock
 * is lost. */
void wrong_revives_its_row(dlock_variant *it)
{
    it->renew = revives_its_row_renew;
}

/* SPDX-License-Identifier: MIT */
/* renewal_of_zero_deletes.c -- EXPIRE with a lease cut to seconds: with 0 it deletes
 * and says 1, as in redis-py #4279. */
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static const char RENEW[] =
    "if redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return 0 end"
    " return redis.call('EXPIRE', KEYS[1], math.floor(ARGV[2] / 1000))";

static dlock_status renew(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;

    return wrong_ask(lock->link, RENEW, claim);
}

void wrong_renewal_of_zero_deletes(dlock_variant *it)
{
    it->renew = renew;
}

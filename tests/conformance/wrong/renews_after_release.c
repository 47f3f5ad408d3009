/* SPDX-License-Identifier: MIT */
/* renews_after_release.c -- "extend or set": a renewal that arrives after the release takes the
 * lock for an owner that does not hold it. */
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static const char RENEW[] =
    "if redis.call('EXISTS', KEYS[1]) == 1"
    " and redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return 0 end"
    " if redis.call('EXISTS', KEYS[1]) == 0 then"
    " redis.call('HSET', KEYS[1], ARGV[3], 1) end"
    " return redis.call('PEXPIRE', KEYS[1], ARGV[2])";

static dlock_status renew(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;

    return wrong_ask(lock->link, RENEW, claim);
}

void wrong_renews_after_release(dlock_variant *it)
{
    it->renew = renew;
}

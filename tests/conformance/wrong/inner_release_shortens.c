/* SPDX-License-Identifier: MIT */
/* inner_release_shortens.c -- an inner release that cuts the lease to a second. */
#include "lock/stores/redis_single.h"
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static dlock_status release(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    dlock_status st = redisson_release(opaque, claim);

    if (st == DLOCK_OK && claim->level > 1 && claim->lease_ms > 1000)
        (void)redis_expire(lock->link, claim->name, 1000);
    return st;
}

void wrong_inner_release_shortens(dlock_variant *it)
{
    it->release = release;
}

/* SPDX-License-Identifier: MIT */
/* takes_the_unit_for_seconds.c -- a lease that is multiplied by 1000 in each attempt after the
 * first, a mistake in the waiting loop, as in RedissonMultiLock. */
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static dlock_status try_acquire(void *lock, dlock_claim *claim)
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

void wrong_takes_the_unit_for_seconds(dlock_variant *it)
{
    it->try_acquire = try_acquire;
}

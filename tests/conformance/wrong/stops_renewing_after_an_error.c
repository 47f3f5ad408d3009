/* SPDX-License-Identifier: MIT */
/* stops_renewing_after_an_error.c -- after one error nothing is renewed any more, not even a lock
 * that is acquired later: redisson #3194. */
#include <stdatomic.h>

#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static dlock_status renew(void *lock, const dlock_claim *claim)
{
    static atomic_bool stopped;
    dlock_status st = DLOCK_IO;

    if (!atomic_load(&stopped))
        st = redisson_renew(lock, claim);
    atomic_store(&stopped, dlock_is_failure(st));
    return st;
}

void wrong_stops_renewing_after_an_error(dlock_variant *it)
{
    it->renew = renew;
}

/* SPDX-License-Identifier: MIT */
/* gives_up_renewing.c -- one unanswered renewal ends all renewals, as in redisson #775. */
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static dlock_status renew(void *lock, const dlock_claim *claim)
{
    dlock_status st = redisson_renew(lock, claim);

    return dlock_is_failure(st) ? DLOCK_LOST : st;
}

void wrong_gives_up_renewing(dlock_variant *it)
{
    it->renew = renew;
}

/* SPDX-License-Identifier: MIT */
/* inner_release_frees_all.c -- levels that an acquire counts and a release does not: the first
 * release frees the lock. */
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static dlock_status release(void *lock, const dlock_claim *claim)
{
    dlock_claim all = *claim;

    all.level = 1;
    return redisson_release(lock, &all);
}

void wrong_inner_release_frees_all(dlock_variant *it)
{
    it->release = release;
}

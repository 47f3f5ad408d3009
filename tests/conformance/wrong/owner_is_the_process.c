/* SPDX-License-Identifier: MIT */
/* owner_is_the_process.c -- an owner text without the thread: the other threads of the process
 * re-enter the lock. */
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static dlock_status try_acquire(void *lock, dlock_claim *claim)
{
    dlock_claim ours = *claim;
    dlock_status st;

    ours.owner = claim->uuid;
    st = redisson_acquire(lock, &ours);
    claim->free_in_ms = ours.free_in_ms;
    return st;
}

static dlock_status renew(void *lock, const dlock_claim *claim)
{
    dlock_claim ours = *claim;

    ours.owner = claim->uuid;
    return redisson_renew(lock, &ours);
}

static dlock_status release(void *lock, const dlock_claim *claim)
{
    dlock_claim ours = *claim;

    ours.owner = claim->uuid;
    return redisson_release(lock, &ours);
}

void wrong_owner_is_the_process(dlock_variant *it)
{
    it->try_acquire = try_acquire;
    it->renew = renew;
    it->release = release;
}

/* SPDX-License-Identifier: MIT */
/* fence_counts_in_the_process.c -- a fence from a counter of the process: each process counts from
 * the beginning. */
#include "gen/lua_scripts.h"
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static dlock_status try_acquire(void *lock, dlock_claim *claim)
{
    static _Atomic uint64_t last;
    dlock_status st = redisson_acquire(lock, claim);

    if (st == DLOCK_OK && claim->level == 1)
        claim->fence = ++last;
    return st;
}

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, LUA_REENTRANT_ACQUIRE,
                         LUA_REENTRANT_RELEASE, true);
}

void wrong_fence_counts_in_the_process(dlock_variant *it)
{
    it->open = open_state;
    it->try_acquire = try_acquire;
}

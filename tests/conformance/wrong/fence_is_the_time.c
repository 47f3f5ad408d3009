/* SPDX-License-Identifier: MIT */
/* fence_is_the_time.c -- a fence from a wall clock: clocks differ, and operators set them back. */
#include "gen/lua_scripts.h"
#include "lock/process.h"
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static dlock_status try_acquire(void *lock, dlock_claim *claim)
{
    static _Atomic uint64_t calls;
    dlock_status st = redisson_acquire(lock, claim);

    if (st == DLOCK_OK)
        claim->fence = (uint64_t)dlock_process_wall_ms() * 1000 + ++calls % 1000;
    return st;
}

static dlock_status open_state(const dlock_options *opts, void **state)
{
    return redisson_open((struct redisson_lock **)state, opts, LUA_REENTRANT_ACQUIRE,
                         LUA_REENTRANT_RELEASE, true);
}

void wrong_fence_is_the_time(dlock_variant *it)
{
    it->open = open_state;
    it->try_acquire = try_acquire;
}

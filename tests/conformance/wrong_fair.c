/* SPDX-License-Identifier: MIT */
/* wrong_fair.c -- opens the lock of `fair` with another script for the acquire. */
#include "gen/lua_scripts.h"
#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

dlock_status wrong_open_fair(void **state, const dlock_options *opts, const char *acquire)
{
    return redisson_open((struct redisson_lock **)state, opts, acquire, LUA_FAIR_RELEASE, true);
}

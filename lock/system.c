/* SPDX-License-Identifier: MIT */
/* system.c -- checks that this process may use a system. */
#include "lock/system.h"

#include "base/os/fork.h"
#include "lock/status.h"

dlock_status dlock_system_check(const dlock_system *sys)
{
    if (sys == NULL)
        return dlock_fail(DLOCK_INVALID, "no system was given");
    if (sys->generation != dlock_fork_generation())
        return dlock_fail(DLOCK_INVALID, "the system belongs to the parent process");
    return DLOCK_OK;
}

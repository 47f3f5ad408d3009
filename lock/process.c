/* SPDX-License-Identifier: MIT */
/* process.c -- the program's own dlock_process, and the process that each thread
 * belongs to. */
#include "lock/process.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"

static struct dlock_process own = {
    .faults = {.mutex = DLOCK_MUTEX_INITIALIZER, .let_go = DLOCK_CONDITION_INITIALIZER}};

static _Thread_local struct dlock_process *here = &own;

struct dlock_process *dlock_process_here(void)
{
    return here;
}

void dlock_process_enter(struct dlock_process *process)
{
    here = process != NULL ? process : &own;
}

bool dlock_process_init(struct dlock_process *process)
{
    memset(process, 0, sizeof(*process));
    dlock_mutex_init(&process->faults.mutex);
    if (dlock_condition_init(&process->faults.let_go))
        return true;
    dlock_mutex_destroy(&process->faults.mutex);
    return false;
}

void dlock_process_destroy(struct dlock_process *process)
{
    dlock_condition_destroy(&process->faults.let_go);
    dlock_mutex_destroy(&process->faults.mutex);
    free(atomic_load(&process->local_names));
}

int64_t dlock_process_wall_ms(void)
{
    return dlock_clock_wall_ms() + atomic_load(&here->wall_ahead_ms);
}

void dlock_process_shift_wall(int64_t ahead_ms)
{
    atomic_store(&here->wall_ahead_ms, ahead_ms);
}

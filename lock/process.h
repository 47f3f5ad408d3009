/* SPDX-License-Identifier: MIT */
/* process.h -- what a process has beside its systems: all that the library keeps for longer
 * than a system lives, in one place.
 *
 * A program is one process, and all its threads belong to that one.  A program that
 * plays several processes, as a simulation does, makes more of them, and each of
 * its threads enters the process that it belongs to.  A system belongs to the process of the
 * thread that opened it, and so do the threads that it starts.
 *
 * Facts that only the operating system knows of a process (its number, whether it was
 * forked) are in base/os/.
 *
 * Threads     Any, but for init and destroy. */
#ifndef DLOCK_PROCESS_H
#define DLOCK_PROCESS_H

#include "lock/fault_points.h"

struct dlock_process {
    _Atomic uint64_t last_number;    /* of an owner: owner.c's                        */
    _Atomic uint64_t last_recorder;  /* record/recorder.c's                           */
    struct dlock_recorder *_Atomic fault_recorder; /* record/faults.c's; NULL: none   */
    _Atomic int64_t wall_ahead_ms;   /* what its wall clock is ahead of the machine's */
    const struct dlock_variant *stand_in; /* registry.c's; NULL: nobody               */
    atomic_bool limits_are_lifted;   /* options.c's                                   */
    void *_Atomic local_names;       /* variants/local.c's; NULL: none yet            */
    struct dlock_fault_points faults; /* fault.c's                                    */
};

/* The process of the calling thread. */
struct dlock_process *dlock_process_here(void);

/* The calling thread belongs to `process` from now on; NULL: to the program's own.  Before
 * the thread uses the library in another way. */
void dlock_process_enter(struct dlock_process *process);

/* Begin another process.  False: no memory, and nothing is to be destroyed. */
bool dlock_process_init(struct dlock_process *process);

/* End it: its systems are closed, nobody holds a name of `local` in it, and its threads use
 * the library no more. */
void dlock_process_destroy(struct dlock_process *process);

/* The wall clock of the calling thread's process, in milliseconds since 1970: as
 * dlock_clock_wall_ms(), which is the machine's. */
int64_t dlock_process_wall_ms(void);

/* For tests: from now on that clock is so far ahead of the machine's. */
void dlock_process_shift_wall(int64_t ahead_ms);

#endif /* DLOCK_PROCESS_H */

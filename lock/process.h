/* SPDX-License-Identifier: MIT */
/* process.h -- the state of a process apart from its systems: everything that the
 * library keeps for longer than a system lives.
 *
 * A program is one process, and all its threads belong to it.  A program that simulates
 * several processes makes one dlock_process for each, and every thread enters the
 * process that it belongs to.  A system belongs to the process of the thread that
 * opened it, and so do the threads that it starts.
 *
 * Facts that only the operating system knows of a process (its number, whether it was
 * forked) are in base/os/.
 *
 * Threads     Any, but for init and destroy. */
#ifndef DLOCK_PROCESS_H
#define DLOCK_PROCESS_H

#include "lock/fault_points.h"

struct dlock_process {
    _Atomic uint64_t last_number;    /* the last owner number drawn, by owner.c       */
    _Atomic uint64_t last_recorder;  /* record/recorder.c's                           */
    struct dlock_recorder *_Atomic fault_recorder; /* record/faults.c's; NULL: none   */
    _Atomic int64_t wall_ahead_ms;   /* by how much its wall clock is ahead of the
                                      * machine's                                     */
    const struct dlock_variant *stand_in; /* registry.c's; NULL: none                 */
    atomic_bool limits_are_lifted;   /* options.c's                                   */
    void *_Atomic local_names;       /* variants/local.c's; NULL: none yet            */
    struct dlock_fault_points faults; /* fault.c's                                    */
};

/* The process of the calling thread. */
struct dlock_process *dlock_process_here(void);

/* Make the calling thread belong to `process` from now on; NULL: to the program's own.
 * The thread calls this before every other function of the library. */
void dlock_process_enter(struct dlock_process *process);

/* Fill in *process as a new process.  False: no memory, and the caller need not destroy
 * it. */
bool dlock_process_init(struct dlock_process *process);

/* Free what init made.  Before that, its systems are closed, no thread holds a lock of
 * the variant `local` in it, and its threads have stopped using the library. */
void dlock_process_destroy(struct dlock_process *process);

/* The wall clock of the calling thread's process, in milliseconds since 1970: as
 * dlock_clock_wall_ms(), which is the machine's. */
int64_t dlock_process_wall_ms(void);

/* For tests: set the wall clock of the calling thread's process ahead of the machine's
 * by ahead_ms. */
void dlock_process_shift_wall(int64_t ahead_ms);

#endif /* DLOCK_PROCESS_H */

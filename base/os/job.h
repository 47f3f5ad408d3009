/* SPDX-License-Identifier: MIT */
/* job.h -- work that a fiber of a loop does.
 *
 * Ownership   A job is its maker's, and stays until it has ended.
 * Threads     That of the loop, in a turn (loop.h). */
#ifndef DLOCK_JOB_H
#define DLOCK_JOB_H

#include "base/os/fiber.h"

struct dlock_loop;

/* The work of a fiber. */
struct dlock_job {
    void (*run)(struct dlock_job *job);   /* in the fiber                                */
    void (*ended)(struct dlock_job *job); /* after it, in the loop's thread, in no fiber */
    void *local;                          /* the fiber's                                 */
    struct dlock_fiber *fiber;            /* from its start until `ended`                */
};

/* In a turn: begin the job in a fiber, after those that are ready.  False: no memory. */
bool dlock_job_start(struct dlock_loop *loop, struct dlock_job *job);

/* In a turn: hurry the job's fiber, see fiber.h. */
void dlock_job_hurry(struct dlock_job *job);

#endif /* DLOCK_JOB_H */

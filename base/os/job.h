/* SPDX-License-Identifier: MIT */
/* job.h -- a job: a function that a fiber of a loop runs.
 *
 * Ownership   The caller owns the job, and keeps it until `ended` was called.
 * Threads     Only the thread of the loop, in a turn (loop.h). */
#ifndef DLOCK_JOB_H
#define DLOCK_JOB_H

#include "base/os/fiber.h"

struct dlock_loop;

/* The work of a fiber. */
struct dlock_job {
    void (*run)(struct dlock_job *job);   /* in the fiber                                */
    void (*ended)(struct dlock_job *job); /* after `run`, in the loop's thread, outside
                                           * any fiber */
    void *local;                          /* the fiber's                                 */
    bool is_inner;                        /* the same                                    */
    struct dlock_fiber *fiber;            /* from its start until `ended`                */
};

/* Begin the job in a fiber, which runs after the fibers that are ready.  False: no
 * memory. */
bool dlock_job_start(struct dlock_loop *loop, struct dlock_job *job);

/* Hurry the job's fiber, see fiber.h. */
void dlock_job_hurry(struct dlock_job *job);

#endif /* DLOCK_JOB_H */

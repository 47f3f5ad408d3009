/* SPDX-License-Identifier: MIT */
/* task.h -- simulated threads: functions with a stack of their own, of which one runs at a time
 * on the one real thread.
 *
 * A task runs until it sleeps or pauses in a function of this file. Each task has its own copy of
 * the library's thread-local variables: the thread-local block of the program is exchanged when
 * another task runs.
 *
 * A task of a dead site never runs again. A task of a site that stands still runs when that time is
 * over. */
#ifndef SIMULATION_TASK_H
#define SIMULATION_TASK_H

#include "tests/simulation/world.h"

enum { TASKS_MAX = 96, TASK_VALUES_MAX = 8, TASK_STALL_NS = 20000,
       TASK_WHY_SIZE = 80 };

struct task {
    struct event wake; /* the end of its sleep, or its turn to run */
    struct site *site;
    void *(*run)(void *arg);
    void *arg;
    struct dlock_stack *stack;
    /* The stack on which it runs: its own, or that of a fiber of its loop. */
    struct dlock_stack *on;
    char *locals; /* its thread-local block while another task runs */
    bool is_asleep, is_woken, is_over;
    struct task *joined_by;
    struct task *next; /* in a line of tasks that wait for the same mutex or condition */
    void *values[TASK_VALUES_MAX]; /* the thread-local values of base/os/thread.h */
    int number;
    char why[TASK_WHY_SIZE]; /* the reason for its next run, if the trace is printed */
};

/* The task that runs; NULL: an event without a task runs, or there is no world yet. */
extern struct task *task_here;

/* Before the first world of a process: make the stacks. */
void tasks_prepare(void);

/* Start a task of the site, which runs soon. NULL: there are too many tasks. */
struct task *task_begin(struct site *site, void *(*run)(void *arg), void *arg);

/* A loop has switched to the stack of a fiber, or back. A task that is stopped while it runs on a
 * fiber's stack is left and entered on that stack. */
void task_note_switch(const struct dlock_stack *from, struct dlock_stack *to);

/* ---- for the task that runs ---- */

/* Sleep until task_wake() (returns true) or until the world's time `until_ns` (INT64_MAX: for
 * ever). */
bool task_sleep(int64_t until_ns);

/* End the sleep of `task`, or its next sleep; NULL is allowed. */
void task_wake(struct task *task);

/* A point at which the kernel may stop a thread. Mostly nothing happens; sometimes other tasks run
 * first, for a short or a longer time. */
void task_may_stall(void);

/* Let other tasks run for `for_ns` of world time. */
void task_pause(int64_t for_ns);

/* Above 0: the running task is not stopped, because the oracle or a recorder works inside of it. */
extern int task_held_fast;

/* A task stalls at one point in so many; and for at most so long. */
extern uint32_t task_stall_one_in;
extern int64_t task_stall_most_ns;

#endif /* SIMULATION_TASK_H */

/* SPDX-License-Identifier: MIT */
/* task.h -- simulated threads: functions with a stack of their own, of which one runs at a time
 * on the one real thread.
 *
 * A task runs until it sleeps or gives way here.  What the library keeps thread-local is
 * each task's own: the program's block of it is exchanged when another task runs.
 *
 * A task of a site that is dead never runs again; one of a site that stands still runs when
 * that is over. */
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
    struct dlock_stack *on; /* what it runs on: its own, or that of a fiber of its loop */
    char *locals; /* the thread-local block, while another task runs */
    bool is_asleep, is_woken, is_over;
    struct task *joined_by;
    struct task *next; /* in a line of those who wait for the same mutex or condition */
    void *values[TASK_VALUES_MAX]; /* of thread.h */
    int number;
    char why[TASK_WHY_SIZE]; /* it runs next, if the trace is told */
};

/* The task that runs; NULL: an event that is none, or no world yet. */
extern struct task *task_here;

/* Before the first world of a process: make the stacks. */
void tasks_prepare(void);

/* Begin a task of the site, which runs soon.  NULL: there are too many. */
struct task *task_begin(struct site *site, void *(*run)(void *arg), void *arg);

/* A loop goes to the stack of a fiber or comes back.  A task that is stopped on the fiber's is
 * left and entered there. */
void task_note_switch(const struct dlock_stack *from, struct dlock_stack *to);

/* ---- for the task that runs ---- */

/* Sleep until woken, which is true, or until the world's `until_ns` (INT64_MAX: for ever). */
bool task_sleep(int64_t until_ns);

/* End the sleep of `task`, or its next one; NULL is fine. */
void task_wake(struct task *task);

/* A place where a thread may be stopped by the kernel: mostly nothing happens, sometimes
 * others run first, for a short time or a longer one. */
void task_may_stall(void);

/* Let others run for `for_ns` of world time. */
void task_pause(int64_t for_ns);

/* As long as somebody looks at things in the middle of a task: it is not stopped. */
extern int task_held_fast;

/* How often a task that may stall does: one time in so many; and for how long at most. */
extern uint32_t task_stall_one_in;
extern int64_t task_stall_most_ns;

#endif /* SIMULATION_TASK_H */

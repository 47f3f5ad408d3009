/* SPDX-License-Identifier: MIT */
/* stack.h -- makes stacks for fibers, and switches from one stack to another.
 *
 * Only for job.c, loop.c and the simulation of the tests.
 *
 * Threads     The same thread makes, enters and frees a stack. */
#ifndef DLOCK_STACK_H
#define DLOCK_STACK_H

#include <stdbool.h>
#include <stddef.h>

struct dlock_stack;

/* A stack on which run(arg) begins when it is first entered; `run` never returns.  Only
 * used pages take memory.  Below the stack is a guard page, on which an overflow
 * faults.  NULL: no memory. */
struct dlock_stack *dlock_stack_new(void (*run)(void *arg), void *arg);
void dlock_stack_free(struct dlock_stack *stack);

/* Describe the calling thread's own stack, so that a switch can leave it and come back.
 * NULL: no memory. */
struct dlock_stack *dlock_stack_of_thread(void);

/* Leave the stack `from`, and go on where `to` was left.  Returns when another switch
 * enters `from`. */
void dlock_stack_switch(struct dlock_stack *from, struct dlock_stack *to);

#endif /* DLOCK_STACK_H */

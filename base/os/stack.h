/* SPDX-License-Identifier: MIT */
/* stack.h -- stacks beside the thread's, and going from one to another.
 *
 * Only for loop.c.
 *
 * Threads     A stack is made, entered and freed by one thread. */
#ifndef DLOCK_STACK_H
#define DLOCK_STACK_H

#include <stdbool.h>
#include <stddef.h>

struct dlock_stack;

/* A stack on which run(arg) begins when it is first entered; `run` never returns.  Only the
 * pages that are used take memory, and a page that cannot be touched is below them.  NULL:
 * no memory. */
struct dlock_stack *dlock_stack_new(void (*run)(void *arg), void *arg);
void dlock_stack_free(struct dlock_stack *stack);

/* The thread's own stack, to leave and come back to.  NULL: no memory. */
struct dlock_stack *dlock_stack_of_thread(void);

/* Go on where `to` was left; comes back when somebody enters `from`. */
void dlock_stack_switch(struct dlock_stack *from, struct dlock_stack *to);

#endif /* DLOCK_STACK_H */

/* SPDX-License-Identifier: MIT */
/* loop.h -- many fibers in one thread: who runs next, and what each of them waits for.
 *
 * A loop has one descriptor, which can be read when there is something to do: a fiber that
 * is ready, a descriptor that one waits for, a sleep that is over, something that another
 * thread posted.  A turn does it.  So a loop fits into any other loop of descriptors, and
 * into a thread of its own.
 *
 * Sleeps that are over end only after what has arrived is dealt with: a thread that comes
 * late to its turn finds answers in time, not timeouts.
 *
 * Ownership   Posts are their makers', and stay until they have run.
 * Threads     Turns: one thread.  Posts: any.
 * Fork        A child must leave the loops of its parent alone. */
#ifndef DLOCK_LOOP_H
#define DLOCK_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os/job.h"

/* Work that another thread leaves for a turn of the loop; it runs in no fiber. */
struct dlock_post {
    void (*run)(struct dlock_post *post);
    struct dlock_post *next; /* the loop's */
};

/* NULL: no memory or no descriptor. */
struct dlock_loop *dlock_loop_new(void);

/* No fiber may be under way, and no post.  NULL is fine. */
void dlock_loop_free(struct dlock_loop *loop);

/* The descriptor; the loop's. */
int dlock_loop_fd(const struct dlock_loop *loop);

/* Do what there is to do; if that is nothing, sleep until there is, at the latest until
 * `until_ns` (a time that is over: do not sleep).  A turn may leave things for the next,
 * so that neighbours in the thread have theirs.  Not in a turn. */
void dlock_loop_turn(struct dlock_loop *loop, int64_t until_ns);

/* Does the calling thread run a turn of it just now? */
bool dlock_loop_is_here(const struct dlock_loop *loop);

/* Run the post in a turn; before this answers, if it comes from the loop's thread in a turn. */
void dlock_loop_post(struct dlock_loop *loop, struct dlock_post *post);

#endif /* DLOCK_LOOP_H */

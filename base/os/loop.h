/* SPDX-License-Identifier: MIT */
/* loop.h -- runs many fibers in one thread: chooses the next to run, and waits for what
 * they wait for.
 *
 * A loop has one descriptor, which is readable when there is work: a fiber is ready, a
 * descriptor that a fiber waits for is ready, a sleep has ended, or another thread has
 * posted work.  A turn does this work.  So a loop can be driven by any other event
 * loop, or by a thread of its own.
 *
 * A turn first handles the data that has arrived, and only then ends sleeps whose time
 * has come.  So when a turn comes late, its fibers find answers and not timeouts.
 *
 * Ownership   The caller owns a post, and keeps it until it has run.
 * Threads     One thread runs all turns.  Any thread may post.
 * Fork        A child must leave the loops of its parent alone. */
#ifndef DLOCK_LOOP_H
#define DLOCK_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os/job.h"

/* Work that another thread leaves for a turn of the loop; it runs outside any fiber. */
struct dlock_post {
    void (*run)(struct dlock_post *post);
    struct dlock_post *next; /* the loop's */
};

/* Make a loop; the caller frees it with dlock_loop_free().  NULL: no memory or no
 * descriptor. */
struct dlock_loop *dlock_loop_new(void);

/* Free the loop.  No job is under way, and no post is waiting.  NULL is fine. */
void dlock_loop_free(struct dlock_loop *loop);

/* The loop's descriptor, which the loop closes. */
int dlock_loop_fd(const struct dlock_loop *loop);

/* Run a turn: do the work that there is.  If there is none, sleep until there is some,
 * at most until `until_ns` (an instant in the past: do not sleep).  A turn may leave a
 * part of the work to the next, so that other code of the thread gets to run.  Must not
 * be called in a turn. */
void dlock_loop_turn(struct dlock_loop *loop, int64_t until_ns);

/* Does the calling thread run a turn of this loop now? */
bool dlock_loop_is_here(const struct dlock_loop *loop);

/* Have the post run in a turn.  If the loop's thread calls this in a turn, the post
 * runs before the call returns.  Any thread. */
void dlock_loop_post(struct dlock_loop *loop, struct dlock_post *post);

#endif /* DLOCK_LOOP_H */

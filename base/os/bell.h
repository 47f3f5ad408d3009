/* SPDX-License-Identifier: MIT */
/* bell.h -- one thread sleeps until another rings, once; or one fiber.
 *
 * Begins as {0}.  Ringing costs a system call only if somebody sleeps.  A bell may be
 * on the sleeper's stack: who rings does not touch it any more once the sleeper can go on.
 *
 * Threads     One that waits, one that rings, no more than once.  A fiber that waits is
 *             such a thread. */
#ifndef DLOCK_BELL_H
#define DLOCK_BELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct dlock_fiber;

struct dlock_bell {
    _Atomic uint32_t state;              /* bell.c's               */
    struct dlock_fiber *_Atomic sleeper; /* the same: if it is one */
};

/* Sleep until rung or until `until_ns`.  False: it was not rung in time, or the fiber was
 * hurried; it can then be waited for again. */
bool dlock_bell_wait(struct dlock_bell *bell, int64_t until_ns);

/* Would a wait answer true at once?  Only a hint: what was written before is seen by the
 * wait. */
bool dlock_bell_is_rung(const struct dlock_bell *bell);

/* Wake the sleeper, who sees all that was written before. */
void dlock_bell_ring(struct dlock_bell *bell);

/* The same for two, cheaper than one after the other. */
void dlock_bell_ring_two(struct dlock_bell *a, struct dlock_bell *b);

#endif /* DLOCK_BELL_H */

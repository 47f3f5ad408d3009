/* SPDX-License-Identifier: MIT */
/* bell.h -- one thread or fiber sleeps until another thread rings; used once.
 *
 * Begins as {0}. Ringing costs a system call only if the other sleeps already.  A bell
 * may lie on the sleeper's stack: the ringing thread does not touch the bell any more
 * once the sleeper can go on.
 *
 * Threads     One thread or fiber waits, and one rings, at most once. */
#ifndef DLOCK_BELL_H
#define DLOCK_BELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct dlock_fiber;

struct dlock_bell {
    _Atomic uint32_t state;              /* bell.c's               */
    struct dlock_fiber *_Atomic sleeper; /* bell.c's; NULL: the sleeper is a thread, or
                                          * none sleeps            */
};

/* Sleep until the bell is rung or until `until_ns`.  True: it was rung.  False: the
 * time has come, or the fiber was hurried; the caller may wait again. */
bool dlock_bell_wait(struct dlock_bell *bell, int64_t until_ns);

/* Would a wait return true at once?  Only a hint: the memory that the ringer wrote
 * before is visible only after dlock_bell_wait(). */
bool dlock_bell_is_rung(const struct dlock_bell *bell);

/* Ring the bell and wake the sleeper, which then sees all memory that the ringer wrote
 * before. */
void dlock_bell_ring(struct dlock_bell *bell);

/* Ring two bells; cheaper than two calls. */
void dlock_bell_ring_two(struct dlock_bell *a, struct dlock_bell *b);

#endif /* DLOCK_BELL_H */

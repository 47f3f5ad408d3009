/* SPDX-License-Identifier: MIT */
/* owner.h -- who holds: the number of a thread, unique in the process, never reused. */
#ifndef DLOCK_OWNER_H
#define DLOCK_OWNER_H

#include <stdbool.h>
#include <stdint.h>

enum { DLOCK_NUMBER_SIZE = 21 }; /* 2^64 - 1 and a NUL */

/* Whether a thread goes on; shared by it and by what it holds. */
struct dlock_life;

/* The marks of a thread: `thread` never changes; `number` is the one that new
 * locks are taken under, and is changed by dlock_owner_retire(). */
struct dlock_owner {
    uint64_t thread;
    char number[DLOCK_NUMBER_SIZE];
    struct dlock_life *life; /* NULL: its end goes unnoticed (no memory, or it is ending) */
};

/* The calling thread's, or the calling fiber's.  Valid while that lives. */
const struct dlock_owner *dlock_owner_here(void);

/* Take a new number.  Needed once a release went unanswered: it may still be on its
 * way, and must not find a newer lock under the old number; and once a lock was
 * abandoned, which the old number still holds. */
void dlock_owner_retire(void);

/* Write a number that no thread has, and none will have, into `text`, and answer it. */
uint64_t dlock_owner_draw(char text[DLOCK_NUMBER_SIZE]);

/* A life that is no thread's: that of all who ask through one asynchronous interface.  NULL:
 * no memory.  Ending it gives the share of its maker back. */
struct dlock_life *dlock_life_begin(void);
void dlock_life_end(struct dlock_life *life);

/* A share in the calling thread's life, to be dropped; NULL as above. */
struct dlock_life *dlock_life_share(void);

/* Give it back.  Any thread.  NULL is fine. */
void dlock_life_drop(struct dlock_life *life);

/* Has the thread ended?  Then nobody can release what it holds.  Any thread that has a
 * share; NULL has not. */
bool dlock_life_has_ended(const struct dlock_life *life);

#endif /* DLOCK_OWNER_H */

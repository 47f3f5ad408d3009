/* SPDX-License-Identifier: MIT */
/* owner.h -- the owner of a lock: the number of a thread, unique in the process, never
 * used again. */
#ifndef DLOCK_OWNER_H
#define DLOCK_OWNER_H

#include <stdbool.h>
#include <stdint.h>

enum { DLOCK_NUMBER_SIZE = 21 }; /* 2^64 - 1 and a NUL */

/* Whether a thread still runs.  The thread and its holds share this object by a count
 * of references. */
struct dlock_life;

/* A thread as an owner: `thread` never changes; `number` is the number under which new
 * locks are taken, and dlock_owner_retire() changes it. */
struct dlock_owner {
    uint64_t thread;
    char number[DLOCK_NUMBER_SIZE];
    struct dlock_life *life; /* NULL: its end goes unnoticed (no memory, or it is ending) */
};

/* The owner of the calling thread, or of the calling fiber.  Valid until that thread or
 * fiber ends. */
const struct dlock_owner *dlock_owner_here(void);

/* Give the calling thread a new number.  Needed in two cases: after an unanswered
 * release, because that release may still arrive and must not free a newer lock under
 * the same number; and after an abandoned lock, because the store still holds it under
 * the old number. */
void dlock_owner_retire(void);

/* Draw a number that no thread has or will have.  Returns it, and writes it into `text`
 * in decimal. */
uint64_t dlock_owner_draw(char text[DLOCK_NUMBER_SIZE]);

/* Make a life that is not a thread's: the owners of one asynchronous interface share
 * it.  NULL: no memory. dlock_life_end() marks it as ended and gives the maker's share
 * back. */
struct dlock_life *dlock_life_begin(void);
void dlock_life_end(struct dlock_life *life);

/* Take a share in the calling thread's life; the caller gives it back with
 * dlock_life_drop().  NULL: no memory. */
struct dlock_life *dlock_life_share(void);

/* Give a share back.  Any thread.  NULL is fine. */
void dlock_life_drop(struct dlock_life *life);

/* Has the thread ended, so that its holds can never be released?  False for NULL. Any
 * thread that has a share. */
bool dlock_life_has_ended(const struct dlock_life *life);

#endif /* DLOCK_OWNER_H */

/* SPDX-License-Identifier: MIT */
/* doubts.h -- attempts of one acquire that may have left something in the store, since
 * neither they nor their releases had an answer.
 *
 * Threads     That of the acquire. */
#ifndef DLOCK_DOUBTS_H
#define DLOCK_DOUBTS_H

#include "lock/system.h"

/* Begins as {0}. */
struct dlock_doubts {
    struct dlock_doubt *at; /* the newest; NULL: there never were any */
    int count;
};

/* Note that the lock of `claim` may be in the store.  Without memory the note is lost,
 * and so is the oldest if there are many: their leases end them. */
void dlock_doubts_note(struct dlock_doubts *doubts, const dlock_system *sys,
                       const struct dlock_hold_facts *facts, const dlock_claim *claim);

/* Try once more to take all back.  Those stay that the store does not answer for, and that
 * it has not ended by itself yet.  If it does not answer to the first, it is not asked about
 * the others. */
void dlock_doubts_settle(struct dlock_doubts *doubts, dlock_system *sys);

/* The answer of an acquire that was not granted and would answer `st`: UNKNOWN in place of
 * TIMEOUT and IO where an attempt may stay granted all the same. */
dlock_status dlock_doubts_answer(struct dlock_doubts *doubts, dlock_system *sys,
                                 dlock_status st);

void dlock_doubts_free(struct dlock_doubts *doubts);

#endif /* DLOCK_DOUBTS_H */

/* SPDX-License-Identifier: MIT */
/* doubts.h -- attempts of one acquire that may have left a lock in the store, because
 * neither the attempt nor the release after it had an answer.
 *
 * Threads     Only the thread of the acquire. */
#ifndef DLOCK_DOUBTS_H
#define DLOCK_DOUBTS_H

#include "lock/system.h"

/* Begins as {0}. */
struct dlock_doubts {
    struct dlock_doubt *at; /* an array of `count`, the oldest first; NULL: no attempt
                             * was noted yet */
    int count;
};

/* Note that the store may hold the lock for `claim`, whose release answered `released`, a
 * failure.  Without memory the note is lost; if there are many notes, the oldest is lost.
 * A lock whose note is lost ends with its lease. */
void dlock_doubts_note(struct dlock_doubts *doubts, const dlock_system *sys,
                       const struct dlock_hold_facts *facts, const dlock_claim *claim,
                       dlock_status released);

/* Release the lock of each note once more.  A note is removed when the store has
 * answered, or when the lease of the attempt has certainly ended.  After the first
 * release without an answer, no other release is sent. */
void dlock_doubts_settle(struct dlock_doubts *doubts, dlock_system *sys);

/* The answer of an acquire that ended with `st` and was not granted: `st`; or UNKNOWN
 * instead of TIMEOUT or IO, if a note is left, so that an attempt may have been
 * granted. */
dlock_status dlock_doubts_answer(struct dlock_doubts *doubts, dlock_system *sys,
                                 dlock_status st);

/* Free the notes.  If the acquire ended with an answer other than OK and PROTOCOL, each
 * release that is left becomes a debt (debts.h), so that the lock is free soon after the
 * store answers again.  If the store refused the acquire or the release, the variant cannot
 * have debts, or the note is of an inner level, the lock ends with its lease. */
void dlock_doubts_end(struct dlock_doubts *doubts, dlock_system *sys, dlock_status st);

#endif /* DLOCK_DOUBTS_H */

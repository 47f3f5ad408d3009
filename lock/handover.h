/* SPDX-License-Identifier: MIT */
/* handover.h -- giving a lock to the next waiter of the same system, without the store.
 *
 * The waiters of a name stand in a line, in the order in which they came.  Only one
 * thread at a time asks the store for the whole line, under an owner number that
 * belongs to the line and not to a thread.  A release hands the lock over to the first
 * waiter of the line if all of these are true: the lock was handed over fewer times
 * than the option `handover` since the store's grant, that grant is younger than
 * DLOCK_HANDOVER_MS, at least a half of the lease is left, the hold is not lost, and
 * this system did not free the lock by force.  Otherwise the lock is released in the
 * store, and the first waiter of the line asks the store, behind the waiters of other
 * processes.
 *
 * The owner number of a line is used again only after the store has confirmed that it
 * holds nothing under this number.  Without that confirmation the line gets a new
 * number, so that a request that is still under way cannot change a later hold.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_HANDOVER_H
#define DLOCK_HANDOVER_H

#include "lock/holds.h"

/* For this time after the store's grant, a release may hand the lock over inside the
 * process. */
enum { DLOCK_HANDOVER_MS = 100 };

struct dlock_handover; /* the lines of a system */

/* The state of a place in a line. */
enum dlock_turn {
    DLOCK_TURN_WAITS,     /* not decided yet; dlock_handover_join() never returns
                           * this                                                 */
    DLOCK_TURN_ASKS,      /* the thread has to ask the store, as the only one of its
                           * line                                                   */
    DLOCK_TURN_GIVEN,     /* the thread has the lock, and `gift` describes the hold */
    DLOCK_TURN_TIMEOUT,   /* until_ns has come, and the place is given up         */
    DLOCK_TURN_CANCELLED, /* the wait was cancelled, and the place is given up    */
    DLOCK_TURN_NOMEM,     /* no memory, and the caller has no place               */
};

/* What the next holder needs to know of a lock that is handed over. */
struct dlock_gift {
    char owner[DLOCK_OWNER_MAX + 1]; /* as the store knows it              */
    uint64_t note;                   /* the variant's                      */
    uint64_t era;                    /* of the store's grant               */
    int64_t deadline_ns;             /* the end of the store's lease       */
    int64_t renew_at_ns;             /* when the watchdog is due           */
};

/* The place of an acquire in a line.  It lies on the stack of its thread, which stays
 * in the call as long as the place is in the line. */
struct dlock_place {
    /* Filled in by the caller: */
    struct dlock_hold *hold;       /* begun, its own root */
    const dlock_cancel *cancel;    /* may be NULL         */
    int64_t until_ns;              /* INT64_MAX: for ever */
    /* Filled in by the line: */
    bool asks;                      /* this thread asks the store for the line, and has
                                     * no grant yet */
    char number[DLOCK_NUMBER_SIZE]; /* the owner number to ask under; see
                                     * dlock_handover_renumber() */
    struct dlock_gift gift;
    bool is_given;                  /* acquire.c's: the gift is taken */
    enum dlock_turn turn;
    struct dlock_condition *told;
    uint64_t serial; /* of the hold */
    struct dlock_place *prev, *next;
};

/* Make the lines of a system.  After a grant of the store a lock is handed over at most
 * `most` times, and no later than limit_ms.  NULL: no memory. */
struct dlock_handover *dlock_handover_open(struct dlock_holds *holds, unsigned most,
                                           int64_t limit_ms);
void dlock_handover_close(struct dlock_handover *handover); /* NULL is fine */

/* Put `place` into the line of its hold's name, and wait until its turn is decided.
 * After ASKS the caller asks the store, and then calls dlock_handover_granted() or
 * dlock_handover_end().  After GIVEN the caller holds the lock, and ends the hold with
 * dlock_handover_pass() or dlock_handover_end().  After any other answer the place is
 * no longer in the line. */
enum dlock_turn dlock_handover_join(struct dlock_handover *handover,
                                    struct dlock_place *place);

/* `place` asks the store, and an earlier request under its number may still take effect
 * there.  Give *place another number. */
void dlock_handover_renumber(struct dlock_handover *handover, struct dlock_place *place);

/* The store granted the lock to `place`, which asked, by a request that was sent at
 * sent_ns. */
void dlock_handover_granted(struct dlock_handover *handover, struct dlock_place *place,
                            int64_t sent_ns);

/* `place` was given the lock, but the lease of the gift has ended.  From now on `place`
 * asks the store, as after ASKS. */
void dlock_handover_ask_anew(struct dlock_handover *handover, struct dlock_place *place);

/* `hold`, a root that belongs to the calling thread and is not HELD any more, gives
 * back its level 1: hand the lock over to the next in the line.  False: the lock may
 * not be handed over, so the caller releases it in the store, and then calls
 * dlock_handover_end().  `was_lost`: the hold was lost. */
bool dlock_handover_pass(struct dlock_handover *handover, const struct dlock_hold *hold,
                         bool was_lost);

/* `hold` has stopped asking or holding, so the next in the line asks the store.
 * `clean`: the store holds nothing under the number of the line, and no request with
 * this number is under way. */
void dlock_handover_end(struct dlock_handover *handover, const struct dlock_hold *hold,
                        bool clean);

/* The lock `name` was freed by force: do not hand it over before the store's next
 * grant. */
void dlock_handover_stop(struct dlock_handover *handover, const char *name);

/* The number of callers that wait in the line of `name`. */
unsigned dlock_handover_count(struct dlock_handover *handover, const char *name);

#endif /* DLOCK_HANDOVER_H */

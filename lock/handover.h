/* SPDX-License-Identifier: MIT */
/* handover.h -- giving a lock to the next waiter of the same system, without the store.
 *
 * The waiters of a name stand in a line, in the order in which they came.  Only one thread
 * at a time asks the store for the whole line, under an owner number that belongs to the line
 * and to no thread.  A release gives the lock to the first in the line, as long as all of
 * these hold: fewer than the option `handover` were given since the store's grant, that
 * grant is younger than DLOCK_HANDOVER_MS, at least a half of the lease is left, the hold
 * is not lost, and this system did not free the lock by force.  Otherwise the store is
 * given the lock back, and the first in the line asks for it anew, behind the waiters of
 * other processes.
 *
 * The number of a line is used again only after the store has confirmed that it holds
 * nothing any more.  Otherwise a new one is drawn: a request that is still under way can
 * then meet no later hold.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_HANDOVER_H
#define DLOCK_HANDOVER_H

#include "lock/holds.h"

/* The time after the grant of the store for which a lock is given on inside the process. */
enum { DLOCK_HANDOVER_MS = 100 };

struct dlock_handover; /* the lines of a system */

/* The fate of a place in a line. */
enum dlock_turn {
    DLOCK_TURN_WAITS,     /* not decided yet; never answered                      */
    DLOCK_TURN_ASKS,      /* the thread asks the store, as the only one of its line */
    DLOCK_TURN_GIVEN,     /* the lock is the thread's, as `gift` says             */
    DLOCK_TURN_TIMEOUT,   /* the time is over, and the place is given up          */
    DLOCK_TURN_CANCELLED, /* the wait was cancelled, and the place is given up    */
    DLOCK_TURN_NOMEM,     /* nothing was begun                                    */
};

/* A lock that is given on. */
struct dlock_gift {
    char owner[DLOCK_OWNER_MAX + 1]; /* as the store knows it              */
    uint64_t note;                   /* the variant's                      */
    uint64_t era;                    /* of the store's grant               */
    int64_t deadline_ns;             /* the end of the store's lease       */
    int64_t renew_at_ns;             /* when the watchdog is due           */
};

/* The place of an acquire.  On the stack of its thread, which is in the call as long as the
 * place is in a line. */
struct dlock_place {
    /* Filled in by the caller: */
    struct dlock_hold *hold;       /* begun, its own root */
    const dlock_cancel *cancel;    /* may be NULL         */
    int64_t until_ns;              /* INT64_MAX: for ever */
    /* Filled in by the line: */
    bool asks;                      /* the thread asks the store, and was not granted yet */
    char number[DLOCK_NUMBER_SIZE]; /* to ask under; see dlock_handover_renumber() */
    struct dlock_gift gift;
    bool is_given;                  /* place.c's: the gift is taken */
    enum dlock_turn turn;
    struct dlock_condition *told;
    uint64_t serial; /* of the hold */
    struct dlock_place *prev, *next;
};

/* The lines of a system whose locks are given on at most `most` times, and no later than
 * limit_ms, after a grant of the store.  NULL: no memory. */
struct dlock_handover *dlock_handover_open(struct dlock_holds *holds, unsigned most,
                                           int64_t limit_ms);
void dlock_handover_close(struct dlock_handover *handover); /* NULL is fine */

/* Wait in the line of the place's hold until it is decided.  After ASKS the caller calls
 * dlock_handover_granted() or dlock_handover_end(); after GIVEN, dlock_handover_pass() or
 * dlock_handover_end(). */
enum dlock_turn dlock_handover_join(struct dlock_handover *handover,
                                    struct dlock_place *place);

/* The store may know the number of `place`, which asks, without our leave: *place gets
 * another one. */
void dlock_handover_renumber(struct dlock_handover *handover, struct dlock_place *place);

/* The store granted it to `place`, which asks, by a request that was sent at sent_ns. */
void dlock_handover_granted(struct dlock_handover *handover, struct dlock_place *place,
                            int64_t sent_ns);

/* The lease of the gift is over: `place` asks the store instead. */
void dlock_handover_ask_anew(struct dlock_handover *handover, struct dlock_place *place);

/* `hold`, a root that belongs to the calling thread and is not HELD any more, is over at
 * level 1: give the lock to the next in the line.  False: nobody may get it, so the caller
 * gives it back to the store, and then calls dlock_handover_end().  `was_lost`: the hold was
 * lost. */
bool dlock_handover_pass(struct dlock_handover *handover, const struct dlock_hold *hold,
                         bool was_lost);

/* `hold` asks no more, or holds no more: the next in the line asks.  `clean`: the store
 * holds nothing under the number of the line, and no request under it is under way. */
void dlock_handover_end(struct dlock_handover *handover, const struct dlock_hold *hold,
                        bool clean);

/* The lock `name` was freed by force: nothing is given on until the store's next grant. */
void dlock_handover_stop(struct dlock_handover *handover, const char *name);

/* The number of callers that wait in the line of `name`. */
unsigned dlock_handover_count(struct dlock_handover *handover, const char *name);

#endif /* DLOCK_HANDOVER_H */

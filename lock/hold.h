/* SPDX-License-Identifier: MIT */
/* hold.h -- one hold or one level of a hold, as a slot in the table of holds. */
#ifndef DLOCK_HOLD_H
#define DLOCK_HOLD_H

#include <stdatomic.h>

#include "base/os/hash_table.h"
#include "lock/dlock.h"
#include "lock/owner.h"

enum dlock_hold_state {
    DLOCK_HOLD_FREE,
    DLOCK_HOLD_BEGUN,     /* the acquire is under way                              */
    DLOCK_HOLD_HELD,      /* at least one level is granted                         */
    DLOCK_HOLD_LOST,      /* the levels are there, but the lock is lost            */
    DLOCK_HOLD_RELEASING, /* the last level's release is under way                 */
};

struct dlock_hold_key {
    uint64_t thread;
    uint64_t shared; /* 1: of a reader. 64 bits wide, so that the key has no padding:
                      * keys are compared as bytes */
    char name[DLOCK_NAME_MAX + 1];
};

/* The facts of a hold, from its claim.  Constant after the grant, except lease_ms: an
 * inner level with a longer lease makes it longer. */
struct dlock_hold_facts {
    struct dlock_hold_key key;
    char number[DLOCK_NUMBER_SIZE];
    char owner[DLOCK_OWNER_MAX + 1];
    char token[DLOCK_TOKEN_LEN + 1];
    uint64_t note; /* the variant's */
    uint64_t era;  /* of the store when the grant was asked for; see era.h */
    uint64_t fence;
    int lease_ms;
};

/* Why a hold was lost. */
enum dlock_loss {
    DLOCK_LOSS_EXPIRED,   /* its lease ended before a renewal was answered               */
    DLOCK_LOSS_REFUSED,   /* the store answered that this owner does not hold the
                           * lock */
    DLOCK_LOSS_FAIL_OVER, /* an earlier master granted it; see era.h */
};

/* The times at which the watchdog has to look at a root; see dlock_holds_due(). */
enum dlock_due_kind {
    DLOCK_DUE_END,     /* its lease ends; 0: it is lost, and on_lost was not called yet */
    DLOCK_DUE_RENEWAL,
    DLOCK_DUE_COUNT
};

struct dlock_due {
    int64_t at_ns;
    size_t place; /* in the shard's heap, from 1; 0: it has no time */
};

struct dlock_hold {
    _Atomic uint64_t id;              /* of the lease; 0: none                      */
    _Atomic int64_t deadline_ns;      /* of a root; 0 once lost                     */
    int64_t lost_deadline_ns;         /* of a lost root: the deadline that it had   */
    struct dlock_hold *_Atomic root;  /* the slot itself, or the root of the outer
                                       * level                                      */
    uint64_t index;                   /* the place of the slot in the table; constant */
    uint64_t serial;                  /* a new number for each use of the slot      */
    enum dlock_hold_state state;      /* of a root                                  */
    int level_count;                  /* of a root: granted and not released        */
    int watched_count;                /* of a root: levels that the watchdog renews */
    bool is_lone;                     /* of a root: no other hold may use its number */
    bool watched;                     /* the watchdog renews this level             */
    bool has_number;                  /* `number` is taken from the thread's hold of the
                                       * same name of the other kind, reader or
                                       * writer                                     */
    bool indexed;                     /* of a root: is in the index, so a search by key
                                       * finds it                                   */
    bool is_in_line;                  /* of a root: see handover.h; only its thread uses
                                       * this                                       */
    enum dlock_loss loss;             /* of a root: why, once it is lost            */
    bool untold;                      /* of a root: lost, on_lost not called yet    */
    bool was_lost;                    /* of a root: it was lost before the release of
                                       * its last level                             */
    bool counted;                     /* of a root: its loss is in the metrics      */
    struct dlock_life *life;          /* of a root: the life of its thread          */
    int64_t taken_ns;                 /* of a root: when it was granted             */
    bool abandoned;                   /* of a root: given up; no level is released any
                                       * more                                       */
    uint64_t recorded;                /* its acquire's number for the recorder; 0: not
                                       * recorded                                   */
    int64_t renew_at_ns;              /* of a root: when the watchdog is due        */
    bool is_in_round;                 /* of a root: the watchdog renews it now, or has
                                       * given it up because its thread has ended   */
    struct dlock_due due[DLOCK_DUE_COUNT]; /* of a root                             */
    struct dlock_hold_facts facts;
    struct dlock_hold *prev, *next;   /* free slots, or roots of the shard          */
    UT_hash_handle hh;
};

struct dlock_holds; /* the table; see holds.h */

/* Make an empty table.  `reentrant`: dlock_holds_begin() looks for outer levels.  NULL:
 * no memory. */
struct dlock_holds *dlock_holds_open(bool reentrant);
void dlock_holds_close(struct dlock_holds *holds);

/* Write into *out the `thread` of the owner of the lease `id`, and the number that the
 * lock was taken under.  False: there is no such lease. */
bool dlock_holds_owner(struct dlock_holds *holds, uint64_t id, struct dlock_owner *out);

#endif /* DLOCK_HOLD_H */

/* SPDX-License-Identifier: MIT */
/* hold.h -- one hold, or one level of it, and the memory of a table of them. */
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
    DLOCK_HOLD_LOST,      /* the same, but no longer ours                          */
    DLOCK_HOLD_RELEASING, /* the last level's release is under way                 */
};

struct dlock_hold_key {
    uint64_t thread;
    uint64_t shared; /* 1: of a reader.  As wide as the other, so no byte is undefined */
    char name[DLOCK_NAME_MAX + 1];
};

/* The facts of a hold from its claim; constant once it is granted, but for lease_ms,
 * which grows with that of an inner level. */
struct dlock_hold_facts {
    struct dlock_hold_key key;
    char number[DLOCK_NUMBER_SIZE];
    char owner[DLOCK_OWNER_MAX + 1];
    char token[DLOCK_TOKEN_LEN + 1];
    uint64_t note; /* the variant's */
    uint64_t era;  /* of the store when the grant was asked for; see era.h */
    int lease_ms;
};

/* Why a hold was lost. */
enum dlock_loss {
    DLOCK_LOSS_EXPIRED,   /* its lease ended before a renewal was answered               */
    DLOCK_LOSS_REFUSED,   /* the store did not know it as this owner's any more          */
    DLOCK_LOSS_FAIL_OVER, /* it was granted by a server before the present master; era.h */
};

struct dlock_hold {
    _Atomic uint64_t id;              /* of the lease; 0: none                      */
    _Atomic int64_t deadline_ns;      /* of a root; 0 once lost                     */
    struct dlock_hold *_Atomic root;  /* itself, or that of the outer level         */
    uint64_t index;                   /* where the slot is; constant                */
    uint64_t serial;                  /* new with every use of the slot             */
    enum dlock_hold_state state;      /* of a root                                  */
    int level_count;                  /* of a root: granted and not released        */
    int watched_count;                /* of a root: those of them that are watched  */
    bool is_lone;                     /* of a root: its number is not to be shared  */
    bool watched;                     /* this level asked the watchdog to renew     */
    bool has_number;                  /* that of the thread's hold of the other
                                       * kind, reader or writer, of the same name   */
    bool indexed;                     /* of a root: can be found by key             */
    bool is_in_line;                  /* of a root: see handover.h; the owner's own */
    enum dlock_loss loss;             /* of a root: why, once it is lost            */
    bool untold;                      /* of a root: lost, on_lost not called yet    */
    bool was_lost;                    /* of a root: before its last level's release */
    bool counted;                     /* of a root: its loss is in the metrics      */
    struct dlock_life *life;          /* of a root: its thread's                    */
    int64_t taken_ns;                 /* of a root: when it was granted             */
    bool abandoned;                   /* of a root: nothing of it is to be released */
    uint64_t recorded;                /* its acquire, to the recorder; 0: it is not */
    int64_t renew_at_ns;              /* of a root: when the watchdog is due        */
    struct dlock_hold_facts facts;
    struct dlock_hold *prev, *next;   /* free slots, or roots of the shard          */
    UT_hash_handle hh;
};

struct dlock_holds; /* the table; see holds.h */

/* An empty table.  `reentrant`: dlock_holds_begin() looks for outer levels.  NULL: no
 * memory. */
struct dlock_holds *dlock_holds_open(bool reentrant);
void dlock_holds_close(struct dlock_holds *holds);

/* The owner of the lease `id`: the owner's `thread` and the number that it was taken under.
 * False: there is no such lease. */
bool dlock_holds_owner(struct dlock_holds *holds, uint64_t id, struct dlock_owner *out);

#endif /* DLOCK_HOLD_H */

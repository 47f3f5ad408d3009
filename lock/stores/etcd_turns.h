/* SPDX-License-Identifier: MIT */
/* etcd_turns.h -- the waiters of this process for one lock, and when each has to wake
 * up.
 *
 * A waiter that knows how many keys are before its own counts the deletions that the
 * watch reports.  So the waiter learns without a request when its key is the first.
 *
 * Threads     The caller lets one thread at a time use the same turns. */
#ifndef DLOCK_ETCD_TURNS_H
#define DLOCK_ETCD_TURNS_H

#include "base/os/condition.h"
#include "lock/stores/etcd_ends.h"

/* The place of a waiter's key in the queue, at a revision. */
struct etcd_stand {
    uint64_t lease, created; /* of its own key                                         */
    uint64_t before;         /* the lease of the key before it                         */
    int64_t ahead;           /* an upper limit of the keys before it; -1: not known    */
    uint64_t revision;
};

enum etcd_told {
    ETCD_TOLD_NOTHING,
    ETCD_MAY_HAVE_MOVED, /* the key before it may be deleted, or its own is  */
    ETCD_IS_FIRST,       /* its key exists and is the first                  */
};

/* A waiter. */
struct etcd_turn {
    struct dlock_condition told; /* signalled when there may be news; the owner inits
                                  * and destroys it */
    bool sleeps;                 /* the waiter sleeps; the owner's */
    struct etcd_stand stand;     /* `ahead` is counted down; -1: not known */
    uint64_t counted_from;       /* deletions after this revision are counted */
    uint64_t gone_at;            /* the revision that deleted its own key; 0: none */
    struct etcd_turn *prev, *next;
};

/* Begins as {0}: no waiters. */
struct etcd_turns {
    struct etcd_turn *waiters;
    uint64_t seen;          /* the watch goes on after this revision                       */
    uint64_t known;         /* the latest revision that the watch or an answer has
                             * named */
    uint64_t first_created; /* the youngest key that has been the first; 0: none */
    struct etcd_ends ends;
};

/* The watch begins after this revision. */
void etcd_turns_begin(struct etcd_turns *turns, uint64_t revision);

/* Add and remove a waiter. */
void etcd_turns_add(struct etcd_turns *turns, struct etcd_turn *turn);
void etcd_turns_remove(struct etcd_turns *turns, struct etcd_turn *turn);

/* Note the place of the waiter's key, as an answer of etcd had it. */
void etcd_turns_place(const struct etcd_turns *turns, struct etcd_turn *turn,
                      const struct etcd_stand *stand);

/* What the waiter has to know now. */
enum etcd_told etcd_turns_news(const struct etcd_turns *turns, const struct etcd_turn *turn);

/* The watch reports that these keys were deleted, in this order, and that it has
 * reported all deletions up to `revision`.  Wakes the waiters whose place may have
 * changed. */
void etcd_turns_told(struct etcd_turns *turns, const struct etcd_end *ends, size_t count,
                     uint64_t revision);

/* The watch goes on after `revision`, and deletions before it may be missing: wakes all
 * waiters, which ask etcd. */
void etcd_turns_forget(struct etcd_turns *turns, uint64_t revision);

/* Note that this process has deleted a key.  `first_created`: the create revision of
 * the key that is the first after that; 0: not known. */
void etcd_turns_note(struct etcd_turns *turns, const struct etcd_end *end,
                     uint64_t first_created);

/* An answer of etcd was at `revision`.  True: this is before the latest known revision,
 * so etcd has lost data.  All that was reported is forgotten, and the caller begins the
 * watch anew. */
bool etcd_turns_restart(struct etcd_turns *turns, uint64_t revision);

#endif /* DLOCK_ETCD_TURNS_H */

/* SPDX-License-Identifier: MIT */
/* etcd_turns.h -- the waiters of this process for one lock, and what they are told.
 *
 * A waiter that knows how many keys are before its own counts their ends, as the watch tells
 * them, and so it knows without a request when its key is the first.
 *
 * Threads     The caller keeps two from using the same turns at once. */
#ifndef DLOCK_ETCD_TURNS_H
#define DLOCK_ETCD_TURNS_H

#include "base/os/condition.h"
#include "lock/stores/etcd_ends.h"

/* Where a waiter's key stands, as was seen at a revision. */
struct etcd_stand {
    uint64_t lease, created; /* of its own key                                         */
    uint64_t before;         /* the lease of the key before it                         */
    int64_t ahead;           /* at most so many keys are before it; -1: not known      */
    uint64_t revision;
};

enum etcd_told {
    ETCD_TOLD_NOTHING,
    ETCD_MAY_HAVE_MOVED, /* the key before it may have ended, or its own has */
    ETCD_IS_FIRST,       /* its key is there, and the first                  */
};

/* A waiter. */
struct etcd_turn {
    struct dlock_condition told; /* the owner's to init and to destroy: there may be news */
    bool sleeps;                 /* the owner's: it waits to be told                      */
    struct etcd_stand stand;     /* `ahead` is counted; -1, if that is not known          */
    uint64_t counted_from;       /* the ends after this revision are counted              */
    uint64_t gone_at;            /* the revision that ended its own key; 0: none          */
    struct etcd_turn *prev, *next;
};

/* Zeros are those of nobody. */
struct etcd_turns {
    struct etcd_turn *waiters;
    uint64_t seen;          /* the watch goes on after this revision                       */
    uint64_t known;         /* the latest revision of which the watch or an answer has told */
    uint64_t first_created; /* the youngest key that was seen to be the first; 0: none      */
    struct etcd_ends ends;
};

/* The watch begins after this revision. */
void etcd_turns_begin(struct etcd_turns *turns, uint64_t revision);

/* A waiter comes, and leaves. */
void etcd_turns_add(struct etcd_turns *turns, struct etcd_turn *turn);
void etcd_turns_remove(struct etcd_turns *turns, struct etcd_turn *turn);

/* The key of the waiter was seen to stand there. */
void etcd_turns_place(const struct etcd_turns *turns, struct etcd_turn *turn,
                      const struct etcd_stand *stand);

/* What the waiter is to be told. */
enum etcd_told etcd_turns_news(const struct etcd_turns *turns, const struct etcd_turn *turn);

/* The watch tells that these keys ended, in this order, and all that happened up to the
 * revision.  Whoever it concerns is woken. */
void etcd_turns_told(struct etcd_turns *turns, const struct etcd_end *ends, size_t count,
                     uint64_t revision);

/* The watch goes on after this revision only: waiters have to look. */
void etcd_turns_forget(struct etcd_turns *turns, uint64_t revision);

/* This process has ended a key.  `first_created`: the create revision of the key that was the
 * first then; 0: not known. */
void etcd_turns_note(struct etcd_turns *turns, const struct etcd_end *end,
                     uint64_t first_created);

/* A question was answered at this revision.  True: it is before the known one, so nothing that
 * was told counts, and the watch has to begin anew. */
bool etcd_turns_restart(struct etcd_turns *turns, uint64_t revision);

#endif /* DLOCK_ETCD_TURNS_H */

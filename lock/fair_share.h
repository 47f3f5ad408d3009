/* SPDX-License-Identifier: MIT */
/* fair_share.h -- how the processes that contend for one lock share its grants.
 *
 * A lock without a queue goes to the process whose request comes first after a release.
 * A process that wakes up faster than the others would be granted nearly every time:
 * beside Redisson, this library had five grants of six.  So each process keeps a balance
 * for every lock that other processes wait for: a release of its own raises it by
 * DLOCK_SHARE_OWN, a release that it hears of lowers it by DLOCK_SHARE_HEARD (it hears of
 * its own releases too).  While the balance is high, the process holds its own requests
 * back for a moment after each release, and the others get their turn.  A process whose
 * share is below DLOCK_SHARE_HEARD / DLOCK_SHARE_OWN of all releases never holds a request
 * back, so processes that are equally fast give up nothing.
 *
 * The moment is as long as the others turn out to need: it grows when they left it
 * unused, and shrinks when they used it.  After moments of the greatest length that were
 * left unused, ever more releases pass before the next one: a process that subscribes
 * and asks for nothing costs little.
 *
 * A lock is known here by the channel on which its releases are told.
 *
 * Ownership   The caller owns the table.
 * Threads     Any. */
#ifndef DLOCK_FAIR_SHARE_H
#define DLOCK_FAIR_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os/mutex.h"

enum {
    DLOCK_SHARE_SLOTS = 64,
    DLOCK_SHARE_OWN = 5,
    DLOCK_SHARE_HEARD = 3,
};

/* The state of one lock.  Locks whose channels have the same hash share a slot: the worst
 * that this does is to hold a request back without need. */
struct dlock_fair_share {
    struct dlock_mutex mutex;
    int balance;
    bool is_open;          /* the others have their turn */
    int64_t closed_ns;     /* since then it is this process's own */
    int64_t until_ns;      /* then requests may be sent again, unless a release is heard */
    int64_t moment_ns;     /* how long the others have for their next request */
    unsigned held_count;   /* threads that are being held back */
    unsigned unused_count; /* moments of the greatest length in a row that went unused */
    unsigned pass_count;   /* releases that pass before the next turn of the others */
};

struct dlock_fair_shares {
    struct dlock_fair_share slots[DLOCK_SHARE_SLOTS];
};

void dlock_fair_shares_init(struct dlock_fair_shares *shares);

/* No thread may be held back any more. */
void dlock_fair_shares_destroy(struct dlock_fair_shares *shares);

/* This process released the lock, and `other_count` other processes were told. */
void dlock_fair_shares_released(struct dlock_fair_shares *shares, const char *channel,
                                int64_t other_count);

/* A release was heard of.  True: a thread of this process is being held back and will
 * send a request by itself, so no other has to be woken. */
bool dlock_fair_shares_heard(struct dlock_fair_shares *shares, const char *channel);

/* Hold the calling thread back while it is the others' turn, at most until `until_ns`.
 * True: it was; then the answer to its request goes to dlock_fair_shares_answered(). */
bool dlock_fair_shares_hold_back(struct dlock_fair_shares *shares, const char *channel,
                                 int64_t until_ns);

/* After the thread was held back: is the lock somebody else's now? */
void dlock_fair_shares_answered(struct dlock_fair_shares *shares, const char *channel,
                                bool is_taken);

#endif /* DLOCK_FAIR_SHARE_H */

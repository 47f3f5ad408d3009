/* SPDX-License-Identifier: MIT */
/* fair_share.h -- how the processes that contend for one lock share its grants.
 *
 * A lock without a queue goes to the process whose request comes first after a release.
 * A process that wakes up faster than the others would be granted nearly every time:
 * beside Redisson, 75 to 97 % of the grants went to this library.  So each process keeps a
 * balance for every lock that other processes wait for: a release of its own raises it
 * by DLOCK_SHARE_OWN, and each release of which it gets the message, its own included,
 * lowers it by DLOCK_SHARE_HEARD.  While the balance is high, the process delays its
 * own requests for a moment after each release, so that the others get the lock.  The
 * balance of a process that makes less than DLOCK_SHARE_HEARD / DLOCK_SHARE_OWN of all
 * releases falls in the long run, so processes that are equally fast delay few
 * requests.
 *
 * The length of the moment adapts to the other processes: it grows when they sent no
 * request in it, and shrinks when they did.  If even the longest moment passes without
 * a request, more and more releases pass before the next moment.  So a process that
 * subscribes and never asks for the lock costs little.
 *
 * Here a lock is identified by the channel on which its releases are published.
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

/* A thread that is being held back.  It lies on the stack of the thread. */
struct dlock_fair_held {
    const char *channel;
    struct dlock_fair_held *next;
};

/* The state of one lock.  Locks whose channels have the same hash share a slot, and so a
 * balance.  The only harm of that is that a request is held back without need, or is not
 * held back. */
struct dlock_fair_share {
    struct dlock_mutex mutex;
    int balance;
    bool is_open;          /* the other processes have their turn */
    int64_t closed_ns;     /* when the turn of the others ended last */
    int64_t until_ns;      /* until then requests are held back; hearing of a release
                            * moves or ends this */
    int64_t moment_ns;     /* the length of the others' turn */
    struct dlock_fair_held *held; /* the threads that are being held back */
    unsigned unused_count; /* moments of the greatest length in a row that went unused */
    unsigned pass_count;   /* releases that pass before the next turn of the others */
};

struct dlock_fair_shares {
    struct dlock_fair_share slots[DLOCK_SHARE_SLOTS];
};

void dlock_fair_shares_init(struct dlock_fair_shares *shares);

/* Free what init made.  No thread may be inside a call. */
void dlock_fair_shares_destroy(struct dlock_fair_shares *shares);

/* Note that this process released the lock, and that `other_count` other processes were
 * told. */
void dlock_fair_shares_released(struct dlock_fair_shares *shares, const char *channel,
                                int64_t other_count);

/* Note that this process was told of a release.  True: a thread of this process is
 * being held back and will send a request for this lock by itself, so the caller wakes
 * no other thread. */
bool dlock_fair_shares_heard(struct dlock_fair_shares *shares, const char *channel);

/* Hold the calling thread back while the others have their turn, at most until
 * `until_ns`.  True: the thread was held back, and has to call
 * dlock_fair_shares_answered() after its request.  False: it was not. */
bool dlock_fair_shares_hold_back(struct dlock_fair_shares *shares, const char *channel,
                                 int64_t until_ns);

/* Note the answer to the request of a thread that was held back.  `is_taken`: another
 * process has the lock, so it used its turn. */
void dlock_fair_shares_answered(struct dlock_fair_shares *shares, const char *channel,
                                bool is_taken);

#endif /* DLOCK_FAIR_SHARE_H */

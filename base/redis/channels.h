/* SPDX-License-Identifier: MIT */
/* channels.h -- the channels of a subscription and their waiters, and the SUBSCRIBE and
 * UNSUBSCRIBE that are due.
 *
 * The subscription (subscription.h) does the sending and receiving.
 *
 * A channel has at most one SUBSCRIBE or UNSUBSCRIBE on its way at a time, so an answer
 * always belongs to the last one sent:
 *
 *     OFF -SUBSCRIBE-> JOINING -answer-> ON -UNSUBSCRIBE-> LEAVING -answer-> OFF
 *
 * A channel with waiters is to be ON, and a channel without waiters OFF; a channel that
 * is OFF and has no waiters is freed.  If its rule says so, a channel lingers after its
 * last waiter has left: it stays ON for REDIS_LINGER_MS. A waiter that joins in this
 * time need not wait for a SUBSCRIBE, and is woken at once if a message came meanwhile.
 *
 * Threads     Any; a waiter belongs to one thread. */
#ifndef DLOCK_REDIS_CHANNELS_H
#define DLOCK_REDIS_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os/mutex.h"
#include "base/redis/wake_rule.h"

enum { REDIS_LINGER_MS = 1000 };

struct redis_channels {
    bool is_sharded; /* the server drops a channel when its slot moves to another
                      * node */
    /* NULL, or the channels of the server that has the channel `name` now: a waiter whose channel
     * has gone goes on there.  NULL: there is none.  Called unlocked. */
    struct redis_channels *(*elsewhere)(void *arg, const char *name);
    void *elsewhere_arg;
    struct dlock_mutex mutex; /* of all below */
    struct redis_channel *all;
    struct redis_channel *changed; /* those whose state has to change */
    struct redis_channel *lingering; /* in the order in which they began to linger */
    struct redis_waiter *to_ring;    /* waiters to wake after the mutex is unlocked, in
                                      * this order                                  */
    void (*nudge)(void *arg);      /* called unlocked when a state has to change    */
    void *nudge_arg;
    bool (*tell)(void *arg, const char *channel); /* see redis_subscription_tell();
                                                   * NULL: none */
    void *tell_arg;
};

void redis_channels_init(struct redis_channels *channels, void (*nudge)(void *arg),
                         void *nudge_arg);

/* Free the channels.  No thread waits any more. */
void redis_channels_destroy(struct redis_channels *channels);

/* Begin to wait on the channel `name`, with the rule `wake`.  The caller ends the wait
 * with redis_waiter_leave().  NULL: no memory. */
struct redis_waiter *redis_channels_join(struct redis_channels *channels,
                                         const char *name, struct redis_wake wake);

/* Give up the channels for which `stays` is false, because their slots have moved to
 * other servers: their waiters are woken, and wait there from their next sleep on.
 * Only if is_sharded. */
void redis_channels_sift(struct redis_channels *channels,
                         bool (*stays)(void *arg, const char *name), void *arg);

bool redis_channels_is_empty(struct redis_channels *channels);

/* Has the server confirmed a subscription to the channel, and no end of it? */
bool redis_channels_listens(struct redis_channels *channels, const char *name);

/* Handle a message of the server: `what` is "message", "subscribe" or "unsubscribe".
 * False: the server confirms what was not asked for, so the connection cannot be used
 * any more. */
bool redis_channels_hear(struct redis_channels *channels, const char *what,
                         const char *name, const char *message);

/* Call `say` for every SUBSCRIBE and UNSUBSCRIBE that is due; `say` appends the command
 * to the send buffer.  False: `say` had no memory.  Must also be called every
 * REDIS_LINGER_MS. */
bool redis_channels_settle(struct redis_channels *channels,
                           bool (*say)(void *arg, const char *verb, const char *name),
                           void *arg);

/* The connection was lost: every channel with waiters is OFF, and its SUBSCRIBE is due
 * again.  Every other channel is freed, because the next connection may never come. */
void redis_channels_reset(struct redis_channels *channels);

/* The number in the last message of the waiter's channel, since the waiter began to
 * wait or since the connection was last restored; -1: no message came. */
int64_t redis_waiter_heard(struct redis_waiter *waiter);

/* Sleep until woken (true), or until `until_ns` (false). */
bool redis_waiter_sleep(struct redis_waiter *waiter, int64_t until_ns);

/* Stop waiting, and free the waiter.  `satisfied`: the waiter got what it waited for.
 * Otherwise, unless the waiter has slept since its last wake-up, the rule passes the
 * wake-up on: the waiter sent no request for it, or the request failed. */
void redis_waiter_leave(struct redis_waiter *waiter, bool satisfied);

/* ---- for rules ---- */

/* Wake the waiter that has waited longest and is not woken already. */
void redis_channel_wake_one(struct redis_channel *channel);

void redis_channel_wake_all(struct redis_channel *channel);

/* Distribute `count` free units to the waiters in the order of their arrival, and wake
 * every waiter whose need is still covered.  A waiter that needs more is skipped.  A
 * waiter that was woken before and has not run yet takes part, because `count` includes
 * the units that it may take. */
void redis_channel_wake_for(struct redis_channel *channel, int64_t count);

#endif /* DLOCK_REDIS_CHANNELS_H */

/* SPDX-License-Identifier: MIT */
/* channels.h -- who waits on which channel, and what to tell the server.
 *
 * The subscription does the sending and the hearing.
 *
 * A channel has at most one SUBSCRIBE or UNSUBSCRIBE on its way at a time, so an answer
 * always belongs to the last one sent:
 *
 *     OFF -SUBSCRIBE-> JOINING -answer-> ON -UNSUBSCRIBE-> LEAVING -answer-> OFF
 *
 * A channel whose state fits its waiters is left alone; one that is OFF and has no
 * waiters is forgotten.  One whose rule says so lingers when its last waiter has left: it
 * stays ON for REDIS_LINGER_MS, so that one who soon waits again need not ask twice; a
 * message that came meanwhile wakes that one at once.
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
    bool is_sharded; /* the server drops a channel whose slot goes to another node */
    /* NULL, or the channels of the server that has the channel `name` now: a waiter whose channel has
     * gone goes on there.  NULL: there is none.  Called unlocked. */
    struct redis_channels *(*elsewhere)(void *arg, const char *name);
    void *elsewhere_arg;
    struct dlock_mutex mutex; /* of all below */
    struct redis_channel *all;
    struct redis_channel *changed; /* to be settled */
    struct redis_channel *lingering; /* the longest first */
    struct redis_waiter *to_ring;    /* as soon as the mutex is free, in that order */
    void (*nudge)(void *arg);      /* there is something to settle; called unlocked */
    void *nudge_arg;
    bool (*tell)(void *arg, const char *channel); /* NULL: nobody; redis_subscription_tell() */
    void *tell_arg;
};

void redis_channels_init(struct redis_channels *channels, void (*nudge)(void *arg),
                         void *nudge_arg);

/* No thread may wait any more. */
void redis_channels_destroy(struct redis_channels *channels);

/* Begin to wait.  NULL: no memory. */
struct redis_waiter *redis_channels_join(struct redis_channels *channels,
                                         const char *name, struct redis_wake wake);

/* The channels that do not `stay` have gone to other servers: their waiters are woken, and go on there.
 * Only where is_sharded. */
void redis_channels_sift(struct redis_channels *channels,
                         bool (*stays)(void *arg, const char *name), void *arg);

bool redis_channels_is_empty(struct redis_channels *channels);

/* Is the channel subscribed to, as far as the server has answered? */
bool redis_channels_listens(struct redis_channels *channels, const char *name);

/* The server said `what` ("message", "subscribe", "unsubscribe") of a channel.  False: it was
 * not asked to, so it is not to be trusted with what it was asked. */
bool redis_channels_hear(struct redis_channels *channels, const char *what,
                         const char *name, const char *message);

/* Bring the channels nearer to what their waiters want: `say` appends a command to what
 * is sent next.  False: it had no memory.  To be called every REDIS_LINGER_MS too. */
bool redis_channels_settle(struct redis_channels *channels,
                           bool (*say)(void *arg, const char *verb, const char *name),
                           void *arg);

/* The connection is gone: every channel is OFF and has to be settled anew. */
void redis_channels_reset(struct redis_channels *channels);

/* The number in the last message of the waiter's channel since it began to wait and,
 * if the connection was lost, since that is back; -1: there was none. */
int64_t redis_waiter_heard(struct redis_waiter *waiter);

/* Sleep until woken, which is true, or until `until_ns`. */
bool redis_waiter_sleep(struct redis_waiter *waiter, int64_t until_ns);

/* Stop waiting.  `satisfied`: the waiter got what it waited for; otherwise a wake-up
 * that it did not use goes to the next. */
void redis_waiter_leave(struct redis_waiter *waiter, bool satisfied);

/* ---- for rules ---- */

/* Wake who has waited longest and is not about to look anyway. */
void redis_channel_wake_one(struct redis_channel *channel);

void redis_channel_wake_all(struct redis_channel *channel);

/* Wake those for whom `count` is enough, the longest first, the needs of those before taken
 * off; a waiter that needs more is passed over.  A waiter that was woken before and has not
 * looked yet is among them, because `count` counts everything that is free. */
void redis_channel_wake_for(struct redis_channel *channel, int64_t count);

#endif /* DLOCK_REDIS_CHANNELS_H */

/* SPDX-License-Identifier: MIT */
/* channels_inside.h -- the structs of a channel and its waiters.
 *
 * Only for channels.c and waiter.c.  All fields are under the mutex of the channels. */
#ifndef BASE_REDIS_CHANNELS_INSIDE_H
#define BASE_REDIS_CHANNELS_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os/bell.h"
#include "base/os/hash_table.h"
#include "base/redis/wake_rule.h"

struct redis_channels;

enum redis_channel_state {
    REDIS_CHANNEL_OFF,
    REDIS_CHANNEL_JOINING,
    REDIS_CHANNEL_ON,
    REDIS_CHANNEL_LEAVING
};

struct redis_waiter {
    struct redis_channels *channels;
    struct redis_channel *channel;
    struct dlock_bell bell;
    struct redis_wake wake;
    int64_t heard; /* see redis_waiter_heard() */
    bool woken;    /* its bell was rung, or is in the list to_ring */
    bool is_up;    /* its last sleep ended because it was woken; only its thread uses this */
    struct redis_waiter *prev, *next;
    struct redis_waiter *prev_to_ring, *next_to_ring;
};

struct redis_channel {
    char name[REDIS_CHANNEL_MAX + 1];
    enum redis_channel_state state;
    struct redis_waiter *waiters; /* longest first */
    bool is_changed;              /* in the list `changed` */
    bool is_gone;                 /* its slot moved to another server; OFF, and not
                                   * subscribed to here any more */
    struct redis_channel *next_changed;
    int64_t lingers_until_ns; /* 0: it does not linger; otherwise it is in the list
                               * `lingering` */
    bool was_missed;          /* a message came while it lingered */
    struct redis_channel *prev_lingering, *next_lingering;
    UT_hash_handle hh;
};

/* Note that the state of the channel has to change: the next redis_channels_settle()
 * does that. */
void redis_channels_mark_changed(struct redis_channels *channels, struct redis_channel *channel);

/* Ring the waiter's bell once the mutex is free. */
void redis_waiter_wake(struct redis_waiter *waiter);

/* Unlock the mutex, and ring the bells of the woken waiters.  A waiter stays in place
 * until its bell was rung. */
void redis_channels_unlock(struct redis_channels *channels);

/* The channel of that name.  If there is none, the memory of *spare becomes the
 * channel, and *spare is NULL. */
struct redis_channel *redis_channels_find(struct redis_channels *channels, const char *name,
                                          struct redis_channel **spare);

/* Give up a channel whose slot has moved to another server, and wake its waiters. */
void redis_channel_let_go(struct redis_channels *channels, struct redis_channel *channel);

void redis_channel_stop_lingering(struct redis_channels *channels, struct redis_channel *channel);

#endif /* BASE_REDIS_CHANNELS_INSIDE_H */

/* SPDX-License-Identifier: MIT */
/* channels.c -- the waiters of each channel, and the SUBSCRIBEs that they need.
 *
 * A message wakes a waiter only after the mutex is unlocked: a woken waiter locks the mutex first,
 * and would otherwise sleep a second time. */
#include "base/redis/channels.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/os/clock.h"
#include "base/os/number.h"
#include "base/redis/channels_inside.h"

void redis_channels_init(struct redis_channels *channels, void (*nudge)(void *arg),
                         void *nudge_arg)
{
    memset(channels, 0, sizeof(*channels));
    dlock_mutex_init(&channels->mutex);
    channels->nudge = nudge;
    channels->nudge_arg = nudge_arg;
}

void redis_channel_stop_lingering(struct redis_channels *channels,
                           struct redis_channel *channel)
{
    if (channel->lingers_until_ns == 0)
        return;
    DL_DELETE2(channels->lingering, channel, prev_lingering, next_lingering);
    channel->lingers_until_ns = 0;
}

static void forget(struct redis_channels *channels, struct redis_channel *channel)
{
    redis_channel_stop_lingering(channels, channel);
    HASH_DEL(channels->all, channel);
    free(channel);
}

void redis_channels_destroy(struct redis_channels *channels)
{
    struct redis_channel *channel;
    struct redis_channel *next;

    HASH_ITER(hh, channels->all, channel, next)
        forget(channels, channel);
    dlock_mutex_destroy(&channels->mutex);
}

/* ---- with the mutex held ---- */

void redis_channels_mark_changed(struct redis_channels *channels, struct redis_channel *channel)
{
    if (channel->is_changed)
        return;
    channel->is_changed = true;
    LL_PREPEND2(channels->changed, channel, next_changed);
}

void redis_waiter_wake(struct redis_waiter *waiter)
{
    if (waiter->woken)
        return;
    waiter->woken = true;
    DL_APPEND2(waiter->channels->to_ring, waiter, prev_to_ring, next_to_ring);
}

/* Unlock the mutex, and ring the bells of the woken waiters.  A waiter stays in place
 * until its bell was rung. */
void redis_channels_unlock(struct redis_channels *channels)
{
    struct redis_waiter *waiter = channels->to_ring;

    channels->to_ring = NULL;
    dlock_mutex_unlock(&channels->mutex);
    while (waiter != NULL) {
        struct redis_waiter *next = waiter->next_to_ring;

        dlock_bell_ring(&waiter->bell);
        waiter = next;
    }
}

void redis_channel_wake_one(struct redis_channel *channel)
{
    struct redis_waiter *waiter;

    DL_FOREACH(channel->waiters, waiter)
        if (!waiter->woken) {
            redis_waiter_wake(waiter);
            return;
        }
}

void redis_channel_wake_for(struct redis_channel *channel, int64_t count)
{
    struct redis_waiter *waiter;

    DL_FOREACH(channel->waiters, waiter)
        if (waiter->wake.need <= count) {
            count -= waiter->wake.need;
            redis_waiter_wake(waiter);
        }
}

void redis_channel_wake_all(struct redis_channel *channel)
{
    struct redis_waiter *waiter;

    DL_FOREACH(channel->waiters, waiter)
        redis_waiter_wake(waiter);
}

static void note(struct redis_channel *channel, int64_t heard)
{
    struct redis_waiter *waiter;

    DL_FOREACH(channel->waiters, waiter)
        waiter->heard = heard;
}

static void hear_message(struct redis_channels *channels, struct redis_channel *channel,
                         const char *message)
{
    int64_t number = 0;
    bool is_enough = channels->tell != NULL &&
                     channels->tell(channels->tell_arg, channel->name);

    if (message != NULL)
        (void)dlock_number_read(message, strlen(message), INT64_MIN, INT64_MAX, &number);
    if (channel->waiters == NULL) {
        channel->was_missed = true;
        return;
    }
    note(channel, number);
    channel->waiters->wake.rule->heard(channel, number, is_enough);
}

/* The channel of that name.  If there is none, the memory of *spare becomes the
 * channel, and *spare is NULL. */
struct redis_channel *redis_channels_find(struct redis_channels *channels, const char *name,
                                  struct redis_channel **spare)
{
    struct redis_channel *channel = NULL;

    HASH_FIND_STR(channels->all, name, channel);
    if (channel != NULL)
        return channel;
    channel = *spare;
    *spare = NULL;
    strncpy(channel->name, name, sizeof(channel->name) - 1);
    channel->state = REDIS_CHANNEL_OFF;
    HASH_ADD_STR(channels->all, name, channel);
    return channel;
}

void redis_channel_let_go(struct redis_channels *channels, struct redis_channel *channel)
{
    redis_channel_stop_lingering(channels, channel);
    channel->state = REDIS_CHANNEL_OFF;
    channel->is_gone = true;
    redis_channel_wake_all(channel);
    redis_channels_mark_changed(channels, channel);
}

/* ---- for the subscription's thread ---- */

bool redis_channels_hear(struct redis_channels *channels, const char *what,
                         const char *name, const char *message)
{
    struct redis_channel *channel = NULL;
    bool makes_sense = true;

    dlock_mutex_lock(&channels->mutex);
    HASH_FIND_STR(channels->all, name, channel);
    if (channel == NULL) {
        /* A message of a channel without waiters is ignored. */
    } else if (strcmp(what, "message") == 0) {
        hear_message(channels, channel, message);
    } else if (strcmp(what, "subscribe") == 0) {
        makes_sense = channel->state == REDIS_CHANNEL_JOINING;
        channel->state = REDIS_CHANNEL_ON;
        note(channel, -1);
        redis_channel_wake_all(channel);
        redis_channels_mark_changed(channels, channel);
    } else if (strcmp(what, "unsubscribe") == 0 && channel->state == REDIS_CHANNEL_ON &&
               channels->is_sharded) {
        redis_channel_let_go(channels, channel);
    } else if (strcmp(what, "unsubscribe") == 0) {
        makes_sense = channel->state == REDIS_CHANNEL_LEAVING || channel->is_gone;
        channel->state = REDIS_CHANNEL_OFF;
        redis_channels_mark_changed(channels, channel);
    }
    redis_channels_unlock(channels);
    return makes_sense;
}

void redis_channels_sift(struct redis_channels *channels,
                         bool (*stays)(void *arg, const char *name), void *arg)
{
    struct redis_channel *channel;
    struct redis_channel *next;

    dlock_mutex_lock(&channels->mutex);
    HASH_ITER(hh, channels->all, channel, next)
        if (!channel->is_gone && !stays(arg, channel->name))
            redis_channel_let_go(channels, channel);
    redis_channels_unlock(channels);
}

bool redis_channels_is_empty(struct redis_channels *channels)
{
    bool is_empty;

    dlock_mutex_lock(&channels->mutex);
    is_empty = channels->all == NULL;
    redis_channels_unlock(channels);
    return is_empty;
}

bool redis_channels_listens(struct redis_channels *channels, const char *name)
{
    struct redis_channel *channel = NULL;
    bool listens;

    dlock_mutex_lock(&channels->mutex);
    HASH_FIND_STR(channels->all, name, channel);
    listens = channel != NULL &&
              (channel->state == REDIS_CHANNEL_ON || channel->state == REDIS_CHANNEL_LEAVING);
    redis_channels_unlock(channels);
    return listens;
}

/* Mark the lingering channels whose time has passed, so that they are unsubscribed. */
static void end_lingering(struct redis_channels *channels, int64_t now_ns)
{
    while (channels->lingering != NULL &&
           channels->lingering->lingers_until_ns <= now_ns) {
        redis_channels_mark_changed(channels, channels->lingering);
        redis_channel_stop_lingering(channels, channels->lingering);
    }
}

bool redis_channels_settle(struct redis_channels *channels,
                           bool (*say)(void *arg, const char *verb, const char *name),
                           void *arg)
{
    bool said = true;

    dlock_mutex_lock(&channels->mutex);
    end_lingering(channels, dlock_clock_ns());
    while (said && channels->changed != NULL) {
        struct redis_channel *channel = channels->changed;
        bool wanted = channel->waiters != NULL || channel->lingers_until_ns != 0;

        LL_DELETE2(channels->changed, channel, next_changed);
        channel->is_changed = false;
        if (channel->state == REDIS_CHANNEL_OFF && !wanted) {
            forget(channels, channel);
        } else if (channel->state == REDIS_CHANNEL_OFF && !channel->is_gone) {
            said = say(arg, "SUBSCRIBE", channel->name);
            channel->state = REDIS_CHANNEL_JOINING;
        } else if (channel->state == REDIS_CHANNEL_ON && !wanted) {
            said = say(arg, "UNSUBSCRIBE", channel->name);
            channel->state = REDIS_CHANNEL_LEAVING;
        }
    }
    redis_channels_unlock(channels);
    return said;
}

void redis_channels_reset(struct redis_channels *channels)
{
    struct redis_channel *channel;
    struct redis_channel *next;

    dlock_mutex_lock(&channels->mutex);
    channels->changed = NULL;
    HASH_ITER(hh, channels->all, channel, next) {
        channel->is_changed = false;
        if (channel->waiters == NULL) {
            forget(channels, channel);
            continue;
        }
        channel->state = REDIS_CHANNEL_OFF;
        redis_channels_mark_changed(channels, channel);
    }
    redis_channels_unlock(channels);
}

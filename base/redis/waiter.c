/* SPDX-License-Identifier: MIT */
/* waiter.c -- a thread that waits for a message of a channel.
 *
 * redis_waiter_sleep() is where a thread waits for the release of a lock in Redis. */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/os/clock.h"
#include "base/os/fiber.h"
#include "base/redis/channels.h"
#include "base/redis/channels_inside.h"

/* The slot of the channel may have moved after the waiter chose this server and before it was
 * attached.  The channels of the server may then have been sifted without this one.  The server
 * would refuse it on each connection, and each refusal ends the connection. */
static void check_place(struct redis_waiter *waiter, const char *name)
{
    struct redis_channels *channels = waiter->channels;
    struct redis_channels *place = channels->elsewhere != NULL
                                       ? channels->elsewhere(channels->elsewhere_arg, name)
                                       : NULL;

    if (place == NULL || place == channels)
        return;
    dlock_mutex_lock(&channels->mutex);
    if (!waiter->channel->is_gone)
        redis_channel_let_go(channels, waiter->channel);
    redis_channels_unlock(channels);
}

/* Add the waiter to the channel of that name.  If there is no such channel, the memory
 * `spare` becomes the channel; otherwise it is freed. */
static void attach(struct redis_channels *channels, struct redis_waiter *waiter,
                   const char *name, struct redis_channel *spare)
{
    struct redis_channel *channel;
    bool is_new;

    dlock_mutex_lock(&channels->mutex);
    channel = redis_channels_find(channels, name, &spare);
    waiter->channels = channels;
    waiter->channel = channel;
    waiter->heard = -1;
    channel->is_gone = false;
    /* A lingering channel stayed subscribed, so no message was missed. */
    if (channel->state == REDIS_CHANNEL_ON &&
        (channel->lingers_until_ns == 0 || channel->was_missed))
        redis_waiter_wake(waiter);
    redis_channel_stop_lingering(channels, channel);
    is_new = channel->state == REDIS_CHANNEL_OFF;
    DL_APPEND(channel->waiters, waiter);
    redis_channels_mark_changed(channels, channel);
    redis_channels_unlock(channels);
    free(spare);
    check_place(waiter, name);
    if (is_new)
        channels->nudge(channels->nudge_arg);
}

struct redis_waiter *redis_channels_join(struct redis_channels *channels,
                                         const char *name, struct redis_wake wake_by)
{
    struct redis_waiter *waiter = calloc(1, sizeof(*waiter));
    struct redis_channel *spare = calloc(1, sizeof(*spare));

    if (waiter == NULL || spare == NULL) {
        free(waiter);
        free(spare);
        return NULL;
    }
    waiter->wake = wake_by;
    attach(channels, waiter, name, spare);
    return waiter;
}

/* If the channel has moved to another server, and the waiter has asked the store since,
 * go on waiting there. */
static void follow_channel(struct redis_waiter *waiter)
{
    struct redis_channels *channels = waiter->channels;
    struct redis_channel *channel = waiter->channel;
    struct redis_channels *elsewhere;
    struct redis_channel *spare;
    char name[REDIS_CHANNEL_MAX + 1];
    bool has_gone;

    dlock_mutex_lock(&channels->mutex);
    has_gone = channel->is_gone && !waiter->woken;
    redis_channels_unlock(channels);
    if (!has_gone)
        return;
    memcpy(name, channel->name, sizeof(name)); /* it stays while it has a waiter */
    elsewhere = channels->elsewhere(channels->elsewhere_arg, name);
    if (elsewhere == NULL || elsewhere == channels)
        return;
    spare = calloc(1, sizeof(*spare));
    if (spare == NULL)
        return;
    dlock_mutex_lock(&channels->mutex);
    has_gone = !waiter->woken;
    if (has_gone)
        DL_DELETE(channel->waiters, waiter);
    redis_channels_mark_changed(channels, channel);
    redis_channels_unlock(channels);
    if (has_gone)
        attach(elsewhere, waiter, name, spare);
    else
        free(spare);
}

/* Was the waiter's bell rung, or will it be? */
static bool is_woken(struct redis_waiter *waiter)
{
    bool woken;

    dlock_mutex_lock(&waiter->channels->mutex);
    woken = waiter->woken;
    redis_channels_unlock(waiter->channels);
    return woken;
}

bool redis_waiter_sleep(struct redis_waiter *waiter, int64_t until_ns)
{
    waiter->is_up = false;
    if (waiter->channels->is_sharded)
        follow_channel(waiter);
    if (!dlock_bell_wait(&waiter->bell, until_ns)) {
        if (!is_woken(waiter))
            return false;
        /* The bell will be rung, and it lies in this waiter's memory, so even a hurried
         * fiber waits for it. */
        dlock_fiber_let_hurry(false);
        (void)dlock_bell_wait(&waiter->bell, INT64_MAX);
    }
    dlock_mutex_lock(&waiter->channels->mutex);
    waiter->woken = false;
    waiter->bell = (struct dlock_bell){0};
    redis_channels_unlock(waiter->channels);
    waiter->is_up = true;
    return true;
}

int64_t redis_waiter_heard(struct redis_waiter *waiter)
{
    int64_t heard;

    dlock_mutex_lock(&waiter->channels->mutex);
    heard = waiter->heard;
    redis_channels_unlock(waiter->channels);
    return heard;
}

/* The last waiter has left: let the channel linger, or mark it for UNSUBSCRIBE. The
 * caller holds the mutex. */
static void linger(struct redis_channels *channels, struct redis_channel *channel)
{
    channel->was_missed = false;
    channel->lingers_until_ns = dlock_clock_after(dlock_clock_ns(), REDIS_LINGER_MS);
    DL_APPEND2(channels->lingering, channel, prev_lingering, next_lingering);
}

void redis_waiter_leave(struct redis_waiter *waiter, bool satisfied)
{
    struct redis_channels *channels = waiter->channels;
    struct redis_channel *channel = waiter->channel;
    bool has_to_settle, was_woken;

    dlock_mutex_lock(&channels->mutex);
    DL_DELETE(channel->waiters, waiter);
    was_woken = waiter->woken;
    if (was_woken || (waiter->is_up && !satisfied))
        waiter->wake.rule->left(channel, waiter->heard, satisfied);
    has_to_settle = channel->waiters == NULL;
    if (has_to_settle && channel->state == REDIS_CHANNEL_ON && waiter->wake.rule->lingers) {
        linger(channels, channel);
        has_to_settle = false;
    }
    if (has_to_settle)
        redis_channels_mark_changed(channels, channel);
    redis_channels_unlock(channels);
    if (has_to_settle)
        channels->nudge(channels->nudge_arg);
    if (was_woken)
        (void)dlock_bell_wait(&waiter->bell, INT64_MAX);
    free(waiter);
}

/* SPDX-License-Identifier: MIT */
/* channels.c -- the waiters of each channel, and the SUBSCRIBEs that they need.
 *
 * redis_waiter_sleep() is where a thread waits for the release of a lock in Redis.  A message
 * wakes a waiter only after the mutex is unlocked: a woken waiter locks the mutex first, and
 * would otherwise sleep a second time. */
#include "base/redis/channels.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/os/bell.h"
#include "base/os/clock.h"
#include "base/os/fiber.h"
#include "base/os/hash_table.h"
#include "base/os/number.h"

enum channel_state { OFF, JOINING, ON, LEAVING };

struct redis_waiter {
    struct redis_channels *channels;
    struct redis_channel *channel;
    struct dlock_bell bell;
    struct redis_wake wake;
    int64_t heard; /* see redis_waiter_heard() */
    bool woken;    /* its bell rings, or is about to */
    struct redis_waiter *prev, *next;
    struct redis_waiter *prev_to_ring, *next_to_ring;
};

struct redis_channel {
    char name[REDIS_CHANNEL_MAX + 1];
    enum channel_state state;
    struct redis_waiter *waiters; /* longest first */
    bool is_changed;              /* in the list of those */
    struct redis_channel *next_changed;
    int64_t lingers_until_ns; /* 0: it does not; otherwise it is in the list of those */
    bool was_missed;          /* while it lingered a message came */
    struct redis_channel *prev_lingering, *next_lingering;
    UT_hash_handle hh;
};

void redis_channels_init(struct redis_channels *channels, void (*nudge)(void *arg),
                         void *nudge_arg)
{
    memset(channels, 0, sizeof(*channels));
    dlock_mutex_init(&channels->mutex);
    channels->nudge = nudge;
    channels->nudge_arg = nudge_arg;
}

static void stop_lingering(struct redis_channels *channels,
                           struct redis_channel *channel)
{
    if (channel->lingers_until_ns == 0)
        return;
    DL_DELETE2(channels->lingering, channel, prev_lingering, next_lingering);
    channel->lingers_until_ns = 0;
}

static void forget(struct redis_channels *channels, struct redis_channel *channel)
{
    stop_lingering(channels, channel);
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

static void mark_changed(struct redis_channels *channels, struct redis_channel *channel)
{
    if (channel->is_changed)
        return;
    channel->is_changed = true;
    LL_PREPEND2(channels->changed, channel, next_changed);
}

static void wake(struct redis_waiter *waiter)
{
    if (waiter->woken)
        return;
    waiter->woken = true;
    DL_APPEND2(waiter->channels->to_ring, waiter, prev_to_ring, next_to_ring);
}

/* Let go of the mutex, and ring.  A waiter does not go before it was rung. */
static void unlock(struct redis_channels *channels)
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
            wake(waiter);
            return;
        }
}

void redis_channel_wake_for(struct redis_channel *channel, int64_t count)
{
    struct redis_waiter *waiter;

    DL_FOREACH(channel->waiters, waiter)
        if (waiter->wake.need <= count) {
            count -= waiter->wake.need;
            wake(waiter);
        }
}

void redis_channel_wake_all(struct redis_channel *channel)
{
    struct redis_waiter *waiter;

    DL_FOREACH(channel->waiters, waiter)
        wake(waiter);
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

/* The channel of that name, made if need be. */
static struct redis_channel *find(struct redis_channels *channels, const char *name)
{
    struct redis_channel *channel = NULL;

    HASH_FIND_STR(channels->all, name, channel);
    if (channel != NULL)
        return channel;
    channel = calloc(1, sizeof(*channel));
    if (channel == NULL)
        return NULL;
    strncpy(channel->name, name, sizeof(channel->name) - 1);
    channel->state = OFF;
    HASH_ADD_STR(channels->all, name, channel);
    return channel;
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
        /* Not ours; a server that invents channels does no harm. */
    } else if (strcmp(what, "message") == 0) {
        hear_message(channels, channel, message);
    } else if (strcmp(what, "subscribe") == 0) {
        makes_sense = channel->state == JOINING;
        channel->state = ON;
        note(channel, -1);
        redis_channel_wake_all(channel);
        mark_changed(channels, channel);
    } else if (strcmp(what, "unsubscribe") == 0) {
        makes_sense = channel->state == LEAVING;
        channel->state = OFF;
        mark_changed(channels, channel);
    }
    unlock(channels);
    return makes_sense;
}

bool redis_channels_listens(struct redis_channels *channels, const char *name)
{
    struct redis_channel *channel = NULL;
    bool listens;

    dlock_mutex_lock(&channels->mutex);
    HASH_FIND_STR(channels->all, name, channel);
    listens = channel != NULL && (channel->state == ON || channel->state == LEAVING);
    unlock(channels);
    return listens;
}

/* Those whose moment is over have to be settled. */
static void end_lingering(struct redis_channels *channels, int64_t now_ns)
{
    while (channels->lingering != NULL &&
           channels->lingering->lingers_until_ns <= now_ns) {
        mark_changed(channels, channels->lingering);
        stop_lingering(channels, channels->lingering);
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
        if (channel->state == OFF && !wanted) {
            forget(channels, channel);
        } else if (channel->state == OFF) {
            said = say(arg, "SUBSCRIBE", channel->name);
            channel->state = JOINING;
        } else if (channel->state == ON && !wanted) {
            said = say(arg, "UNSUBSCRIBE", channel->name);
            channel->state = LEAVING;
        }
    }
    unlock(channels);
    return said;
}

void redis_channels_reset(struct redis_channels *channels)
{
    struct redis_channel *channel;
    struct redis_channel *next;

    dlock_mutex_lock(&channels->mutex);
    HASH_ITER(hh, channels->all, channel, next) {
        stop_lingering(channels, channel);
        channel->state = OFF;
        mark_changed(channels, channel);
    }
    unlock(channels);
}

/* ---- for the waiters ---- */

struct redis_waiter *redis_channels_join(struct redis_channels *channels,
                                         const char *name, struct redis_wake wake_by)
{
    struct redis_waiter *waiter = calloc(1, sizeof(*waiter));
    struct redis_channel *channel;
    bool is_new = false;

    if (waiter == NULL)
        return NULL;
    dlock_mutex_lock(&channels->mutex);
    channel = find(channels, name);
    if (channel != NULL) {
        waiter->channels = channels;
        waiter->channel = channel;
        waiter->wake = wake_by;
        waiter->heard = -1;
        /* Of a channel that lingered every message has been heard. */
        if (channel->state == ON &&
            (channel->lingers_until_ns == 0 || channel->was_missed))
            wake(waiter);
        stop_lingering(channels, channel);
        is_new = channel->state == OFF;
        DL_APPEND(channel->waiters, waiter);
        mark_changed(channels, channel);
    }
    unlock(channels);
    if (channel == NULL) {
        free(waiter);
        return NULL;
    }
    if (is_new)
        channels->nudge(channels->nudge_arg);
    return waiter;
}

/* Does its bell ring, or is it about to? */
static bool is_woken(struct redis_waiter *waiter)
{
    bool woken;

    dlock_mutex_lock(&waiter->channels->mutex);
    woken = waiter->woken;
    unlock(waiter->channels);
    return woken;
}

bool redis_waiter_sleep(struct redis_waiter *waiter, int64_t until_ns)
{
    if (!dlock_bell_wait(&waiter->bell, until_ns)) {
        if (!is_woken(waiter))
            return false;
        /* The ring is on its way, and comes to this waiter's memory: a hurried fiber, too,
         * stays until then. */
        dlock_fiber_let_hurry(false);
        (void)dlock_bell_wait(&waiter->bell, INT64_MAX);
    }
    dlock_mutex_lock(&waiter->channels->mutex);
    waiter->woken = false;
    waiter->bell = (struct dlock_bell){0};
    unlock(waiter->channels);
    return true;
}

int64_t redis_waiter_heard(struct redis_waiter *waiter)
{
    int64_t heard;

    dlock_mutex_lock(&waiter->channels->mutex);
    heard = waiter->heard;
    unlock(waiter->channels);
    return heard;
}

/* With the mutex held: the last waiter has left. */
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
    if (was_woken)
        waiter->wake.rule->left(channel, waiter->heard, satisfied);
    has_to_settle = channel->waiters == NULL;
    if (has_to_settle && channel->state == ON && waiter->wake.rule->lingers) {
        linger(channels, channel);
        has_to_settle = false;
    }
    if (has_to_settle)
        mark_changed(channels, channel);
    unlock(channels);
    if (has_to_settle)
        channels->nudge(channels->nudge_arg);
    if (was_woken)
        (void)dlock_bell_wait(&waiter->bell, INT64_MAX);
    free(waiter);
}

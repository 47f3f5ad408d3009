/* SPDX-License-Identifier: MIT */
/* redis_wake.c -- the rules that decide which waiters a message wakes. */
#include "lock/stores/redis_wake.h"

static void pass_on_unused(struct redis_channel *channel, int64_t heard, bool satisfied)
{
    (void)heard;
    if (!satisfied)
        redis_channel_wake_one(channel);
}

static void lock_heard(struct redis_channel *channel, int64_t number, bool is_enough)
{
    if (number == 1)
        redis_channel_wake_all(channel);
    else if (!is_enough)
        redis_channel_wake_one(channel);
}

const struct redis_wake_rule REDIS_WAKE_LOCK = {.heard = lock_heard,
                                                .left = pass_on_unused};

static void semaphore_heard(struct redis_channel *channel, int64_t number, bool is_enough)
{
    (void)is_enough;
    redis_channel_wake_for(channel, number);
}

static void semaphore_left(struct redis_channel *channel, int64_t heard, bool satisfied)
{
    (void)satisfied;
    redis_channel_wake_for(channel, heard);
}

const struct redis_wake_rule REDIS_WAKE_SEMAPHORE = {.heard = semaphore_heard,
                                                     .left = semaphore_left};

/* The latch was opened or deleted.  Or it was set, and then the woken waiters find it
 * closed and wait on. */
static void latch_heard(struct redis_channel *channel, int64_t number, bool is_enough)
{
    (void)number;
    (void)is_enough;
    redis_channel_wake_all(channel);
}

const struct redis_wake_rule REDIS_WAKE_LATCH = {.heard = latch_heard,
                                                 .left = pass_on_unused};

static void sole_heard(struct redis_channel *channel, int64_t number, bool is_enough)
{
    (void)number;
    (void)is_enough;
    redis_channel_wake_all(channel);
}

const struct redis_wake_rule REDIS_WAKE_SOLE = {.heard = sole_heard,
                                                .left = pass_on_unused,
                                                .lingers = true};

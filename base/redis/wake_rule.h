/* SPDX-License-Identifier: MIT */
/* wake_rule.h -- the rule that decides which waiters a message of a channel wakes. */
#ifndef BASE_REDIS_WAKE_RULE_H
#define BASE_REDIS_WAKE_RULE_H

#include <stdbool.h>
#include <stdint.h>

struct redis_waiter;

enum { REDIS_CHANNEL_MAX = 319 };

struct redis_channel;

/* The rule of a channel.  All waiters of a channel have the same rule.  The functions
 * are called with the channels' mutex held, and call those at the end of channels.h. */
struct redis_wake_rule {
    /* A message came; `number` is its number, or 0 if it is no number.  `is_enough`:
     * another thread reacts to it already, see redis_subscription_tell(). */
    void (*heard)(struct redis_channel *channel, int64_t number, bool is_enough);
    /* A waiter leaves, and is not in the list any more.  It was woken and has not run
     * since, or it has run and left without what it waited for.  `heard` is its
     * redis_waiter_heard(); `satisfied`: it got what it waited for. */
    void (*left)(struct redis_channel *channel, int64_t heard, bool satisfied);
    bool lingers;
};

struct redis_wake {
    const struct redis_wake_rule *rule;
    int64_t need; /* for redis_channel_wake_for() */
};

#endif /* BASE_REDIS_WAKE_RULE_H */

/* SPDX-License-Identifier: MIT */
/* publishes_elsewhere.c -- a release that publishes on a channel without the braces around the
 * name, to which no waiter listens. */
#include <stdio.h>

#include "lock/stores/redisson.h"
#include "tests/conformance/wrong.h"

static dlock_status release(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    char channel[REDISSON_NAME_SIZE];
    char lease[12];
    char level[12];
    struct redis_script_call call = {
        &lock->release,
        false,
        1,
        6,
        {claim->name, claim->owner, level, lease, REDISSON_FREED, channel}, REDIS_SHAPE_ANY};

    snprintf(channel, sizeof(channel), "%s:%s", REDISSON_CHANNEL, claim->name);
    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    snprintf(level, sizeof(level), "%d", claim->level);
    return redisson_release_by(lock, claim, &call);
}

void wrong_publishes_elsewhere(dlock_variant *it)
{
    it->release = release;
}

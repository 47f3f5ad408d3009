/* SPDX-License-Identifier: MIT */
/* held.h -- acquires and releases holds in a table of holds. */
#ifndef TESTS_UNIT_HELD_H
#define TESTS_UNIT_HELD_H

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"
#include "lock/holds.h"
#include "tests/registered.h"

static inline int64_t in_ms(int64_t ms)
{
    return dlock_clock_after(dlock_clock_ns(), ms);
}

/* Acquire a name with a lease of `ms`. */
static inline uint64_t take(struct dlock_holds *holds, const char *name, int64_t ms)
{
    struct dlock_hold *hold = dlock_holds_begin(holds, name, false);

    assert_non_null(hold);
    return dlock_holds_grant(holds, hold, in_ms(ms), in_ms(ms / 3), true);
}

/* The same as a reader or a writer of "a". */
static inline uint64_t take_as(struct dlock_holds *holds, bool shared, int64_t ms,
                               int lease_ms, bool watched)
{
    struct dlock_hold *hold = dlock_holds_begin(holds, "a", shared);

    assert_non_null(hold);
    hold->facts.lease_ms = lease_ms;
    return dlock_holds_grant(holds, hold, in_ms(ms), in_ms(ms / 3), watched);
}

/* Release the hold; returns its level. */
static inline int give(struct dlock_holds *holds, uint64_t id)
{
    int level = 0;
    struct dlock_hold *hold = dlock_holds_release(holds, id, &level);

    if (hold != NULL)
        dlock_holds_finish(holds, hold);
    return level;
}

#endif /* TESTS_UNIT_HELD_H */

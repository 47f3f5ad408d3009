/* SPDX-License-Identifier: MIT */
/* due.h -- whether an output that repeats is due. */
#ifndef LOADTEST_LIVE_DUE_H
#define LOADTEST_LIVE_DUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/duration.h"

/* Have `every_ms` passed since *last_ns?  If so, *last_ns is now. */
static inline bool live_is_due(int64_t *last_ns, int64_t every_ms)
{
    int64_t now_ns = monotonic_ns();

    if (now_ns - *last_ns < every_ms * 1000000)
        return false;
    *last_ns = now_ns;
    return true;
}

#endif /* LOADTEST_LIVE_DUE_H */

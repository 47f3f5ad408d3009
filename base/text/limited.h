/* SPDX-License-Identifier: MIT */
/* limited.h -- logs a repeated event at most once a second. */
#ifndef BASE_LIMITED_H
#define BASE_LIMITED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text/duration.h"
#include "base/text/log.h"

/* Begins as {0}. All threads share it. */
struct limited {
    _Atomic int64_t next_ns;
    atomic_uint_fast64_t skipped;
};

/* May the event be logged now?  True at most once per `every_ms`; *skipped is then the
 * number of times that the answer was false since the last true. */
static inline bool limited_pass(struct limited *l, int64_t every_ms, uint64_t *skipped)
{
    int64_t now_ns = monotonic_ns();
    int64_t next_ns = atomic_load_explicit(&l->next_ns, memory_order_relaxed);

    if (now_ns < next_ns ||
        !atomic_compare_exchange_strong(&l->next_ns, &next_ns,
                                        now_ns + every_ms * 1000000)) {
        atomic_fetch_add_explicit(&l->skipped, 1, memory_order_relaxed);
        return false;
    }
    *skipped = atomic_exchange(&l->skipped, 0);
    return true;
}

/* Log a warning at most once a second. */
#define LIMITED_WARN(fmt, ...)                                                         \
    do {                                                                               \
        static struct limited limit;                                                   \
        uint64_t skipped = 0;                                                          \
        if (limited_pass(&limit, 1000, &skipped))                                      \
            log_warn(fmt " (%llu more like it)", __VA_ARGS__,                          \
                     (unsigned long long)skipped);                                     \
    } while (0)

#endif /* BASE_LIMITED_H */

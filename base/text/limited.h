/* SPDX-License-Identifier: MIT */
/* limited.h -- logs a repeated event at most a few times a second. */
#ifndef BASE_LIMITED_H
#define BASE_LIMITED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text/duration.h"
#include "base/text/log.h"

/* Begins as {0}. All threads share it. */
struct limited {
    _Atomic int64_t next_ns;
    atomic_uint_fast64_t passed; /* since next_ns was set; only limited_pass_some() */
    atomic_uint_fast64_t skipped;
};

/* Does the next span of `every_ms` begin with this event? */
static inline bool limited_begins(struct limited *l, int64_t every_ms)
{
    int64_t now_ns = monotonic_ns();
    int64_t next_ns = atomic_load_explicit(&l->next_ns, memory_order_relaxed);

    return now_ns >= next_ns &&
           atomic_compare_exchange_strong(&l->next_ns, &next_ns, now_ns + every_ms * 1000000);
}

static inline bool limited_answer(struct limited *l, bool passes, uint64_t *skipped)
{
    if (passes)
        *skipped = atomic_exchange(&l->skipped, 0);
    else
        atomic_fetch_add_explicit(&l->skipped, 1, memory_order_relaxed);
    return passes;
}

/* May the event be logged now?  True at most once per `every_ms`; *skipped is then the
 * number of times that the answer was false since the last true. */
static inline bool limited_pass(struct limited *l, int64_t every_ms, uint64_t *skipped)
{
    return limited_answer(l, limited_begins(l, every_ms), skipped);
}

/* The same, but true for the first `most` events of each `every_ms`.  If two threads
 * begin a span at once, a few more may pass. */
static inline bool limited_pass_some(struct limited *l, uint64_t most, int64_t every_ms,
                                     uint64_t *skipped)
{
    bool begins = limited_begins(l, every_ms);

    if (begins)
        atomic_store(&l->passed, 1);
    return limited_answer(l, begins || atomic_fetch_add(&l->passed, 1) < most, skipped);
}

enum { LIMITED_MORE_SIZE = 48, LIMITED_SOME = 10 };

/* Write the end of a line: "" if no event was skipped.  Returns `out`. */
static inline const char *limited_more(uint64_t skipped, char out[LIMITED_MORE_SIZE])
{
    out[0] = '\0';
    if (skipped > 0)
        (void)snprintf(out, LIMITED_MORE_SIZE, " (%llu more like it)",
                       (unsigned long long)skipped);
    return out;
}

#define LIMITED_LINE(level, most, fmt, ...)                                            \
    do {                                                                               \
        static struct limited limit;                                                   \
        uint64_t skipped = 0;                                                          \
        char more[LIMITED_MORE_SIZE];                                                  \
        if (limited_pass_some(&limit, most, 1000, &skipped))                           \
            log_line(level, fmt "%s", __VA_ARGS__, limited_more(skipped, more));       \
    } while (0)

/* Log a warning at most once a second. */
#define LIMITED_WARN(fmt, ...) LIMITED_LINE(LOG_WARN, 1, fmt, __VA_ARGS__)

/* Log an error of which each case matters: LIMITED_SOME lines a second have their details,
 * and the next line counts the others. */
#define LIMITED_ERROR(fmt, ...) LIMITED_LINE(LOG_ERROR, LIMITED_SOME, fmt, __VA_ARGS__)

#endif /* BASE_LIMITED_H */

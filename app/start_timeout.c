/* SPDX-License-Identifier: MIT */
/* start_timeout.c -- limits the time in which a start asks stores that do not
 * answer. */
#include "app/start_timeout.h"

#include "base/os/clock.h"
#include "base/text/log.h"

enum { FIRST_TELL_MS = 1000, TELL_EVERY_MS = 3000, PAUSE_FIRST_MS = 20, PAUSE_LAST_MS = 250 };

static const int64_t NS_PER_MS = 1000000;

void start_timeout_begin(struct start_timeout *p, int64_t allowed_ms)
{
    p->begin_ns = dlock_clock_ns();
    p->end_ns = p->begin_ns + allowed_ms * NS_PER_MS;
    p->tell_ns = p->begin_ns + FIRST_TELL_MS * NS_PER_MS;
    p->pause_ms = PAUSE_FIRST_MS;
}

int64_t start_timeout_seconds(const struct start_timeout *p)
{
    return (dlock_clock_ns() - p->begin_ns + 500 * NS_PER_MS) / (1000 * NS_PER_MS);
}

bool start_timeout_wait(struct start_timeout *p, const char *store, const char *why)
{
    int64_t now_ns = dlock_clock_ns();

    if (now_ns >= p->end_ns)
        return false;
    if (now_ns >= p->tell_ns) {
        log_warn("%s has not answered for %lld s; trying for %lld s more "
                 "(--start-timeout): %s",
                 store, (long long)start_timeout_seconds(p),
                 (long long)((p->end_ns - now_ns) / (1000 * NS_PER_MS) + 1), why);
        p->tell_ns = now_ns + TELL_EVERY_MS * NS_PER_MS;
    }
    dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), p->pause_ms));
    p->pause_ms = p->pause_ms * 2 < PAUSE_LAST_MS ? p->pause_ms * 2 : PAUSE_LAST_MS;
    return true;
}

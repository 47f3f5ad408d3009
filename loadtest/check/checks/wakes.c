/* SPDX-License-Identifier: MIT */
/* wakes.c -- a release wakes one waiter of each process, not all of them.
 *
 * Only wake-ups by a message count, not those by the waiter's own timer.  A waiter may be
 * woken once by a release that happened as it began to wait.  A release by force sends the
 * message too; a history does not say of which lock, so each lock is granted it.  Locks with
 * readers are not judged, since all waiting readers may enter at once. */
#include <inttypes.h>

#include "loadtest/check/checks/checks.h"

static int64_t count_forced_releases(const struct check *c)
{
    int64_t count = 0;

    for (size_t i = 0; i < c->fault_count; i++) {
        const struct history_mark *fault = &c->h->marks[c->faults[i]];

        count += fault->assumption == DLOCK_ASSUMES_RELEASE &&
                 history_takes_effect(fault);
    }
    return count;
}

void check_wakes(struct check *c)
{
    int64_t release_count = c->lock.release_count + count_forced_releases(c);

    if (c->lock.caps & DLOCK_CAP_SHARED)
        return;
    check_need_times(c, 2 * c->h->process_count);
    for (size_t i = 0; i < 2 * c->h->process_count; i++)
        c->times[i] = 0; /* wake-ups and waiters of each process */
    for (size_t i = 0; i < c->lock.mark_count; i++) {
        const struct history_mark *mark = &c->h->marks[c->lock.marks[i]];

        if (mark->kind == DLOCK_EVENT_WAKE && mark->detail == 1)
            c->times[2 * mark->process]++;
        else if (mark->kind == DLOCK_EVENT_WAIT)
            c->times[2 * mark->process + 1]++;
    }
    for (size_t i = 0; i < c->h->process_count; i++) {
        int64_t woken = c->times[2 * i], allowed = release_count + c->times[2 * i + 1];

        c->out->findings[CHECK_wakes].looked += woken;
        if (woken > allowed && c->lock.call_count > 0)
            check_violation(c, CHECK_wakes, DLOCK_ASSUMES_LOCK, c->lock.calls[0],
                            NO_CALL, c->h->calls[c->lock.calls[0]].invoke_ns,
                            c->h->processes[i].last_ns,
                            "%" PRId64 " wake-ups in one process for %" PRId64
                            " releases", woken, release_count);
    }
}

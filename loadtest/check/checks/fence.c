/* SPDX-License-Identifier: MIT */
/* fence.c -- every new holder has a greater fence than all earlier holders.
 *
 * A hold was granted before another if it was over when the other was granted, and the
 * two exclude each other; or if its answer came before the request of the other.  Two
 * holds at the same time, of readers or because exclusion is broken, have no other
 * order.  Nor has a hold whose grant was answered after the end of its lease. */
#include <inttypes.h>
#include <stdlib.h>

#include "loadtest/check/checks/checks.h"

/* An owner whose grant was answered late may have had the lock since its request, so a
 * loss of the store's data from then on explains the fence. */
static void report(struct check *c, const struct hold *highest, const struct hold *hold)
{
    int64_t from_ns =
        hold->invoke_ns < highest->invoke_ns ? hold->invoke_ns : highest->invoke_ns;
    int assumption = check_explain(c, highest, from_ns, hold->granted_ns, true);

    check_violation(c, CHECK_fence, assumption, highest->call, hold->call,
                    highest->invoke_ns, hold->granted_ns,
                    "fence %" PRIu64 " was given out after %" PRIu64, hold->fence,
                    highest->fence);
}

static const struct hold *higher(const struct hold *a, const struct hold *b)
{
    return a == NULL || (b != NULL && b->fence > a->fence) ? b : a;
}

/* ---- those that were over ---- */

static _Thread_local const struct hold *sorting;

static int by_end(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    int order = COMPARE(sorting[*a].kept_ns, sorting[*b].kept_ns);

    return order != 0 ? order : COMPARE(*a, *b);
}

/* Put the holds into c->ghosts, by when they ended. */
static void sort_by_end(struct check *c)
{
    bool is_sorted = true;

    check_need_ghosts(c, c->lock.hold_count);
    for (size_t i = 0; i < c->lock.hold_count; i++) {
        c->ghosts[i] = (uint32_t)i;
        if (i > 0 && c->lock.holds[i].kept_ns < c->lock.holds[i - 1].kept_ns)
            is_sorted = false;
    }
    sorting = c->lock.holds;
    if (!is_sorted)
        qsort(c->ghosts, c->lock.hold_count, sizeof(*c->ghosts), by_end);
}

/* The highest of those that were over, by mode. */
struct over {
    size_t at; /* in c->ghosts */
    const struct hold *highest[2];
};

/* The highest fence of the holds that were over when `hold` was granted, and that it
 * excludes. */
static const struct hold *highest_over(const struct check *c, struct over *over,
                                       const struct hold *hold)
{
    for (; over->at < c->lock.hold_count; over->at++) {
        const struct hold *early = &c->lock.holds[c->ghosts[over->at]];

        if (early == hold || early->kept_ns > hold->granted_ns)
            break;
        if (!(early->flaws & FLAW_NOBODY))
            over->highest[early->mode] = higher(over->highest[early->mode], early);
    }
    if (check_is_heard_late(hold))
        return NULL;
    return hold->mode == DLOCK_MODE_SHARED
               ? over->highest[DLOCK_MODE_EXCLUSIVE]
               : higher(over->highest[DLOCK_MODE_EXCLUSIVE],
                        over->highest[DLOCK_MODE_SHARED]);
}

/* ---- those that had been answered ---- */

/* Fill c->times with the index of the highest of those granted so far, by how many. */
static void gather_highest(struct check *c)
{
    const struct hold *holds = c->lock.holds;
    int64_t highest = NO_CALL;

    check_need_times(c, c->lock.hold_count + 1);
    for (size_t i = 0; i < c->lock.hold_count; i++) {
        c->times[i] = highest;
        if (!(holds[i].flaws & FLAW_NOBODY) &&
            (highest == NO_CALL || holds[i].fence > holds[highest].fence))
            highest = (int64_t)i;
    }
    c->times[c->lock.hold_count] = highest;
}

/* The highest of the first `count` that were granted; NULL: there is none. */
static const struct hold *highest_of(const struct check *c, size_t count)
{
    return c->times[count] != NO_CALL ? &c->lock.holds[c->times[count]] : NULL;
}

static bool is_above(const struct hold *hold, const struct hold *highest)
{
    return highest == NULL || hold->fence > highest->fence;
}

/* The highest of those from `from` and before `end` that its own owner had: it asked for
 * `hold` after it had been answered. */
static const struct hold *highest_own(const struct check *c, size_t from, size_t end,
                                      const struct hold *hold)
{
    const struct hold *highest = NULL;

    for (size_t i = from; i < end; i++) {
        const struct hold *early = &c->lock.holds[i];

        if (early->process == hold->process && early->owner == hold->owner &&
            !(early->flaws & FLAW_NOBODY))
            highest = higher(highest, early);
    }
    return highest;
}

static void look_at(struct check *c, struct over *over, size_t at)
{
    const struct hold *hold = &c->lock.holds[at];
    const struct hold *highest = highest_over(c, over, hold);
    size_t answered, tied;

    if (hold->fence == 0) {
        check_violation(c, CHECK_fence, DLOCK_ASSUMES_LOCK, hold->call, NO_CALL,
                        hold->invoke_ns, hold->granted_ns, "granted without a fence");
        return;
    }
    if (is_above(hold, highest_of(c, at)))
        return;
    if (highest_of(c, at)->fence == hold->fence)
        highest = highest_of(c, at); /* whichever was first */
    answered = check_granted_before(c, hold->invoke_ns);
    tied = check_granted_before(c, check_plus(hold->invoke_ns, 1));
    tied = tied < at ? tied : at;
    highest = higher(highest, highest_of(c, answered));
    highest = higher(highest, highest_own(c, answered, tied, hold));
    if (!is_above(hold, highest))
        report(c, highest, hold);
    else if (!is_above(hold, highest_of(c, tied)))
        check_tied(c, CHECK_fence);
}

void check_fence(struct check *c)
{
    struct over over = {0};

    sort_by_end(c);
    gather_highest(c);
    for (size_t i = 0; i < c->lock.hold_count; i++) {
        if (c->lock.holds[i].flaws & FLAW_NOBODY)
            continue;
        c->out->findings[CHECK_fence].looked++;
        look_at(c, &over, i);
    }
}

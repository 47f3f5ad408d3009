/* SPDX-License-Identifier: MIT */
/* latest.h -- the latest instants seen so far, of two different owners.  So the latest instant of
 * all owners but one is always known: an owner does not exclude itself. */
#ifndef LOADTEST_CHECK_CHECKS_LATEST_H
#define LOADTEST_CHECK_CHECKS_LATEST_H

#include "loadtest/check/checks/checks.h"

struct latest_of {
    int64_t at_ns;
    uint64_t owner;
    uint32_t process;
    const struct hold *hold; /* NULL: the instant is of no hold */
    bool is_there;
    bool is_over;            /* ended at at_ns itself; of two of one instant, the earlier */
};

struct latest {
    struct latest_of best, second; /* of different owners */
};

static inline bool latest_is_of(const struct latest_of *of, uint32_t process,
                                uint64_t owner)
{
    return of->process == process && of->owner == owner;
}

static inline bool latest_is_earlier(const struct latest_of *a, const struct latest_of *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->is_over && !b->is_over;
}

static inline void latest_see(struct latest *l, const struct latest_of *seen)
{
    bool is_best = l->best.is_there && latest_is_of(&l->best, seen->process, seen->owner);

    if (is_best && latest_is_earlier(seen, &l->best))
        return;
    if (l->best.is_there && latest_is_earlier(seen, &l->best)) {
        if (!l->second.is_there || !latest_is_earlier(seen, &l->second))
            l->second = *seen;
        return;
    }
    if (!is_best)
        l->second = l->best;
    l->best = *seen;
}

static inline void latest_see_hold(struct latest *l, const struct hold *hold,
                                   int64_t at_ns)
{
    latest_see(l, &(struct latest_of){.at_ns = at_ns,
                                      .owner = hold->owner,
                                      .process = hold->process,
                                      .hold = hold,
                                      .is_there = true});
}

/* See the hold at the instant until which it is kept. */
static inline void latest_see_kept(struct latest *l, const struct hold *hold)
{
    latest_see(l, &(struct latest_of){.at_ns = hold->kept_ns,
                                      .owner = hold->owner,
                                      .process = hold->process,
                                      .hold = hold,
                                      .is_there = true,
                                      .is_over = check_is_over_at_its_end(hold)});
}

/* The latest of all owners but this one; NULL: there is none. */
static inline const struct latest_of *latest_but(const struct latest *l, uint32_t process,
                                                 uint64_t owner)
{
    const struct latest_of *of = &l->best;

    if (of->is_there && latest_is_of(of, process, owner))
        of = &l->second;
    return of->is_there ? of : NULL;
}

#endif /* LOADTEST_CHECK_CHECKS_LATEST_H */

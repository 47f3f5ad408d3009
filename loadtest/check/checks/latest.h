/* SPDX-License-Identifier: MIT */
/* latest.h -- the latest of what was seen so far, of two different owners: so that there
 * is always the latest of anybody but one owner, who does not exclude itself. */
#ifndef LOADTEST_CHECK_CHECKS_LATEST_H
#define LOADTEST_CHECK_CHECKS_LATEST_H

#include "loadtest/check/checks/checks.h"

struct latest_of {
    int64_t at_ns;
    uint64_t owner;
    uint32_t process;
    const struct hold *hold; /* NULL if what was seen is none */
    bool is_there;
};

struct latest {
    struct latest_of best, second; /* of different owners */
};

static inline bool latest_is_of(const struct latest_of *of, uint32_t process,
                                uint64_t owner)
{
    return of->process == process && of->owner == owner;
}

static inline void latest_see(struct latest *l, const struct latest_of *seen)
{
    bool is_best = l->best.is_there && latest_is_of(&l->best, seen->process, seen->owner);

    if (is_best && seen->at_ns < l->best.at_ns)
        return;
    if (l->best.is_there && seen->at_ns < l->best.at_ns) {
        if (!l->second.is_there || seen->at_ns >= l->second.at_ns)
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
    latest_see(l, &(struct latest_of){at_ns, hold->owner, hold->process, hold, true});
}

/* The latest of anybody else; NULL: there is none. */
static inline const struct latest_of *latest_but(const struct latest *l, uint32_t process,
                                                 uint64_t owner)
{
    const struct latest_of *of = &l->best;

    if (of->is_there && latest_is_of(of, process, owner))
        of = &l->second;
    return of->is_there ? of : NULL;
}

#endif /* LOADTEST_CHECK_CHECKS_LATEST_H */

/* SPDX-License-Identifier: MIT */
/* exclusion.c -- what a lock granted to different owners does not overlap.
 *
 * The overlaps are sorted by what they break: while the earlier owner was still
 * promised the lock and believed it, exclusion; while it was promised but had learnt of
 * the loss, `kept`; after the promise, but the store still said that the lock was its,
 * `ownership`; and the same owner twice is `reentry`.  So this file finds for four
 * properties. */
#include "loadtest/checks/checks.h"

static enum check_property property_of(const struct hold *early,
                                       const struct hold *late)
{
    if (early->process == late->process && early->owner == late->owner)
        return CHECK_reentry;
    if (late->granted_ns < early->believed_ns)
        return CHECK_exclusion;
    return late->granted_ns < early->leased_ns ? CHECK_kept : CHECK_ownership;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void report(struct check *c, const struct hold *early, const struct hold *late)
{
    enum check_property property = property_of(early, late);
    int64_t to_ns = early->kept_ns < late->kept_ns || late->kept_ns <= late->granted_ns
                        ? early->kept_ns
                        : late->kept_ns;
    int64_t from_ns = least(check_sent_ns(c, early), check_sent_ns(c, late));
    int assumption = check_explain(c, early, from_ns, late->granted_ns, true);

    switch (property) {
    case CHECK_reentry:
        check_violation(c, property, DLOCK_ASSUMES_LOCK, early->call, late->call,
                        from_ns, to_ns,
                        "the lock was granted anew to the owner who had it");
        break;
    case CHECK_kept:
        check_violation(c, property, assumption, early->call, late->call,
                        from_ns, to_ns,
                        "granted to another before its lease had ended");
        break;
    case CHECK_ownership:
        check_violation(c, property, assumption, early->call, late->call,
                        from_ns, to_ns,
                        "the first was told that it still had what another got");
        break;
    default:
        check_violation(c, property, assumption, early->call, late->call,
                        from_ns, to_ns,
                        "both were promised the lock at the same time");
        break;
    }
}

static bool excludes(const struct hold *a, const struct hold *b)
{
    return a != NULL && a->kept_ns > b->granted_ns &&
           !(a->mode == DLOCK_MODE_SHARED && b->mode == DLOCK_MODE_SHARED);
}

/* With readers, an owner may have the lock in both modes. */
static bool is_upgrade(const struct hold *a, const struct hold *b)
{
    return a->mode != b->mode && a->process == b->process && a->owner == b->owner;
}

static void keep_longest(const struct hold **longest, const struct hold *hold)
{
    if (*longest == NULL || hold->kept_ns >= (*longest)->kept_ns)
        *longest = hold;
}

void check_exclusion(struct check *c)
{
    const struct hold *longest[2] = {NULL, NULL}; /* by mode */

    for (size_t i = 0; i < c->lock.hold_count; i++) {
        const struct hold *hold = &c->lock.holds[i];

        if (hold->flaws & FLAW_NOBODY)
            continue;
        c->out->findings[CHECK_exclusion].looked++;
        for (int mode = 0; mode < 2; mode++)
            if (excludes(longest[mode], hold) && !is_upgrade(longest[mode], hold))
                report(c, longest[mode], hold);
        keep_longest(&longest[hold->mode == DLOCK_MODE_SHARED], hold);
    }
}

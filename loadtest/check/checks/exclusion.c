/* SPDX-License-Identifier: MIT */
/* exclusion.c -- what a lock granted to different owners does not overlap.
 *
 * The overlaps are sorted by what they break: while the earlier owner was still
 * promised the lock and believed it, exclusion; while it was promised but had learnt of
 * the loss, `kept`; after the promise, but the store still said that the lock was its,
 * `ownership`.  So this file finds for three properties. */
#include "loadtest/check/checks/latest.h"

static enum check_property property_of(const struct hold *early,
                                       const struct hold *late)
{
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
    int64_t from_ns = least(check_sent_ns(&c->h->calls[early->call]),
                            check_sent_ns(&c->h->calls[late->call]));
    int assumption = check_explain(c, early, from_ns, late->granted_ns, true);

    switch (property) {
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

static void compare(struct check *c, const struct latest *seen, const struct hold *hold)
{
    const struct latest_of *of = latest_but(seen, hold->process, hold->owner);

    if (of == NULL)
        return;
    switch (check_meets(of->hold, hold)) {
    case CHECK_BEFORE:
        report(c, of->hold, hold);
        break;
    case CHECK_TIED:
        check_unsure(c, property_of(of->hold, hold), check_tie);
        break;
    case CHECK_AFTER:
        break;
    }
}

void check_exclusion(struct check *c)
{
    struct latest kept[2] = {0}; /* by mode: those that are kept longest */

    for (size_t i = 0; i < c->lock.hold_count; i++) {
        const struct hold *hold = &c->lock.holds[i];

        if (hold->flaws & FLAW_NOBODY)
            continue;
        c->out->findings[CHECK_exclusion].looked++;
        compare(c, &kept[DLOCK_MODE_EXCLUSIVE], hold);
        if (hold->mode == DLOCK_MODE_EXCLUSIVE)
            compare(c, &kept[DLOCK_MODE_SHARED], hold);
        latest_see_hold(&kept[hold->mode], hold, hold->kept_ns);
    }
}

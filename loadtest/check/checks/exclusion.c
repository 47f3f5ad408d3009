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

/* The holds of the lock that were read so far. */
struct seen {
    struct latest kept[2];  /* by mode: those that are kept longest                */
    bool has_times;         /* c->times has, for each hold, until when any up to it is kept */
};

/* Does the hold that is kept longest say for all others that none of them meets `hold`?  A
 * hold of its own process may, if that process recorded nothing later.  So may one that was
 * granted before the longest one was, if `hold` was heard of late. */
static bool is_longest_all(const struct check *c, const struct hold *hold,
                           enum check_order longest)
{
    if (longest == CHECK_BEFORE)
        return true;
    return !check_is_heard_late(hold) &&
           (longest != CHECK_TIED ||
            hold->granted_ns != c->h->processes[hold->process].last_ns);
}

static void gather_times(struct check *c, struct seen *seen)
{
    int64_t longest_ns = 0;

    if (seen->has_times)
        return;
    seen->has_times = true;
    check_need_times(c, c->lock.hold_count);
    for (size_t i = 0; i < c->lock.hold_count; i++) {
        if (c->lock.holds[i].kept_ns > longest_ns)
            longest_ns = c->lock.holds[i].kept_ns;
        c->times[i] = longest_ns;
    }
}

/* The hold of `mode` before `hold` that meets it most surely, and in *order how surely. */
static const struct hold *nearest(struct check *c, struct seen *seen,
                                  const struct hold *hold, int mode,
                                  enum check_order *order)
{
    const struct hold *found = NULL;

    *order = CHECK_AFTER;
    gather_times(c, seen);
    for (size_t i = (size_t)(hold - c->lock.holds);
         i > 0 && c->times[i - 1] >= hold->granted_ns && *order != CHECK_BEFORE; i--) {
        const struct hold *early = &c->lock.holds[i - 1];
        enum check_order meets;

        if ((early->flaws & FLAW_NOBODY) || early->mode != mode ||
            (early->process == hold->process && early->owner == hold->owner))
            continue;
        meets = check_meets(early, hold);
        if (meets < *order) {
            *order = meets;
            found = early;
        }
    }
    return found;
}

static void compare(struct check *c, struct seen *seen, const struct hold *hold, int mode)
{
    const struct latest_of *of = latest_but(&seen->kept[mode], hold->process, hold->owner);
    const struct hold *early;
    enum check_order order;

    if (of == NULL)
        return;
    early = of->hold;
    order = check_meets(early, hold);
    if (!is_longest_all(c, hold, order))
        early = nearest(c, seen, hold, mode, &order);
    if (order == CHECK_BEFORE)
        report(c, early, hold);
    else if (order == CHECK_TIED)
        check_unsure(c, property_of(early, hold), check_tie);
}

void check_exclusion(struct check *c)
{
    struct seen seen = {0};

    for (size_t i = 0; i < c->lock.hold_count; i++) {
        const struct hold *hold = &c->lock.holds[i];

        if (hold->flaws & FLAW_NOBODY)
            continue;
        c->out->findings[CHECK_exclusion].looked++;
        compare(c, &seen, hold, DLOCK_MODE_EXCLUSIVE);
        if (hold->mode == DLOCK_MODE_EXCLUSIVE)
            compare(c, &seen, hold, DLOCK_MODE_SHARED);
        latest_see_kept(&seen.kept[hold->mode], hold);
    }
}

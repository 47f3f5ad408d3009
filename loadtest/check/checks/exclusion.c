/* SPDX-License-Identifier: MIT */
/* exclusion.c -- holds of different owners, if the lock excludes them, do not overlap.
 *
 * The property that an overlap breaks depends on its time.  `exclusion`: the earlier
 * owner's lease went on, and the owner had not heard of a loss.  `kept`: the lease went
 * on, and the owner had heard of the loss.  `ownership`: the lease was over, but the store
 * still named the earlier owner.  So this file reports violations of three properties.
 */
#include "loadtest/check/checks/latest.h"

static enum check_property property_of(const struct hold *early,
                                       const struct hold *late)
{
    if (late->granted_ns < early->believed_ns)
        return CHECK_exclusion;
    return late->granted_ns < early->leased_ns ? CHECK_kept : CHECK_ownership;
}

static void report(struct check *c, const struct hold *early, const struct hold *late)
{
    static const char *const what[] = {
        [CHECK_exclusion] = "both were promised the lock at the same time",
        [CHECK_kept] = "granted to another before its lease had ended",
        [CHECK_ownership] = "the first was told that it still had what another got"};
    enum check_property property = property_of(early, late);
    int64_t to_ns = early->kept_ns < late->kept_ns || late->kept_ns <= late->granted_ns
                        ? early->kept_ns
                        : late->kept_ns;
    int64_t from_ns = least(check_sent_ns(&c->h->calls[early->call]),
                            check_sent_ns(&c->h->calls[late->call]));
    int assumption = check_explain(c, early, from_ns, late->granted_ns, true);

    check_violation(c, property, assumption, early->call, late->call, from_ns, to_ns,
                    "%s", what[property]);
}

/* The holds of the lock that were read so far. */
struct seen {
    struct latest kept[2];  /* by mode: those that are kept longest                */
    struct latest believed[2]; /* and those that are kept and believed in longest  */
    bool has_times;         /* c->times has, for each hold, the latest time to which it or
                             * an earlier hold is kept */
};

/* True: if the hold that is kept longest does not meet `hold`, no earlier hold
 * does.  Exceptions: a hold of the same process, if that process recorded nothing later; a
 * hold that was granted before the longest one, if the answer for `hold` came late. */
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
        longest_ns = greatest(longest_ns, c->lock.holds[i].kept_ns);
        c->times[i] = longest_ns;
    }
}

/* The earlier hold of `mode` that meets `hold` with the greatest certainty; *order has
 * the certainty. */
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

/* The hold that is kept longest may be one whose owner has heard of its loss.  The owner of
 * another hold may believe in it still, which breaks another property. */
static void compare_believed(struct check *c, struct seen *seen, const struct hold *hold,
                             int mode)
{
    const struct latest_of *of = latest_but(&seen->believed[mode], hold->process, hold->owner);

    if (of != NULL && property_of(of->hold, hold) == CHECK_exclusion &&
        check_meets(of->hold, hold) == CHECK_BEFORE)
        report(c, of->hold, hold);
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
    if (order == CHECK_BEFORE) {
        report(c, early, hold);
        if (property_of(early, hold) != CHECK_exclusion)
            compare_believed(c, seen, hold, mode);
    } else if (order == CHECK_TIED) {
        check_tied(c, property_of(early, hold));
    }
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
        latest_see_hold(&seen.believed[hold->mode], hold,
                        least(hold->believed_ns, hold->kept_ns));
    }
}

/* SPDX-License-Identifier: MIT */
/* explain.c -- the assumptions that a lease rests on, and which of them gave way.
 *
 * The records of faults name the assumption.  Without such a record the calls may show it:
 * another owner released the lock without holding it, a watchdog did not renew, or the
 * work took longer than the lease. */
#include "loadtest/check/checks/checks.h"

enum {
    HOLDS_LOOKED_AT = 1000,
    STRANGERS_LOOKED_FOR = 1000, /* violations: many would take long */
};

static bool concerns(const struct check *c, const struct history_mark *fault,
                     const struct hold *hold)
{
    return hold == NULL || fault->owner == 0 ||
           fault->owner == c->h->processes[hold->process].pid;
}

static const struct history_mark *fault_at(const struct check *c, size_t at)
{
    return &c->h->marks[c->faults[at]];
}

/* Was the `at`th fault over before from_ns? */
static bool was_over(const struct check *c, size_t at, int64_t from_ns)
{
    const struct history_mark *fault = fault_at(c, at);

    if (fault->detail == DLOCK_FAULT_HAPPENED)
        return fault->at_ns < from_ns;
    for (size_t i = at + 1; i < c->fault_count; i++) {
        const struct history_mark *end = fault_at(c, i);

        if (end->at_ns >= from_ns)
            return false;
        if (end->detail == DLOCK_FAULT_HAS_ENDED && end->name == fault->name &&
            end->owner == fault->owner)
            return true;
    }
    return false;
}

/* The last fault that went on between the two instants. */
static int explain_by_fault(const struct check *c, const struct hold *hold,
                            int64_t from_ns, int64_t until_ns)
{
    int found = DLOCK_ASSUMES_NONE;

    for (size_t i = 0; i < c->fault_count; i++) {
        const struct history_mark *mark = fault_at(c, i);

        if (mark->at_ns > until_ns)
            break;
        if (mark->assumption != DLOCK_ASSUMES_NONE && history_takes_effect(mark) &&
            concerns(c, mark, hold) && !was_over(c, i, from_ns))
            found = mark->assumption;
    }
    return found;
}

/* True: the fault of a server, the `at`th, has undone its effect by `at_ns`. */
static bool loses_data(const struct check *c, size_t at, int64_t at_ns)
{
    const struct history_mark *mark = fault_at(c, at);

    return mark->owner == 0 && mark->assumption == DLOCK_ASSUMES_STORE &&
           mark->at_ns <= at_ns && history_takes_effect(mark);
}

bool check_may_be_back(const struct check *c, int64_t at_ns)
{
    for (size_t i = 0; i < c->fault_count; i++) {
        if (!loses_data(c, i, at_ns))
            continue;
        for (size_t j = 0; j < c->lock.hold_count; j++) {
            const struct hold *hold = &c->lock.holds[j];

            if (hold->promised_ns >= at_ns && hold->granted_ns <= at_ns &&
                !was_over(c, i, hold->granted_ns))
                return true;
        }
    }
    return false;
}

/* The release of this lock, between these times, by an owner that did not hold
 * it.  NO_CALL: none.  Holders of long before are not searched. */
static int64_t find_stranger(const struct check *c, const struct hold *hold,
                             int64_t from_ns, int64_t until_ns)
{
    size_t count = check_granted_before(c, check_plus(until_ns, 1));

    for (size_t i = count; i > 0 && count - i < HOLDS_LOOKED_AT; i--) {
        const struct hold *other = &c->lock.holds[i - 1];
        const struct history_call *release;

        if (other == hold || other->release == NO_CALL)
            continue;
        release = &c->h->calls[other->release];
        if ((release->answer_ns > other->promised_ns || (other->flaws & FLAW_NOBODY)) &&
            release->invoke_ns <= until_ns && release->answer_ns >= from_ns)
            return other->release;
    }
    return NO_CALL;
}

int check_explain(struct check *c, const struct hold *early, int64_t from_ns,
                  int64_t until_ns, bool is_promised)
{
    int found = explain_by_fault(c, early, from_ns, until_ns);

    c->cause = NO_CALL;
    if (found != DLOCK_ASSUMES_NONE || early == NULL)
        return found;
    if (is_promised && c->explained_count++ < STRANGERS_LOOKED_FOR)
        c->cause = find_stranger(c, early, from_ns, until_ns);
    if (c->cause != NO_CALL)
        return DLOCK_ASSUMES_RELEASE;
    if (is_promised)
        return DLOCK_ASSUMES_LOCK;
    return c->h->processes[early->process].watchdog ? DLOCK_ASSUMES_WATCHDOG
                                                    : DLOCK_ASSUMES_WORK;
}

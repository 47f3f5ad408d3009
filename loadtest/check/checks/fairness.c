/* SPDX-License-Identifier: MIT */
/* fairness.c -- an owner that asked after another owner had begun to wait is served after it.
 *
 * A waiter is in the queue once its first refusal is recorded, and until it is granted the
 * lock or its time to wait is over.  An owner that asks before that first refusal may have come
 * first.
 *
 * A request that is not answered may have left a grant or a place.  The library gives back
 * whatever it left, so the waiter is out of the queue from when that request was sent, and in
 * the queue again, behind all others, once its next refusal is recorded: see
 * dlock_wait_phase.
 *
 * A process whose locks are handed over inside it may serve so many of its own, one after
 * another since a grant of the store, before those who wait in the store. */
#include <stdlib.h>

#include "loadtest/check/checks/checks.h"

/* When the owner who made a call was in the queue for sure. */
struct stay {
    int64_t from_ns; /* HISTORY_NEVER: there is none                       */
    int64_t to_ns;   /* HISTORY_NEVER: until its call was answered         */
};

/* The stays of one call, the first to come first. */
struct stays {
    const uint32_t *marks;
    size_t mark_count;
    size_t at; /* the next mark to look at */
};

static struct stays stays_of(const struct check *c, const struct history_call *call)
{
    struct stays stays = {0};

    stays.mark_count = check_marks_of(c, call->process, call->owner, call->invoke_ns,
                                      call->answer_ns, &stays.marks);
    return stays;
}

static int64_t next_mark_ns(const struct check *c, struct stays *stays,
                            dlock_wait_phase phase)
{
    while (stays->at < stays->mark_count) {
        const struct history_mark *mark = &c->h->marks[stays->marks[stays->at++]];

        if (mark->kind == DLOCK_EVENT_WAIT && mark->detail == (int)phase)
            return mark->at_ns;
    }
    return HISTORY_NEVER;
}

static struct stay next_stay(const struct check *c, struct stays *stays)
{
    struct stay stay;

    stay.from_ns = next_mark_ns(c, stays, DLOCK_WAIT_BEGUN);
    stay.to_ns = next_mark_ns(c, stays, DLOCK_WAIT_GIVEN_UP);
    return stay;
}

/* ---- those that were handed over ---- */

/* May the hold at `index` come before those who wait in the store?  After gather_handed(). */
static bool may_overtake(const struct check *c, size_t index)
{
    return c->times[c->lock.hold_count + 1 + index] != 0;
}

static bool was_handed_over(const struct check *c, const struct hold *hold)
{
    return c->h->processes[hold->process].handover > 0 &&
           c->h->calls[hold->call].sent_ns == 0;
}

/* The number of hand-overs in a row when `hold` was granted after `before`, which had `handed`.
 * UINT32_MAX: the two are of different processes, between which no lock is handed over. */
static uint32_t handed_after(const struct hold *before, uint32_t handed,
                             const struct hold *hold)
{
    bool is_next = before != NULL && before->process == hold->process;

    return is_next && handed < UINT32_MAX ? handed + 1 : UINT32_MAX;
}

/* Note which holds may overtake: after each grant of the store as many hand-overs as the process
 * may make. */
static void gather_handed(struct check *c)
{
    const struct hold *before = NULL;
    uint32_t handed = 0;

    check_need_times(c, 2 * c->lock.hold_count + 1);
    for (size_t i = 0; i < c->lock.hold_count; i++) {
        const struct hold *hold = &c->lock.holds[i];
        int64_t *may = &c->times[c->lock.hold_count + 1 + i];

        *may = 0;
        if (hold->flaws & FLAW_NOBODY)
            continue;
        handed = was_handed_over(c, hold) ? handed_after(before, handed, hold) : 0;
        *may = handed > 0 && handed <= c->h->processes[hold->process].handover;
        before = hold;
    }
}

/* ---- those that gave up: their call, or their place ---- */

/* Of the holds granted so far, the one that was asked for last: its index, by how many
 * were granted.  In c->times. */
static void gather_latest(struct check *c)
{
    int64_t latest = NO_CALL;

    check_need_times(c, c->lock.hold_count + 1);
    for (size_t i = 0; i < c->lock.hold_count; i++) {
        const struct hold *hold = &c->lock.holds[i];

        c->times[i] = latest;
        if (!(hold->flaws & FLAW_NOBODY) && !may_overtake(c, i) &&
            (latest == NO_CALL || hold->invoke_ns >= c->lock.holds[latest].invoke_ns))
            latest = (int64_t)i;
    }
    c->times[c->lock.hold_count] = latest;
}

/* The owner who made the call at `index` was in the queue from from_ns, and gave up at
 * to_ns. */
static void look_at_stay(struct check *c, int64_t index, int64_t from_ns, int64_t to_ns,
                         const char *what)
{
    const struct history_call *call = &c->h->calls[index];
    int64_t latest = c->times[check_granted_before(c, to_ns)];
    const struct hold *hold = latest != NO_CALL ? &c->lock.holds[latest] : NULL;

    c->out->findings[CHECK_fairness].looked++;
    if (hold == NULL || (hold->process == call->process && hold->owner == call->owner))
        return;
    if (check_order(from_ns, hold->invoke_ns) == CHECK_BEFORE)
        check_violation(c, CHECK_fairness,
                        check_explain(c, hold, call->invoke_ns, hold->granted_ns, true),
                        index, hold->call, from_ns, to_ns, "%s", what);
    else if (check_order(from_ns, hold->invoke_ns) == CHECK_TIED)
        check_tied(c, CHECK_fairness);
}

/* All stays of the call at `index` that ended by end_ns, but for one that ended with the call.
 * Answers since when the owner was in the queue then; HISTORY_NEVER: it was not. */
static int64_t look_at_stays(struct check *c, int64_t index, int64_t end_ns)
{
    struct stays stays = stays_of(c, &c->h->calls[index]);
    struct stay stay = next_stay(c, &stays);

    while (stay.from_ns != HISTORY_NEVER && stay.to_ns < end_ns) {
        look_at_stay(c, index, stay.from_ns, stay.to_ns,
                     "waited and gave its place up, and one that came later was served "
                     "before");
        stay = next_stay(c, &stays);
    }
    return stay.from_ns;
}

static void look_at_leaver(struct check *c, const struct refusal *refusal)
{
    const struct history_call *call = &c->h->calls[refusal->call];
    int64_t to_ns = call->answer_ns, from_ns;

    if (call->wait_ns == 0)
        return;
    if (call->wait_ns > 0 && call->invoke_ns + call->wait_ns < to_ns)
        to_ns = call->invoke_ns + call->wait_ns;
    from_ns = look_at_stays(c, refusal->call, to_ns);
    if (from_ns < to_ns)
        look_at_stay(c, refusal->call, from_ns, to_ns,
                     "waited and gave up, and one that came later was served before");
}

/* ---- those that were served, the last first ---- */

/* `hold` was granted before `first`, which was in the queue at first_ns.  If both had the lock at
 * once, nobody can say which of them was served first. */
static void compare(struct check *c, const struct hold *hold, const struct hold *first,
                    int64_t first_ns)
{
    bool is_ended = hold->kept_ns == hold->promised_ns && hold->kept_ns < HISTORY_NEVER;
    enum check_order order = check_order(hold->kept_ns, first->granted_ns);

    if (order == CHECK_TIED && is_ended)
        order = CHECK_BEFORE; /* a lease is over at its own instant */
    order = check_later(order, check_order(first_ns, hold->invoke_ns));
    if (order == CHECK_BEFORE)
        check_violation(c, CHECK_fairness,
                        check_explain(c, first, first->invoke_ns, hold->granted_ns, true),
                        first->call, hold->call, first_ns, first->granted_ns,
                        "waited, and one that came later was served first");
    else if (order == CHECK_TIED)
        check_tied(c, CHECK_fairness);
}

static void look_at_served(struct check *c)
{
    /* To wait, of all that were served later.  Of a grant that was heard late, nobody can say when
     * it was served. */
    const struct hold *first = NULL;
    int64_t first_ns = HISTORY_NEVER;

    for (size_t i = c->lock.hold_count; i-- > 0;) {
        const struct hold *hold = &c->lock.holds[i];
        int64_t at_ns;

        if (hold->flaws & FLAW_NOBODY)
            continue;
        at_ns = look_at_stays(c, hold->call, hold->granted_ns);
        c->out->findings[CHECK_fairness].looked++;
        if (first != NULL && !may_overtake(c, i))
            compare(c, hold, first, first_ns);
        if (at_ns < first_ns && !check_is_heard_late(hold)) {
            first_ns = at_ns;
            first = hold;
        }
    }
}

void check_fairness(struct check *c)
{
    gather_handed(c);
    gather_latest(c);
    look_at_served(c);
    for (size_t i = 0; i < c->lock.refusal_count; i++)
        look_at_leaver(c, &c->lock.refusals[i]);
}

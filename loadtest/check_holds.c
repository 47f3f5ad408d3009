/* SPDX-License-Identifier: MIT */
/* check_holds.c -- from calls to holds.
 *
 * The calls of one owner on one lock come one after the other, but for the watchdog's
 * renewals, which may overlap them.  So a hold is what lies between an acquire that was
 * granted and the release of its last level. */
#include <stdlib.h>

#include "loadtest/checks/checks.h"

bool check_is_answered(const struct check *c, const struct history_call *call)
{
    return call->is_answered && call->answer_ns < c->end_ns;
}

bool check_is_ok(const struct check *c, const struct history_call *call)
{
    return check_is_answered(c, call) && call->status == DLOCK_OK;
}

/* Of the calls of one owner on one lock: what was put together so far. */
struct group {
    size_t hold_first, refusal_first; /* in the arrays of all                 */
    size_t at;                        /* in c->by_owner: the call being added */
};

static bool is_same_group(const struct history_call *a, const struct history_call *b)
{
    return a->name == b->name && a->process == b->process && a->owner == b->owner &&
           a->mode == b->mode;
}

static struct hold *last_hold(struct check *c, const struct group *g)
{
    return c->hold_count > g->hold_first ? &c->holds[c->hold_count - 1] : NULL;
}

static bool is_open(const struct hold *hold)
{
    return hold != NULL && hold->depth > 0 && !hold->is_spent;
}

static void see(struct hold *hold, int64_t at_ns)
{
    if (at_ns > hold->seen_ns)
        hold->seen_ns = at_ns;
}

/* The lease was set anew, and its owner learnt of it at `at_ns`. */
static void promise(struct hold *hold, int64_t deadline_ns, int64_t at_ns)
{
    if (at_ns <= hold->believed_ns && deadline_ns > hold->believed_ns)
        hold->believed_ns = deadline_ns;
    if (deadline_ns > hold->promised_ns)
        hold->promised_ns = deadline_ns;
}

static void lose(struct hold *hold, int64_t call, int64_t at_ns)
{
    if (at_ns >= hold->lost_ns)
        return;
    hold->lost_ns = at_ns;
    hold->flawed_by = call;
}

static struct hold *new_hold(struct check *c, const struct history_call *call)
{
    struct hold *hold;

    if (c->hold_count == c->hold_room) {
        c->hold_room = c->hold_room * 2 + 64;
        c->holds = check_need(realloc(c->holds, c->hold_room * sizeof(*c->holds)));
    }
    hold = &c->holds[c->hold_count++];
    *hold = (struct hold){
        .process = call->process,
        .name = call->name,
        .owner = call->owner,
        .mode = call->mode,
        .depth = 1,
        .fence = call->fence,
        .call = call - c->h->calls,
        .release = NO_CALL,
        .flawed_by = NO_CALL,
        .invoke_ns = call->invoke_ns,
        .granted_ns = call->answer_ns,
        .promised_ns = call->deadline_ns,
        .believed_ns = call->deadline_ns,
        .seen_ns = call->answer_ns,
        .gone_ns = HISTORY_NEVER,
        .lost_ns = HISTORY_NEVER,
    };
    return hold;
}

static void add_grant(struct check *c, const struct group *g,
                      const struct history_call *call)
{
    unsigned caps = c->h->processes[call->process].caps;
    struct hold *hold = last_hold(c, g);
    bool is_again = call->level > 1;

    if (call->level == 0)
        is_again = (caps & DLOCK_CAP_REENTRANT) && is_open(hold) &&
                   hold->promised_ns > call->invoke_ns;
    if (!is_again || !is_open(hold) || !(caps & DLOCK_CAP_REENTRANT)) {
        hold = new_hold(c, call);
        if (is_again) {
            hold->flaws |= FLAW_LEVEL;
            hold->flawed_by = hold->call;
        }
        return;
    }
    hold->depth++;
    see(hold, call->invoke_ns);
    promise(hold, call->deadline_ns, call->answer_ns);
    if ((call->level != 0 && call->level != hold->depth) ||
        (call->fence != 0 && call->fence != hold->fence)) {
        hold->flaws |= call->fence != hold->fence ? FLAW_FENCE : FLAW_LEVEL;
        hold->flawed_by = call - c->h->calls;
    }
}

static void add_refusal(struct check *c, const struct group *g,
                        const struct history_call *call)
{
    if (c->refusal_count == c->refusal_room) {
        c->refusal_room = c->refusal_room * 2 + 64;
        c->refusals =
            check_need(realloc(c->refusals, c->refusal_room * sizeof(*c->refusals)));
    }
    /* Until the group is done, from_ns is the index of the owner's own hold. */
    c->refusals[c->refusal_count++] = (struct refusal){
        .name = call->name,
        .call = call - c->h->calls,
        .from_ns = is_open(last_hold(c, g)) ? (int64_t)c->hold_count - 1 : NO_CALL,
    };
}

static void add_acquire(struct check *c, const struct group *g,
                        const struct history_call *call)
{
    if (!check_is_answered(c, call))
        return;
    if (call->status == DLOCK_OK)
        add_grant(c, g, call);
    else if (call->status == DLOCK_BUSY || call->status == DLOCK_TIMEOUT)
        add_refusal(c, g, call);
}

/* Somebody renewed or released a lock that was never granted to it. */
static void note_nobody(struct check *c, const struct history_call *call)
{
    struct hold *hold = new_hold(c, call);

    hold->flaws |= FLAW_NOBODY;
    hold->flawed_by = hold->call;
    hold->granted_ns = hold->promised_ns = hold->believed_ns = call->invoke_ns;
    hold->seen_ns = call->invoke_ns;
    hold->is_spent = true;
}

/* Which hold does a renewal concern: the last that was granted when it was sent. */
static struct hold *hold_at(struct check *c, const struct group *g, int64_t at_ns)
{
    for (size_t i = c->hold_count; i > g->hold_first; i--)
        if (c->holds[i - 1].granted_ns <= at_ns)
            return &c->holds[i - 1];
    return NULL;
}

/* A call found the hold there. */
static void find_there(struct check *c, struct hold *hold,
                       const struct history_call *call)
{
    if (hold->release != NO_CALL) {
        const struct history_call *release = &c->h->calls[hold->release];

        if (check_is_ok(c, release) && call->invoke_ns > release->answer_ns) {
            hold->flaws |= FLAW_ZOMBIE;
            hold->flawed_by = call - c->h->calls;
        }
    }
    see(hold, call->invoke_ns);
}

/* Did it begin a hold, rather than enter one again? */
static bool is_new_grant(const struct check *c, const struct history_call *call)
{
    return check_is_ok(c, call) && call->level <= 1;
}

/* Was the owner granted the lock anew while this renewal was on its way?  Then nobody
 * can say which of the two holds it found. */
static bool is_ambiguous(const struct check *c, const struct group *g,
                         const struct history_call *call)
{
    for (size_t i = g->at; i-- > 0;) {
        const struct history_call *before = &c->h->calls[c->by_owner[i]];

        if (!is_same_group(call, before))
            break;
        if (before->kind == DLOCK_EVENT_ACQUIRE) {
            if (is_new_grant(c, before) && before->answer_ns > call->invoke_ns)
                return true;
            break;
        }
    }
    for (size_t i = g->at + 1; i < c->h->call_count; i++) {
        const struct history_call *next = &c->h->calls[c->by_owner[i]];

        if (!is_same_group(call, next) || next->invoke_ns >= call->answer_ns)
            return false;
        if (next->kind == DLOCK_EVENT_ACQUIRE && is_new_grant(c, next))
            return true;
    }
    return false;
}

static void add_renewal(struct check *c, const struct group *g,
                        const struct history_call *call)
{
    struct hold *hold = hold_at(c, g, call->invoke_ns);

    if (!check_is_answered(c, call) || is_ambiguous(c, g, call))
        return;
    if (call->status == DLOCK_OK && hold == NULL) {
        note_nobody(c, call);
    } else if (call->status == DLOCK_OK) {
        find_there(c, hold, call);
        promise(hold, call->deadline_ns, call->answer_ns);
    } else if (call->status == DLOCK_LOST && hold != NULL) {
        lose(hold, call - c->h->calls, call->answer_ns);
        if (hold->release == NO_CALL)
            hold->is_spent = true;
    }
}

static void add_release(struct check *c, const struct group *g,
                        const struct history_call *call)
{
    bool is_owned = c->h->processes[call->process].caps & DLOCK_CAP_OWNED;
    struct hold *hold = last_hold(c, g);
    bool was_open = is_open(hold);

    if (check_is_answered(c, call) && (call->status == DLOCK_INVALID ||
                                       call->status == DLOCK_UNSUPPORTED))
        return;
    if (hold == NULL) {
        if (is_owned && check_is_ok(c, call))
            note_nobody(c, call);
        return;
    }
    if (is_owned && check_is_ok(c, call))
        find_there(c, hold, call);
    if (check_is_answered(c, call) && call->status == DLOCK_LOST) {
        lose(hold, call - c->h->calls, call->answer_ns);
        if (hold->depth > 1)
            hold->is_spent = true;
    }
    if (hold->depth > 0)
        hold->depth--;
    if (hold->depth == 0 && hold->release == NO_CALL &&
        (was_open || hold->is_spent))
        hold->release = call - c->h->calls;
}

static void add_call(struct check *c, const struct group *g,
                     const struct history_call *call)
{
    struct hold *hold = last_hold(c, g);

    if (call->invoke_ns >= c->end_ns)
        return;
    switch (call->kind) {
    case DLOCK_EVENT_ACQUIRE:
        add_acquire(c, g, call);
        break;
    case DLOCK_EVENT_RENEW:
        add_renewal(c, g, call);
        break;
    case DLOCK_EVENT_RELEASE:
        add_release(c, g, call);
        break;
    case DLOCK_EVENT_ABANDON:
        if (hold != NULL) {
            hold->is_spent = true;
            hold->worked_ns = call->invoke_ns;
        }
        break;
    default:
        break;
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greatest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* All calls of its owner are known: when did it end? */
static void finish_hold(struct check *c, struct hold *hold)
{
    const struct history_process *process = &c->h->processes[hold->process];
    const struct history_call *release =
        hold->release == NO_CALL ? NULL : &c->h->calls[hold->release];
    bool is_answered = release != NULL && check_is_answered(c, release);
    int64_t cut_ns = HISTORY_NEVER;

    if (release != NULL && !(is_answered && release->status == DLOCK_LOST))
        cut_ns = release->invoke_ns;
    else if (release == NULL && !(process->caps & DLOCK_CAP_EXPIRES))
        cut_ns = process->last_ns; /* its session ended with it */
    hold->kept_ns = greatest(hold->seen_ns, least(cut_ns, hold->promised_ns));
    if (is_answered && (release->status == DLOCK_OK || release->status == DLOCK_LOST))
        hold->gone_ns = release->answer_ns;
    hold->gone_ns = least(hold->gone_ns, hold->lost_ns);
    if (hold->worked_ns == 0)
        hold->worked_ns = release != NULL ? release->invoke_ns
                                          : least(hold->promised_ns, process->last_ns);
    hold->worked_ns = greatest(hold->worked_ns, hold->granted_ns);
    hold->leased_ns = hold->believed_ns;
    hold->believed_ns = least(hold->believed_ns, hold->lost_ns);
}

static void finish_refusal(struct check *c, struct refusal *refusal)
{
    const struct history_call *call = &c->h->calls[refusal->call];
    unsigned caps = c->h->processes[call->process].caps;
    int64_t own = refusal->from_ns;

    refusal->from_ns = call->invoke_ns;
    if (own == NO_CALL || !(caps & DLOCK_CAP_REENTRANT))
        return;
    refusal->is_own = c->holds[own].kept_ns > call->answer_ns;
    refusal->from_ns = greatest(call->invoke_ns, c->holds[own].kept_ns);
    /* Its own hold would have let it in. */
    c->holds[own].gone_ns = least(c->holds[own].gone_ns, call->answer_ns);
}

static void finish_group(struct check *c, const struct group *g)
{
    for (size_t i = g->hold_first; i < c->hold_count; i++)
        finish_hold(c, &c->holds[i]);
    for (size_t i = g->refusal_first; i < c->refusal_count; i++)
        finish_refusal(c, &c->refusals[i]);
}

/* Is the hold of an owner before that of the mark, in the order of groups? */
static bool is_before(const struct hold *hold, const struct history_mark *mark)
{
    if (hold->name != mark->name)
        return hold->name < mark->name;
    if (hold->process != mark->process)
        return hold->process < mark->process;
    return hold->owner < mark->owner;
}

/* The owner was told that it has lost the lock, and believes no longer. */
static void apply_loss(struct check *c, const struct history_mark *mark)
{
    size_t low = 0, high = c->hold_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (is_before(&c->holds[middle], mark))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < c->hold_count; low++) {
        struct hold *hold = &c->holds[low];

        if (hold->name != mark->name || hold->process != mark->process ||
            hold->owner != mark->owner)
            return;
        if (hold->granted_ns <= mark->at_ns && hold->worked_ns >= mark->at_ns)
            hold->believed_ns = least(hold->believed_ns, mark->at_ns);
    }
}

void check_build(struct check *c)
{
    const struct history_call *calls = c->h->calls;
    struct group g = {0};

    c->hold_count = c->refusal_count = 0;
    check_sort_calls(c);
    for (size_t i = 0; i < c->h->call_count; i++) {
        const struct history_call *call = &calls[c->by_owner[i]];

        if (i > 0 && !is_same_group(&calls[c->by_owner[i - 1]], call)) {
            finish_group(c, &g);
            g = (struct group){c->hold_count, c->refusal_count, i};
        }
        g.at = i;
        add_call(c, &g, call);
    }
    finish_group(c, &g);
    for (size_t i = 0; i < c->h->mark_count; i++)
        if (c->h->marks[i].kind == DLOCK_EVENT_LOST)
            apply_loss(c, &c->h->marks[i]);
    check_sort_holds(c);
}

/* SPDX-License-Identifier: MIT */
/* holds.c -- from calls to holds.
 *
 * The calls of one owner on one lock come one after the other, but for the watchdog's
 * renewals, which may overlap them.  So a hold is what lies between an acquire that was
 * granted and the release of its last level. */
#include <inttypes.h>
#include <stdlib.h>

#include "loadtest/check/checks/checks.h"
#include "loadtest/kit/memory.h"

bool check_is_answered(const struct check *c, const struct history_call *call)
{
    return call->is_answered && call->answer_ns < c->end_ns;
}

bool check_is_ok(const struct check *c, const struct history_call *call)
{
    return check_is_answered(c, call) && call->status == DLOCK_OK;
}

bool check_is_heard_late(const struct hold *hold)
{
    return hold->promised_ns <= hold->granted_ns;
}

/* Of the calls of one owner on one lock: what was put together so far. */
struct group {
    size_t hold_first, refusal_first; /* in the arrays of all                 */
    size_t at;                        /* in c->by_owner: the call being added */
    const struct history_call *last;  /* answered last, of those its owner made itself */
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
        c->holds = memory_need(realloc(c->holds, c->hold_room * sizeof(*c->holds)));
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
        .earlier = NO_CALL,
        .active_ns = call->invoke_ns,
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

/* Releases without an answer may not have happened.  Does the level that was granted show
 * it?  Then they did not. */
static void take_back_releases(struct hold *hold, int level)
{
    int more = hold != NULL && !hold->is_spent ? level - 1 - hold->depth : 0;

    if (more <= 0 || more > hold->unsure_releases)
        return;
    hold->depth += more;
    hold->unsure_releases -= more;
    hold->release = NO_CALL;
}

static void add_grant(struct check *c, const struct group *g,
                      const struct history_call *call)
{
    unsigned caps = c->h->processes[call->process].caps;
    struct hold *hold = last_hold(c, g);
    bool is_again = call->level > 1;

    take_back_releases(hold, call->level);
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
    hold->active_ns = call->invoke_ns;
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
            memory_need(realloc(c->refusals, c->refusal_room * sizeof(*c->refusals)));
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
    struct hold *hold = last_hold(c, g);

    if (is_open(hold) && (!check_is_answered(c, call) || call->status != DLOCK_OK))
        hold->is_doubtful = true; /* a level that nobody heard of renewed it */
    if (!check_is_answered(c, call))
        return;
    if (call->status == DLOCK_OK)
        add_grant(c, g, call);
    else if (call->status == DLOCK_BUSY || call->status == DLOCK_TIMEOUT)
        add_refusal(c, g, call);
}

/* Somebody renewed or released a lock that was never granted to it, or no longer. */
static void note_nobody(struct check *c, const struct history_call *call)
{
    struct hold *hold = new_hold(c, call);

    hold->flaws |= FLAW_NOBODY;
    hold->flawed_by = hold->call;
    hold->granted_ns = hold->promised_ns = hold->believed_ns = call->invoke_ns;
    hold->seen_ns = call->invoke_ns;
    hold->is_spent = true;
    if (call->kind == DLOCK_EVENT_RELEASE)
        hold->release = hold->call;
}

/* Which hold does a renewal concern: the last that was granted when it was sent. */
static struct hold *hold_at(struct check *c, const struct group *g, int64_t at_ns)
{
    for (size_t i = c->hold_count; i > g->hold_first; i--)
        if (c->holds[i - 1].granted_ns <= at_ns)
            return &c->holds[i - 1];
    return NULL;
}

/* Only the watchdog's calls may come at the very instant at which another of the same
 * owner is answered, and before it. */
static bool comes_after(const struct history_call *first, const struct history_call *call)
{
    enum check_order order = check_order(first->answer_ns, call->invoke_ns);

    return order == CHECK_BEFORE ||
           (order == CHECK_TIED && call->kind != DLOCK_EVENT_RENEW);
}

/* A call found the hold there. */
static void find_there(struct check *c, struct hold *hold,
                       const struct history_call *call)
{
    if (hold->release != NO_CALL) {
        const struct history_call *release = &c->h->calls[hold->release];

        if (check_is_ok(c, release) && comes_after(release, call)) {
            hold->flaws |= FLAW_ZOMBIE;
            hold->flawed_by = call - c->h->calls;
        } else if (check_is_ok(c, release) &&
                   check_order(release->answer_ns, call->invoke_ns) == CHECK_TIED) {
            hold->flaws |= FLAW_TIED;
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

    if (hold != NULL && !(check_is_ok(c, call) || (check_is_answered(c, call) &&
                                                   call->status == DLOCK_LOST)))
        hold->is_doubtful = true;
    if (!check_is_answered(c, call) || is_ambiguous(c, g, call)) {
        if (hold != NULL)
            hold->is_doubtful = true;
        return;
    }
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
    bool had_none = hold == NULL ||
                    (!is_owned && hold->depth == 0 && hold->release != NO_CALL) ||
                    (!is_owned && (hold->flaws & FLAW_NOBODY));

    if (check_is_answered(c, call) && (call->status == DLOCK_INVALID ||
                                       call->status == DLOCK_UNSUPPORTED))
        return;
    if (had_none) {
        if (check_is_ok(c, call))
            note_nobody(c, call);
        return;
    }
    hold->active_ns = call->invoke_ns;
    if (is_owned && check_is_ok(c, call))
        find_there(c, hold, call);
    if (check_is_answered(c, call) && call->status == DLOCK_LOST) {
        lose(hold, call - c->h->calls, call->answer_ns);
        if (hold->depth > 1)
            hold->is_spent = true;
    }
    if (!check_is_answered(c, call) ||
        (call->status != DLOCK_OK && call->status != DLOCK_LOST))
        hold->unsure_releases++;
    if (hold->depth > 0)
        hold->depth--;
    if (hold->depth == 0 && hold->release == NO_CALL &&
        (was_open || hold->is_spent))
        hold->release = call - c->h->calls;
}

/* An owner makes one call after another, but for the watchdog's renewals.  If it did not,
 * nobody can say which of its releases ended which hold. */
static void note_overlap(struct check *c, struct group *g, const struct history_call *call)
{
    const struct history_process *process = &c->h->processes[call->process];

    if (call->kind == DLOCK_EVENT_RENEW)
        return;
    if (g->last != NULL && call->invoke_ns < g->last->answer_ns) {
        if (c->out->overlap[0] == '\0')
            snprintf(c->out->overlap, sizeof(c->out->overlap),
                     "owner %" PRIu64 " of pid %" PRIu32 " called again %" PRId64
                     " ns before it was answered", call->owner, process->pid,
                     g->last->answer_ns - call->invoke_ns);
        c->is_confused[call->name] = true;
    }
    if (call->is_answered && (g->last == NULL || call->answer_ns > g->last->answer_ns))
        g->last = call;
}

static void add_call(struct check *c, struct group *g,
                     const struct history_call *call)
{
    struct hold *hold = last_hold(c, g);

    if (call->invoke_ns >= c->end_ns)
        return;
    note_overlap(c, g, call);
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
        if (hold != NULL && hold->release == NO_CALL) {
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

/* The first instant that is later. */
static int64_t after(int64_t at_ns)
{
    return at_ns < HISTORY_NEVER ? at_ns + 1 : at_ns;
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
        cut_ns = after(process->last_ns); /* its session lived when it spoke */
    hold->kept_ns = greatest(hold->seen_ns, least(cut_ns, hold->promised_ns));
    if (is_answered && (release->status == DLOCK_OK || release->status == DLOCK_LOST))
        hold->gone_ns = release->answer_ns;
    hold->gone_ns = least(hold->gone_ns, hold->lost_ns);
    if (hold->worked_ns == 0)
        hold->worked_ns = release != NULL ? release->invoke_ns
                                          : least(hold->promised_ns, process->last_ns);
    hold->worked_ns = greatest(hold->worked_ns, hold->active_ns);
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
    /* A release of that very instant came later; a lease that ended then was over. */
    refusal->is_own = c->holds[own].kept_ns > call->answer_ns ||
                      (c->holds[own].kept_ns == call->answer_ns &&
                       c->holds[own].promised_ns > call->answer_ns);
    refusal->from_ns = greatest(call->invoke_ns, c->holds[own].kept_ns);
    /* Its own hold would have let it in. */
    c->holds[own].gone_ns = least(c->holds[own].gone_ns, call->answer_ns);
}

/* Was it granted while an earlier hold of its owner was kept?  The store granted a hold that
 * was heard of late at some time between the call and the end of the lease. */
static bool is_within(const struct hold *hold, int64_t kept_ns)
{
    return check_is_heard_late(hold) ? hold->promised_ns > hold->invoke_ns &&
                                           hold->promised_ns <= kept_ns
                                     : hold->granted_ns < kept_ns;
}

/* Which of them were granted while their owner surely had an earlier one? */
static void find_again(struct check *c, const struct group *g)
{
    const struct hold *longest = NULL;
    int64_t longest_ns = 0;

    for (size_t i = g->hold_first; i < c->hold_count; i++) {
        struct hold *hold = &c->holds[i];
        int64_t kept_ns = least(hold->kept_ns, hold->lost_ns);

        if (hold->flaws & FLAW_NOBODY)
            continue;
        if (longest != NULL && is_within(hold, longest_ns)) {
            hold->flaws |= FLAW_AGAIN;
            hold->earlier = longest->call;
            hold->earlier_ns = longest_ns;
        }
        if (longest == NULL || kept_ns >= longest_ns) {
            longest = hold;
            longest_ns = kept_ns;
        }
    }
}

static void finish_group(struct check *c, const struct group *g)
{
    for (size_t i = g->hold_first; i < c->hold_count; i++)
        finish_hold(c, &c->holds[i]);
    find_again(c, g);
    for (size_t i = g->refusal_first; i < c->refusal_count; i++)
        finish_refusal(c, &c->refusals[i]);
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
            g = (struct group){.hold_first = c->hold_count,
                               .refusal_first = c->refusal_count};
        }
        g.at = i;
        add_call(c, &g, call);
    }
    finish_group(c, &g);
    check_apply_losses(c);
    check_sort_holds(c);
}

/* SPDX-License-Identifier: MIT */
/* holds.c -- makes the holds of a lock from its calls.
 *
 * The calls of one owner on one lock come one after the other, except the watchdog's
 * renewals, which may overlap them.  So a hold begins with an acquire that was granted,
 * and ends with the release of its last level. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "loadtest/check/checks/checks.h"
#include "loadtest/check/groups.h"
#include "loadtest/kit/memory.h"

/* ---- a hold ---- */

/* The hold that an acquire began. */
static struct hold hold_begin(const struct check *c, const struct history_call *call)
{
    return (struct hold){
        .process = call->process,
        .name = call->name,
        .owner = call->owner,
        .mode = call->mode,
        .depth = 1,
        .fence = call->fence,
        .call = check_index_of(c, call),
        .release = NO_CALL,
        .flawed_by = NO_CALL,
        .earlier = NO_CALL,
        .worked_ns = call->invoke_ns,
        .invoke_ns = call->invoke_ns,
        .granted_ns = call->answer_ns,
        .promised_ns = call->deadline_ns,
        .lasting_ns = check_lasting_ns(call),
        .believed_ns = call->deadline_ns,
        .seen_ns = call->answer_ns,
        .gone_ns = HISTORY_NEVER,
        .lost_ns = HISTORY_NEVER,
    };
}

/* Has the hold a level that is not released yet?  NULL: no. */
static bool hold_is_open(const struct hold *hold)
{
    return hold != NULL && hold->depth > 0 && !hold->is_spent;
}

/* The store surely knew the hold at `at_ns`. */
static void hold_see(struct hold *hold, int64_t at_ns)
{
    hold->seen_ns = greatest(hold->seen_ns, at_ns);
    hold->is_seen = true;
}

/* The call, a further level or a renewal, set the lease anew. */
static void hold_promise(struct hold *hold, const struct history_call *call)
{
    if (call->answer_ns <= hold->believed_ns)
        hold->believed_ns = greatest(hold->believed_ns, call->deadline_ns);
    hold->promised_ns = greatest(hold->promised_ns, call->deadline_ns);
    hold->lasting_ns = greatest(hold->lasting_ns, check_lasting_ns(call));
}

/* The call may have set the lease anew, at any time until its answer. */
static void hold_doubt(const struct check *c, struct hold *hold, const struct history_call *call)
{
    int64_t until_ns = check_plus(check_answer_ns(c, call), check_lease_ns(c, call));

    hold->is_doubtful = true;
    hold->lasting_ns = greatest(hold->lasting_ns, until_ns);
}

/* The call was told that the hold is lost. */
static void hold_lose(const struct check *c, struct hold *hold, const struct history_call *call)
{
    if (call->answer_ns >= hold->lost_ns)
        return;
    hold->lost_ns = call->answer_ns;
    hold->flawed_by = check_index_of(c, call);
}

/* A level was granted, which may show that releases without an answer did not happen.
 * NULL is fine. */
static void hold_take_back_releases(struct hold *hold, int level)
{
    int more = hold != NULL && !hold->is_spent ? level - 1 - hold->depth : 0;

    if (more <= 0 || more > hold->unsure_releases)
        return;
    hold->depth += more;
    hold->unsure_releases -= more;
    hold->release = NO_CALL;
}

/* True: the call began after the answer.  Calls of the watchdog may begin at the very
 * instant at which another call of the same owner is answered, and still be before it. */
static enum check_order order_after(const struct history_call *first,
                                    const struct history_call *call)
{
    enum check_order order = check_order(first->answer_ns, call->invoke_ns);

    return order == CHECK_TIED && call->kind != DLOCK_EVENT_RENEW ? CHECK_BEFORE : order;
}

/* A renewal or a release found the hold there. */
static void hold_find_there(const struct check *c, struct hold *hold,
                            const struct history_call *call)
{
    const struct history_call *release =
        hold->release == NO_CALL ? NULL : &c->h->calls[hold->release];
    enum check_order order = CHECK_AFTER;

    if (release != NULL && check_is_ok(c, release) && hold->unsure_releases == 0)
        order = order_after(release, call);
    if (order == CHECK_BEFORE) {
        hold->flaws |= FLAW_ZOMBIE;
        hold->flawed_by = check_index_of(c, call);
        return; /* the state that the call found is unknown */
    }
    if (order == CHECK_TIED)
        hold->flaws |= FLAW_TIED;
    if (call->kind != DLOCK_EVENT_RENEW && call->invoke_ns == hold->lost_ns)
        hold->flaws |= c->h->calls[hold->flawed_by].kind == DLOCK_EVENT_RENEW
                           ? FLAW_EITHER
                           : FLAW_FOUND; /* the watchdog's may have come before the loss */
    hold_see(hold, call->invoke_ns);
}

/* A release found the hold there after its last level had been given back. */
static void hold_release_again(const struct check *c, struct hold *hold,
                               const struct history_call *call)
{
    if (hold->unsure_releases == 0)
        return;
    hold->unsure_releases--; /* the release did not happen, so a level was left */
    hold->release = check_index_of(c, call);
}

/* Compute the end of the hold.  To be called when all calls of its owner were added. */
static void hold_finish(const struct check *c, struct hold *hold)
{
    const struct history_process *process = &c->h->processes[hold->process];
    const struct history_call *release =
        hold->release == NO_CALL ? NULL : &c->h->calls[hold->release];
    bool is_answered = release != NULL && check_is_answered(c, release);
    int64_t cut_ns = HISTORY_NEVER;
    int64_t until_ns = least(least(hold->promised_ns, hold->lost_ns), process->last_ns);

    hold->is_session = release == NULL && !(process->caps & DLOCK_CAP_EXPIRES);
    if (release != NULL && !(is_answered && release->status == DLOCK_LOST))
        cut_ns = release->invoke_ns;
    else if (hold->is_session)
        cut_ns = process->last_ns;
    hold->kept_ns = greatest(hold->seen_ns, least(cut_ns, hold->promised_ns));
    if (is_answered && (release->status == DLOCK_OK || release->status == DLOCK_LOST))
        hold->gone_ns = release->answer_ns;
    hold->gone_ns = least(hold->gone_ns, hold->lost_ns);
    if (release != NULL)
        until_ns = release->invoke_ns;
    if (!hold->is_abandoned)
        hold->worked_ns = greatest(hold->worked_ns, until_ns);
    hold->worked_ns = greatest(hold->worked_ns, hold->granted_ns);
    hold->leased_ns = hold->believed_ns;
    hold->believed_ns = least(hold->believed_ns, hold->lost_ns);
}

bool check_is_heard_late(const struct hold *hold)
{
    return hold->promised_ns <= hold->granted_ns;
}

bool check_is_over_at_its_end(const struct hold *hold)
{
    return hold->kept_ns == hold->promised_ns || hold->kept_ns == hold->lost_ns;
}

enum check_order check_meets(const struct hold *early, const struct hold *late)
{
    enum check_order order = check_order(late->granted_ns, early->kept_ns), asked;

    if (order == CHECK_TIED && check_is_over_at_its_end(early))
        return CHECK_AFTER; /* a lock whose loss was told was lost before */
    if (order == CHECK_TIED && early->is_session && early->process == late->process)
        order = CHECK_BEFORE;
    if (order == CHECK_TIED && check_is_heard_late(early) && !early->is_seen)
        return check_order(late->granted_ns, early->invoke_ns); /* may have ended before */
    if (!check_is_heard_late(late) || late->promised_ns > early->granted_ns)
        return order; /* the lease that was over lasted until `early` had the lock */
    asked = check_order(early->granted_ns, late->invoke_ns);
    return check_later(asked, order);
}

static struct hold *last_hold(struct check *c, const struct check_group *g)
{
    return g->last_hold != NO_HOLD ? &c->holds[g->last_hold] : NULL;
}

static struct hold *new_hold(struct check *c, struct check_group *g,
                             const struct history_call *call)
{
    struct hold *hold = &c->holds[c->hold_count];

    assert(c->hold_count < c->hold_room);
    *hold = hold_begin(c, call);
    hold->previous = g->last_hold;
    g->last_hold = (int32_t)c->hold_count++;
    return hold;
}

/* A call begins at most one hold.  Unused room costs addresses, and no memory. */
static void need_holds(struct check *c)
{
    if (c->h->call_count <= c->hold_room)
        return;
    c->hold_room = c->h->call_count;
    c->holds = memory_grow(c->holds, 0, c->hold_room * sizeof(*c->holds));
}

static void add_grant(struct check *c, struct check_group *g,
                      const struct history_call *call)
{
    unsigned caps = c->h->processes[call->process].caps;
    struct hold *hold = last_hold(c, g);
    bool is_again = call->level > 1;

    hold_take_back_releases(hold, call->level);
    if (call->level == 0)
        is_again = (caps & DLOCK_CAP_REENTRANT) && hold_is_open(hold) &&
                   hold->promised_ns > call->invoke_ns;
    if (!is_again || !hold_is_open(hold) || !(caps & DLOCK_CAP_REENTRANT)) {
        hold = new_hold(c, g, call);
        if (is_again) {
            hold->flaws |= FLAW_LEVEL;
            hold->flawed_by = hold->call;
        }
        return;
    }
    hold->depth++;
    hold->worked_ns = call->invoke_ns;
    hold_see(hold, call->invoke_ns);
    hold_promise(hold, call);
    if ((call->level != 0 && call->level != hold->depth) ||
        (call->fence != 0 && call->fence != hold->fence)) {
        hold->flaws |= call->fence != hold->fence ? FLAW_FENCE : FLAW_LEVEL;
        hold->flawed_by = check_index_of(c, call);
    }
}

static void add_refusal(struct check *c, const struct check_group *g,
                        const struct history_call *call)
{
    const struct hold *hold = last_hold(c, g);

    MEMORY_ROOM(c->refusals, c->refusal_count, 1, c->refusal_room);
    /* Until the group is done, from_ns is the index of the owner's own hold. */
    c->refusals[c->refusal_count++] = (struct refusal){
        .name = call->name,
        .call = check_index_of(c, call),
        .from_ns = hold != NULL && !hold->is_spent ? hold - c->holds : NO_CALL,
    };
}

static void add_acquire(struct check *c, struct check_group *g,
                        const struct history_call *call)
{
    struct hold *hold = last_hold(c, g);

    if (hold_is_open(hold) && check_is_ghost(c, call) &&
        (c->h->processes[call->process].caps & DLOCK_CAP_REENTRANT))
        hold_doubt(c, hold, call); /* a level without an answer renewed the lease */
    if (!check_is_answered(c, call))
        return;
    if (call->status == DLOCK_OK)
        add_grant(c, g, call);
    else if (call->status == DLOCK_BUSY || call->status == DLOCK_TIMEOUT)
        add_refusal(c, g, call);
}

/* Note that an owner renewed or released a lock that it was never granted, or did not
 * have any more. */
static void note_nobody(struct check *c, struct check_group *g,
                        const struct history_call *call)
{
    struct hold *hold = new_hold(c, g, call);

    hold->flaws |= FLAW_NOBODY;
    hold->flawed_by = hold->call;
    hold->granted_ns = hold->promised_ns = hold->believed_ns = call->invoke_ns;
    hold->seen_ns = call->invoke_ns;
    hold->is_spent = true;
    if (call->kind == DLOCK_EVENT_RELEASE)
        hold->release = hold->call;
}

/* The hold that a renewal concerns: the last hold that was granted when the renewal was
 * sent. */
static struct hold *hold_at(struct check *c, const struct check_group *g, int64_t at_ns)
{
    for (int32_t i = g->last_hold; i != NO_HOLD; i = c->holds[i].previous)
        if (c->holds[i].granted_ns <= at_ns)
            return &c->holds[i];
    return NULL;
}

/* True: the call began a hold; false: it entered a hold again. */
static bool is_new_grant(const struct check *c, const struct history_call *call)
{
    return check_is_ok(c, call) && call->level <= 1;
}

/* True: the owner was granted the lock anew while this renewal was under way.  Either of
 * the two holds may then have been renewed. */
static bool is_ambiguous(const struct check *c, const struct check_group *g,
                         const struct history_call *call)
{
    const struct history_call *before = g->last_acquire;
    size_t at = check_group_place(c, call);

    if (before != NULL && is_new_grant(c, before) && before->answer_ns > call->invoke_ns)
        return true;
    for (size_t i = at + 1; i < c->name_end; i++) {
        const struct history_call *next = &c->h->calls[c->by_owner[i]];

        if (!check_is_same_group(c, call, next) || next->invoke_ns >= call->answer_ns)
            return false;
        if (next->kind == DLOCK_EVENT_ACQUIRE && is_new_grant(c, next))
            return true;
    }
    return false;
}

static void add_renewal(struct check *c, struct check_group *g,
                        const struct history_call *call)
{
    struct hold *hold = hold_at(c, g, call->invoke_ns);

    if (hold != NULL && !(check_is_ok(c, call) || (check_is_answered(c, call) &&
                                                   call->status == DLOCK_LOST)))
        hold_doubt(c, hold, call);
    if (!check_is_answered(c, call) || is_ambiguous(c, g, call)) {
        if (hold != NULL)
            hold_doubt(c, hold, call);
        return;
    }
    if (call->status == DLOCK_OK && hold == NULL) {
        note_nobody(c, g, call);
    } else if (call->status == DLOCK_OK) {
        hold_find_there(c, hold, call);
        hold_promise(hold, call);
    } else if (call->status == DLOCK_LOST && hold != NULL) {
        hold_lose(c, hold, call);
    }
}

/* A renewal that was answered with "lost" ends the hold for the owner's calls after the
 * answer.  Calls before the answer may have come before the loss. */
static void apply_lost_renewal(struct hold *hold, const struct history_call *call)
{
    if (hold != NULL && hold->release == NO_CALL && hold->lost_ns <= call->invoke_ns)
        hold->is_spent = true;
}

static void add_release(struct check *c, struct check_group *g,
                        const struct history_call *call)
{
    bool is_owned = c->h->processes[call->process].caps & DLOCK_CAP_OWNED;
    struct hold *hold = last_hold(c, g);
    bool was_open = hold_is_open(hold);
    bool had_none = hold == NULL ||
                    (!is_owned && hold->depth == 0 && hold->release != NO_CALL) ||
                    (!is_owned && (hold->flaws & FLAW_NOBODY));

    if (check_is_answered(c, call) && (call->status == DLOCK_INVALID ||
                                       call->status == DLOCK_UNSUPPORTED))
        return;
    if (had_none) {
        if (check_is_ok(c, call))
            note_nobody(c, g, call);
        return;
    }
    hold->worked_ns = call->invoke_ns;
    if (is_owned && check_is_ok(c, call)) {
        hold_find_there(c, hold, call);
        if (hold->release != NO_CALL)
            hold_release_again(c, hold, call);
    }
    if (check_is_answered(c, call) && call->status == DLOCK_LOST) {
        hold_lose(c, hold, call);
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
        hold->release = check_index_of(c, call);
}

/* An owner makes one call after another, except the watchdog's renewals.  If two other
 * calls overlap, the history does not say which release ended which hold. */
static void note_overlap(struct check *c, struct check_group *g, const struct history_call *call)
{
    const struct history_process *process = &c->h->processes[call->process];

    if (call->kind == DLOCK_EVENT_RENEW)
        return;
    if (g->last_call != NULL && call->invoke_ns < g->last_call->answer_ns) {
        if (c->out->overlap[0] == '\0')
            snprintf(c->out->overlap, sizeof(c->out->overlap),
                     "owner %" PRIu64 " of pid %" PRIu32 " called again %" PRId64
                     " ns before it was answered", call->owner, process->pid,
                     g->last_call->answer_ns - call->invoke_ns);
        c->is_confused[call->name] = true;
    }
    if (call->is_answered && (g->last_call == NULL || call->answer_ns > g->last_call->answer_ns))
        g->last_call = call;
}

static void add_call(struct check *c, struct check_group *g,
                     const struct history_call *call)
{
    struct hold *hold = last_hold(c, g);

    if (call->invoke_ns >= c->end_ns)
        return;
    note_overlap(c, g, call);
    apply_lost_renewal(hold, call);
    switch (call->kind) {
    case DLOCK_EVENT_ACQUIRE:
        add_acquire(c, g, call);
        g->last_acquire = call;
        break;
    case DLOCK_EVENT_RENEW:
        add_renewal(c, g, call);
        break;
    case DLOCK_EVENT_RELEASE:
        add_release(c, g, call);
        break;
    case DLOCK_EVENT_ABANDON:
        if (hold != NULL && hold->release == NO_CALL) {
            hold->is_spent = hold->is_abandoned = true;
            hold->worked_ns = call->invoke_ns;
        }
        break;
    default:
        break;
    }
}

static void finish_refusal(struct check *c, struct refusal *refusal)
{
    const struct history_call *call = &c->h->calls[refusal->call];
    unsigned caps = c->h->processes[call->process].caps;
    int64_t own = refusal->from_ns, kept_ns;

    refusal->from_ns = call->invoke_ns;
    if (own == NO_CALL || !(caps & DLOCK_CAP_REENTRANT))
        return;
    kept_ns = least(c->holds[own].kept_ns, c->holds[own].lost_ns);
    /* A release of that very instant came later; a lease that ended then was over. */
    refusal->is_own =
        kept_ns > call->answer_ns ||
        (kept_ns == call->answer_ns && (c->holds[own].promised_ns > call->answer_ns ||
                                        c->holds[own].seen_ns == kept_ns));
    refusal->from_ns = greatest(call->invoke_ns, kept_ns);
    if (!refusal->is_own) /* its own hold would have let it in */
        c->holds[own].gone_ns = least(c->holds[own].gone_ns, call->answer_ns);
}

/* True: the hold was granted while an earlier hold of its owner was kept, which ended at
 * kept_ns. */
static bool is_within(const struct hold *hold, const struct hold *earlier, int64_t kept_ns)
{
    return hold->granted_ns < kept_ns ||
           (hold->granted_ns == kept_ns && earlier->is_session);
}

/* Set FLAW_AGAIN if the hold was granted while its owner certainly had an earlier hold. */
static void find_again(const struct check *c, struct check_group *g, struct hold *hold)
{
    const struct hold *longest = g->longest != NO_HOLD ? &c->holds[g->longest] : NULL;
    int64_t kept_ns = least(hold->kept_ns, hold->lost_ns);

    if (hold->flaws & FLAW_NOBODY)
        return;
    if (longest != NULL && is_within(hold, longest, g->longest_ns)) {
        hold->flaws |= FLAW_AGAIN;
        hold->earlier = longest->call;
        hold->earlier_ns = g->longest_ns;
    }
    if (longest == NULL || kept_ns >= g->longest_ns) {
        g->longest = (int32_t)(hold - c->holds);
        g->longest_ns = kept_ns;
    }
}

/* Finish the holds and refusals of a name.  All calls of the name were added. */
static void finish_name(struct check *c, size_t hold_first, size_t refusal_first)
{
    for (size_t i = hold_first; i < c->hold_count; i++) {
        struct hold *hold = &c->holds[i];

        hold_finish(c, hold);
        find_again(c, check_group_of(c, &c->h->calls[hold->call]), hold);
    }
    for (size_t i = refusal_first; i < c->refusal_count; i++)
        finish_refusal(c, &c->refusals[i]);
}

/* Add the calls of one name, of all its groups, in the order of time: then calls and holds are
 * read in the order in which they lie in memory. */
static void build_name(struct check *c)
{
    const struct history_call *calls = c->h->calls;
    size_t hold_first = c->hold_count, refusal_first = c->refusal_count;

    check_begin_groups(c);
    for (size_t i = c->name_first; i < c->name_end; i++) {
        const struct history_call *call = &calls[c->by_name[i]];

        if (i + CHECK_CALLS_AHEAD < c->h->call_count)
            check_fetch_call(&calls[c->by_name[i + CHECK_CALLS_AHEAD]]);
        add_call(c, check_group_of(c, call), call);
    }
    finish_name(c, hold_first, refusal_first);
}

void check_build(struct check *c)
{
    size_t mark_at = 0;

    c->hold_count = c->refusal_count = 0;
    need_holds(c);
    check_sort_calls(c);
    for (c->name_end = 0; check_next_name(c);) {
        build_name(c);
        check_apply_losses(c, &mark_at);
    }
    check_sort_holds(c);
}

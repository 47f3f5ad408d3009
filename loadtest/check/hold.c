/* SPDX-License-Identifier: MIT */
/* hold.c -- the effect of each call of the owner on its hold, and the end of the hold. */
#include "loadtest/check/hold.h"

struct hold hold_begin(const struct check *c, const struct history_call *call)
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

bool hold_is_open(const struct hold *hold)
{
    return hold != NULL && hold->depth > 0 && !hold->is_spent;
}

void hold_see(struct hold *hold, int64_t at_ns)
{
    hold->seen_ns = greatest(hold->seen_ns, at_ns);
    hold->is_seen = true;
}

void hold_promise(struct hold *hold, const struct history_call *call)
{
    if (call->answer_ns <= hold->believed_ns)
        hold->believed_ns = greatest(hold->believed_ns, call->deadline_ns);
    hold->promised_ns = greatest(hold->promised_ns, call->deadline_ns);
    hold->lasting_ns = greatest(hold->lasting_ns, check_lasting_ns(call));
}

void hold_doubt(const struct check *c, struct hold *hold, const struct history_call *call)
{
    int64_t until_ns = check_plus(check_answer_ns(c, call), check_lease_ns(c, call));

    hold->is_doubtful = true;
    hold->lasting_ns = greatest(hold->lasting_ns, until_ns);
}

void hold_lose(const struct check *c, struct hold *hold, const struct history_call *call)
{
    if (call->answer_ns >= hold->lost_ns)
        return;
    hold->lost_ns = call->answer_ns;
    hold->flawed_by = check_index_of(c, call);
}

void hold_take_back_releases(struct hold *hold, int level)
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

void hold_find_there(const struct check *c, struct hold *hold,
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

void hold_release_again(const struct check *c, struct hold *hold,
                        const struct history_call *call)
{
    if (hold->unsure_releases == 0)
        return;
    hold->unsure_releases--; /* the release did not happen, so a level was left */
    hold->release = check_index_of(c, call);
}

void hold_finish(const struct check *c, struct hold *hold)
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

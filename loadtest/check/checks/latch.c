/* SPDX-License-Identifier: MIT */
/* latch.c -- a latch opens once, when it has been counted down as often as it was set to.
 *
 * A latch is certainly closed from the answer to its making until the call of the last
 * count that it needs, if each count that may belong to this making does; or until a call
 * that may have deleted the latch.  In that time no wait succeeds, and no call makes the
 * latch anew.  A latch is certainly open from the answer that told a count so, until a
 * call that asks to make it anew. */
#include "loadtest/check/latch.h"

/* From its call on the latch may be open. */
static void may_open(const struct check *c, struct latch *l, const struct history_call *call)
{
    if (call->invoke_ns >= l->open_ns)
        return;
    l->open_ns = call->invoke_ns;
    l->opener = check_index_of(c, call);
}

/* The time of the last count that the latch needed. */
static void find_opening(struct check *c, struct latch *l)
{
    const struct history_call *set = &c->h->calls[l->set];
    int64_t until_ns = l->next != NO_CALL ? c->h->calls[l->next].answer_ns : HISTORY_NEVER;
    uint64_t maybe = 0;

    l->open_ns = HISTORY_NEVER;
    l->opener = l->opened = NO_CALL;
    for (size_t i = l->from; i < c->lock.call_count; i++) {
        const struct history_call *call = check_call_at(c, i);
        bool is_after = !latch_was_over(c, call, set) && check_may_be_done(c, call);

        if (call->invoke_ns > until_ns)
            break;
        if (call->kind == DLOCK_EVENT_LATCH_DELETE && is_after)
            may_open(c, l, call);
        if (call->kind != DLOCK_EVENT_LATCH_COUNT || !is_after)
            continue;
        if (++maybe == set->fence)
            may_open(c, l, call);
        if (check_is_ok(c, call) && call->fence == 0 && call->invoke_ns >= set->answer_ns &&
            call->answer_ns <= l->next_ns &&
            (l->opened == NO_CALL || call->answer_ns < c->h->calls[l->opened].answer_ns))
            l->opened = c->lock.calls[i];
    }
}

/* The call came after `since`, and ended before `until`; each is a call, or NO_CALL: `until`
 * never was made.  Else it is no violation, or, at a tie, nobody knows. */
static void report_between(struct check *c, const struct latch *l, int64_t since,
                           int64_t index, int64_t until, const char *what)
{
    const struct history_call *call = &c->h->calls[index];
    enum check_order begins = check_order_calls(&c->h->calls[since], call);
    enum check_order ends = CHECK_BEFORE;

    if (until != NO_CALL)
        ends = check_order_calls(call, &c->h->calls[until]);
    if (begins == CHECK_AFTER || ends == CHECK_AFTER)
        return;
    if (begins == CHECK_TIED || ends == CHECK_TIED)
        check_tied(c, CHECK_latch);
    else
        latch_report(c, l, index, what);
}

/* Was the call made and answered while the latch was surely closed? */
static void need_open(struct check *c, const struct latch *l, int64_t index,
                      const char *what)
{
    if (index != l->set && index != l->opener)
        report_between(c, l, l->set, index, l->opener, what);
}

static void look_at_call(struct check *c, const struct latch *l, int64_t index)
{
    const struct history_call *call = &c->h->calls[index];

    /* A call that may belong to the next making of the latch is judged there, or not at
     * all. */
    if (!check_is_answered(c, call) ||
        (index != l->next && call->answer_ns > l->next_ns))
        return;
    if (call->kind == DLOCK_EVENT_LATCH_WAIT && call->status == DLOCK_OK)
        need_open(c, l, index, "a wait ended before the latch was counted down");
    else if (call->kind == DLOCK_EVENT_LATCH_SET && call->status == DLOCK_OK)
        need_open(c, l, index, "a latch was made anew before it had opened");
    else if (call->kind == DLOCK_EVENT_LATCH_COUNT && call->status == DLOCK_OK &&
             call->fence == 0)
        need_open(c, l, index, "a count opened the latch before its last");
    else if (call->kind == DLOCK_EVENT_LATCH_WAIT && call->status == DLOCK_BUSY &&
             l->opened != NO_CALL)
        report_between(c, l, l->opened, index, l->next,
                       "a wait was refused although the latch had opened");
    else if (call->kind == DLOCK_EVENT_LATCH_SET && call->status == DLOCK_BUSY &&
             l->opened != NO_CALL)
        report_between(c, l, l->opened, index, l->next,
                       "a making was refused although the latch had opened");
}

/* Can no later making ask for that call?  A wait without an answer says nothing of any. */
static bool is_past(const struct check *c, const struct history_call *call,
                    const struct history_call *set)
{
    return latch_was_over(c, call, set) ||
           (call->kind == DLOCK_EVENT_LATCH_WAIT && check_is_open(c, call));
}

/* `next`: the next making, or NO_CALL.  *from moves on as the makings do. */
static void look_at_making(struct check *c, int64_t index, int64_t next, size_t *from)
{
    const struct history_call *set = &c->h->calls[index];
    struct latch l = {.set = index,
                      .next = next,
                      .next_ns = next != NO_CALL ? c->h->calls[next].invoke_ns
                                                 : HISTORY_NEVER};

    while (is_past(c, check_call_at(c, *from), set))
        ++*from;
    l.from = *from;
    find_opening(c, &l);
    for (size_t i = l.from; i < c->lock.call_count; i++) {
        if (check_call_at(c, i)->invoke_ns > l.next_ns)
            break;
        look_at_call(c, &l, c->lock.calls[i]);
    }
    latch_look_at_counts(c, &l);
}

/* Two makings that overlap took effect in an order that their calls do not show, so neither
 * is judged. */
static bool is_overlapped(const struct check *c, int64_t made, int64_t next,
                          int64_t latest_ns)
{
    const struct history_call *set = &c->h->calls[made];

    return set->invoke_ns < latest_ns ||
           (next != NO_CALL && c->h->calls[next].invoke_ns < set->answer_ns);
}

void check_latch(struct check *c)
{
    int64_t made = NO_CALL;
    int64_t before_ns = 0, latest_ns = 0; /* the latest end of the makings: before `made` */
    size_t from = 0;

    for (size_t i = 0; i < c->lock.call_count; i++) {
        const struct history_call *call = check_call_at(c, i);
        int64_t end_ns = check_is_open(c, call) ? HISTORY_NEVER : call->answer_ns;

        c->out->findings[CHECK_latch].looked++;
        if (call->kind != DLOCK_EVENT_LATCH_SET || !check_may_be_done(c, call))
            continue;
        if (made != NO_CALL && !is_overlapped(c, made, c->lock.calls[i], before_ns))
            look_at_making(c, made, c->lock.calls[i], &from);
        before_ns = latest_ns;
        latest_ns = end_ns > latest_ns ? end_ns : latest_ns;
        made = check_is_ok(c, call) ? (int64_t)c->lock.calls[i] : NO_CALL;
    }
    if (made != NO_CALL && !is_overlapped(c, made, NO_CALL, before_ns))
        look_at_making(c, made, NO_CALL, &from);
}

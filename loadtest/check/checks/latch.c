/* SPDX-License-Identifier: MIT */
/* latch.c -- a latch opens once, when it has been counted down as often as it was set to.
 *
 * It is surely closed from the answer to its making until the call of the last count that it
 * needs, each count that may have been for it taken for one, or until the call of what may
 * have deleted it.  Meanwhile no wait ends well, and none makes it anew.  It is surely open
 * when so many counts were answered, until somebody asks to make it anew. */
#include <inttypes.h>
#include <stdlib.h>

#include "loadtest/check/checks/checks.h"

/* One that was made: from there to the next making, or the end. */
struct latch {
    int64_t set;       /* the call                                                */
    int64_t closed_ns; /* surely, from then on                                    */
    int64_t open_ns;   /* maybe, from then on                                     */
    int64_t opened_ns; /* surely, from then on; HISTORY_NEVER                     */
    int64_t next;      /* the next making; NO_CALL                                */
    int64_t next_ns;   /* when it was asked for; HISTORY_NEVER                    */
    size_t from;       /* no call before this one, of the lock's, was answered
                        * later than the latch was made                           */
};

static const struct history_call *call_at(const struct check *c, size_t at)
{
    return &c->h->calls[c->lock.calls[at]];
}

/* Did it have its effect, if any, before then?  Without an answer it may have it later. */
static bool was_over(const struct check *c, const struct history_call *call, int64_t at_ns)
{
    return call->answer_ns < at_ns && !check_is_open(c, call);
}

/* When was it counted for the last time that it needed? */
static void find_opening(struct check *c, struct latch *l)
{
    const struct history_call *set = &c->h->calls[l->set];
    int64_t until_ns = l->next != NO_CALL ? c->h->calls[l->next].answer_ns : HISTORY_NEVER;
    uint64_t maybe = 0, surely = 0;
    int64_t latest_ns = 0;

    l->open_ns = l->opened_ns = HISTORY_NEVER;
    for (size_t i = l->from; i < c->lock.call_count; i++) {
        const struct history_call *call = call_at(c, i);
        bool is_after = !was_over(c, call, set->invoke_ns) && check_may_be_done(c, call);

        if (call->invoke_ns > until_ns)
            break;
        if (call->kind == DLOCK_EVENT_LATCH_DELETE && is_after &&
            call->invoke_ns < l->open_ns)
            l->open_ns = call->invoke_ns;
        if (call->kind != DLOCK_EVENT_LATCH_COUNT || !is_after)
            continue;
        if (++maybe == set->fence && call->invoke_ns < l->open_ns)
            l->open_ns = call->invoke_ns;
        if (!check_is_ok(c, call) || call->invoke_ns < set->answer_ns ||
            call->answer_ns > l->next_ns)
            continue;
        if (call->answer_ns > latest_ns)
            latest_ns = call->answer_ns;
        if (++surely == set->fence)
            l->opened_ns = latest_ns;
    }
}

static void report(struct check *c, const struct latch *l, int64_t index, const char *what)
{
    const struct history_call *call = &c->h->calls[index];

    check_violation(c, CHECK_latch, DLOCK_ASSUMES_LOCK, l->set, index,
                    c->h->calls[l->set].invoke_ns, call->answer_ns, "%s", what);
}

/* Was the call made and answered while the latch was surely closed? */
static void need_open(struct check *c, const struct latch *l, int64_t index,
                      const char *what)
{
    const struct history_call *call = &c->h->calls[index];
    enum check_order begins = check_order(l->closed_ns, call->invoke_ns);
    enum check_order ends = check_order(call->answer_ns, l->open_ns);

    if (index == l->set || begins == CHECK_AFTER || ends == CHECK_AFTER)
        return;
    if (begins == CHECK_TIED || ends == CHECK_TIED)
        check_unsure(c, CHECK_latch, check_tie);
    else
        report(c, l, index, what);
}

static void look_at_call(struct check *c, const struct latch *l, int64_t index)
{
    const struct history_call *call = &c->h->calls[index];

    /* One that the next making may concern is judged by that, or by nothing. */
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
             check_order(l->opened_ns, call->invoke_ns) == CHECK_BEFORE &&
             check_order(call->answer_ns, l->next_ns) == CHECK_BEFORE)
        report(c, l, index, "a wait was refused although the latch had opened");
}

static int by_left(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* A count leaves less than the latch was set to, and no two of one making leave the same. */
static void look_at_counts(struct check *c, const struct latch *l)
{
    const struct history_call *set = &c->h->calls[l->set];
    size_t count = 0;

    check_need_times(c, 2 * c->lock.call_count);
    for (size_t i = l->from; i < c->lock.call_count; i++) {
        const struct history_call *call = call_at(c, i);

        if (call->invoke_ns > l->next_ns)
            break;
        if (call->kind != DLOCK_EVENT_LATCH_COUNT || !check_is_ok(c, call) ||
            call->fence == 0 || call->invoke_ns < set->answer_ns ||
            call->answer_ns > l->next_ns)
            continue;
        if (call->fence >= set->fence)
            report(c, l, c->lock.calls[i], "a count left no less than the latch was set to");
        c->times[2 * count] = (int64_t)call->fence;
        c->times[2 * count++ + 1] = c->lock.calls[i];
    }
    if (count > 1)
        qsort(c->times, count, 2 * sizeof(*c->times), by_left);
    for (size_t i = 1; i < count; i++)
        if (c->times[2 * i] == c->times[2 * i - 2])
            check_violation(c, CHECK_latch, DLOCK_ASSUMES_LOCK, c->times[2 * i - 1],
                            c->times[2 * i + 1],
                            c->h->calls[c->times[2 * i - 1]].invoke_ns,
                            c->h->calls[c->times[2 * i + 1]].answer_ns,
                            "two counts left %" PRId64 " each", c->times[2 * i]);
}

/* `next`: the next making, or NO_CALL.  *from moves on as the makings do. */
static void look_at_making(struct check *c, int64_t index, int64_t next, size_t *from)
{
    const struct history_call *set = &c->h->calls[index];
    struct latch l = {.set = index,
                      .closed_ns = set->answer_ns,
                      .next = next,
                      .next_ns = next != NO_CALL ? c->h->calls[next].invoke_ns
                                                 : HISTORY_NEVER};

    while (was_over(c, call_at(c, *from), set->invoke_ns))
        ++*from;
    l.from = *from;
    find_opening(c, &l);
    for (size_t i = l.from; i < c->lock.call_count; i++) {
        if (call_at(c, i)->invoke_ns > l.next_ns)
            break;
        look_at_call(c, &l, c->lock.calls[i]);
    }
    look_at_counts(c, &l);
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
        const struct history_call *call = call_at(c, i);
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

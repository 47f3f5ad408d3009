/* SPDX-License-Identifier: MIT */
/* latch.c -- a latch opens once, when it has been counted down as often as it was set to.
 *
 * A latch is certainly closed from the answer to its making until the call of the last
 * count that it needs, if each count that may belong to this making does; or until a call
 * that may have deleted the latch.  In that time no wait succeeds, and no call makes the
 * latch anew.  A latch is certainly open from the answer that told a count so, until a
 * call that asks to make it anew.
 *
 * A count leaves one less than the count before it.  So all counts that left more came
 * before it, and those that left less came after it.  A number that is missing in between
 * was left by a count without an answer that was made before the answer of this one.  A
 * count leaves less than each count that was answered before it was made, and no two
 * counts leave the same number.  An open latch stays at 0 after any number of counts. */
#include <inttypes.h>
#include <stdlib.h>

#include "loadtest/check/checks/checks.h"
#include "loadtest/kit/bisect.h"

/* A latch that was made: from the call that made it to the next such call, or the end. */
struct latch {
    int64_t set;       /* the call that made the latch                            */
    int64_t open_ns;   /* from then on the latch may be open                      */
    int64_t opener;    /* the call that was made at open_ns; NO_CALL              */
    int64_t opened;    /* from the answer to this call on the latch certainly is open; NO_CALL */
    int64_t next;      /* the next call that made the latch; NO_CALL              */
    int64_t next_ns;   /* the time of that call; HISTORY_NEVER                    */
    size_t from;       /* all calls of the latch before this one were answered before
                        * the latch was made                                      */
};

/* Was the call answered before the latch was made by `set`?  A call without an answer may take
 * effect later. */
static bool latch_was_over(const struct check *c, const struct history_call *call,
                           const struct history_call *set)
{
    return !check_is_open(c, call) && check_order_calls(call, set) == CHECK_BEFORE;
}

/* Say that the call is a violation. */
static void latch_report(struct check *c, const struct latch *l, int64_t index, const char *what)
{
    const struct history_call *call = &c->h->calls[index];

    check_violation(c, CHECK_latch, DLOCK_ASSUMES_LOCK, l->set, index,
                    c->h->calls[l->set].invoke_ns, call->answer_ns, "%s", what);
}

/* ---- the number that each count left ---- */

/* A count that certainly belongs to this making of the latch. */
struct count {
    int64_t answer_ns, index;
    int64_t least_left; /* of this one and all that were answered before it               */
};

enum { WORDS = sizeof(struct count) / sizeof(int64_t) };

/* In c->times, which has room for all calls of the lock. */
struct counts {
    struct count *sure; /* in the order of their answers                                  */
    int64_t *left;      /* what these left, greatest first                                */
    int64_t *open_ns;   /* the calls of those without an answer, in their order           */
    int64_t *other;     /* those that were under way at this making or the next           */
    size_t sure_count, open_count, other_count;
    int64_t deleted_ns; /* the first call that may have deleted it; HISTORY_NEVER         */
};

static const struct history_call *call_of(const struct check *c, const struct count *count)
{
    return &c->h->calls[count->index];
}

static bool is_sure(const struct check *c, const struct latch *l,
                    const struct history_call *call)
{
    return check_is_ok(c, call) &&
           check_order_calls(&c->h->calls[l->set], call) == CHECK_BEFORE &&
           (l->next == NO_CALL ||
            check_order_calls(call, &c->h->calls[l->next]) == CHECK_BEFORE);
}

static int by_answer(const void *left, const void *right)
{
    const struct count *a = left, *b = right;
    int order = COMPARE(a->answer_ns, b->answer_ns);

    return order != 0 ? order : COMPARE(a->index, b->index);
}

static int greatest_first(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return COMPARE(*b, *a);
}

static void note(const struct check *c, const struct latch *l, struct counts *all,
                 int64_t index)
{
    const struct history_call *call = &c->h->calls[index];

    if (call->kind == DLOCK_EVENT_LATCH_DELETE && check_may_be_done(c, call) &&
        call->invoke_ns < all->deleted_ns)
        all->deleted_ns = call->invoke_ns;
    if (call->kind != DLOCK_EVENT_LATCH_COUNT || !check_may_be_done(c, call) ||
        latch_was_over(c, call, &c->h->calls[l->set]))
        return;
    if (check_is_open(c, call)) {
        all->open_ns[all->open_count++] = call->invoke_ns;
    } else if (!is_sure(c, l, call)) {
        all->other[all->other_count++] = index;
    } else {
        all->left[all->sure_count] = (int64_t)call->fence;
        all->sure[all->sure_count++] =
            (struct count){call->answer_ns, index, (int64_t)call->fence};
    }
}

static struct counts gather(struct check *c, const struct latch *l)
{
    struct counts all = {.deleted_ns = HISTORY_NEVER};
    size_t room = c->lock.call_count;

    check_need_times(c, (WORDS + 3) * room);
    all.sure = (struct count *)c->times;
    all.left = c->times + WORDS * room;
    all.open_ns = all.left + room;
    all.other = all.open_ns + room;
    for (size_t i = l->from; i < room; i++) {
        if (c->h->calls[c->lock.calls[i]].invoke_ns > l->next_ns)
            break;
        note(c, l, &all, c->lock.calls[i]);
    }
    if (all.sure_count > 1) {
        qsort(all.sure, all.sure_count, sizeof(*all.sure), by_answer);
        qsort(all.left, all.sure_count, sizeof(*all.left), greatest_first);
    }
    for (size_t i = 1; i < all.sure_count; i++)
        if (all.sure[i - 1].least_left < all.sure[i].least_left)
            all.sure[i].least_left = all.sure[i - 1].least_left;
    return all;
}

/* The number of counts that left more than `left`. */
static int64_t above(const struct counts *all, int64_t left)
{
    size_t count = 0;

    BISECT(count, all->sure_count, i, all->left[i] > left);
    return (int64_t)count;
}

/* The number of calls that may have left a count that no call is known to have left, between
 * `left` and `set`. */
static int64_t maybe_above(const struct check *c, const struct counts *all, int64_t left,
                           int64_t set, int64_t until_ns)
{
    size_t open = 0, more = 0;

    BISECT(open, all->open_count, i, all->open_ns[i] <= until_ns);
    for (size_t i = 0; i < all->other_count; i++) {
        const struct history_call *call = &c->h->calls[all->other[i]];
        int64_t its = (int64_t)call->fence;

        more += its > left && its < set && call->invoke_ns <= until_ns &&
                above(all, its) == above(all, its - 1);
    }
    return (int64_t)(open + more);
}

/* The number of calls that had certainly been answered when the call was made. */
static size_t answered_before(const struct check *c, const struct counts *all,
                              const struct history_call *call)
{
    size_t count = 0;

    BISECT(count, all->sure_count, i, all->sure[i].answer_ns < call->invoke_ns);
    if (count < all->sure_count &&
        check_order_calls(call_of(c, &all->sure[count]), call) == CHECK_BEFORE)
        count++; /* of the same owner, at the instant of the call */
    return count;
}

/* The error in the number that the count left; NULL: none. */
static const char *look_at(const struct check *c, const struct latch *l,
                           const struct counts *all, int64_t index)
{
    const struct history_call *call = &c->h->calls[index];
    int64_t set = (int64_t)c->h->calls[l->set].fence, left = (int64_t)call->fence;
    int64_t missing = set - left - 1 - above(all, left);
    size_t before = answered_before(c, all, call);

    if (left >= set)
        return "a count left no less than the latch was set to";
    if (missing > maybe_above(c, all, left, set, call->answer_ns) &&
        (left > 0 || call->answer_ns < all->deleted_ns))
        return "a count left less than there were counts for";
    if (left > 0 && before > 0 && all->sure[before - 1].least_left < left)
        return "a count left more than one before it";
    return NULL;
}

/* Is it of this making in one order of the events of an instant? */
static bool is_tied(const struct check *c, const struct latch *l,
                    const struct history_call *call)
{
    return check_is_ok(c, call) &&
           check_order_calls(&c->h->calls[l->set], call) != CHECK_AFTER &&
           (l->next == NO_CALL ||
            check_order_calls(call, &c->h->calls[l->next]) != CHECK_AFTER);
}

static int by_left(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return a[0] != b[0] ? COMPARE(a[0], b[0]) : COMPARE(a[1], b[1]);
}

/* No two counts leave the same number, except 0.  This overwrites `all`. */
static void look_at_pairs(struct check *c, const struct counts *all)
{
    int64_t *pairs = c->times;
    size_t count = all->sure_count;

    for (size_t i = 0; i < count; i++) {
        int64_t index = all->sure[i].index;

        pairs[2 * i] = (int64_t)c->h->calls[index].fence;
        pairs[2 * i + 1] = index;
    }
    if (count > 1)
        qsort(pairs, count, 2 * sizeof(*pairs), by_left);
    for (size_t i = 1; i < count; i++)
        if (pairs[2 * i] != 0 && pairs[2 * i] == pairs[2 * i - 2])
            check_violation(c, CHECK_latch, DLOCK_ASSUMES_LOCK, pairs[2 * i - 1],
                            pairs[2 * i + 1], c->h->calls[pairs[2 * i - 1]].invoke_ns,
                            c->h->calls[pairs[2 * i + 1]].answer_ns,
                            "two counts left %" PRId64 " each", pairs[2 * i]);
}

/* Check that each count left a number that is possible after the counts before it. */
static void latch_look_at_counts(struct check *c, const struct latch *l)
{
    struct counts all = gather(c, l);

    for (size_t i = 0; i < all.sure_count; i++) {
        const char *what = look_at(c, l, &all, all.sure[i].index);

        if (what != NULL)
            latch_report(c, l, all.sure[i].index, what);
    }
    for (size_t i = 0; i < all.other_count; i++)
        if (is_tied(c, l, &c->h->calls[all.other[i]]) &&
            look_at(c, l, &all, all.other[i]) != NULL)
            check_tied(c, CHECK_latch);
    look_at_pairs(c, &all);
}

/* ---- when the latch is open ---- */

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

/* SPDX-License-Identifier: MIT */
/* latch_counts.c -- the number that each count of a latch left.
 *
 * A count leaves one less than the count before it.  So all counts that left more came
 * before it, and those that left less came after it.  A number that is missing in between
 * was left by a count without an answer that was made before the answer of this one.  A
 * count leaves less than each count that was answered before it was made, and no two
 * counts leave the same number.  An open latch stays at 0 after any number of counts. */
#include <inttypes.h>
#include <stdlib.h>

#include "loadtest/check/latch.h"
#include "loadtest/kit/bisect.h"

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

void latch_look_at_counts(struct check *c, const struct latch *l)
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

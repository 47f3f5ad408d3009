/* SPDX-License-Identifier: MIT */
/* permit_refusals.c -- permits that were refused without a wait.
 *
 * A refusal is right if too few permits were left at some instant between the call and
 * its answer.  At any instant at least as many are left as certainly were added by then,
 * less all that may have been taken by then.  So a refusal is wrong if that many would
 * have been enough at each instant of the call. */
#include <stdlib.h>

#include "loadtest/check/permits.h"
#include "loadtest/kit/bisect.h"
#include "loadtest/kit/memory.h"

/* The least number of permits left, at an instant at which calls happen.  `low`: the
 * takings of the instant come before its givings; `high`: they come after, and this
 * number holds from then on. */
struct moment {
    int64_t at_ns, low, high;
};

/* Bounds for the number of permits over time. */
struct bounds {
    struct permits_steps taken, given; /* at most, and at least                   */
    struct permits_steps away;         /* each adding that may have taken some away */
    struct moment *moments;            /* in the order of time                    */
    size_t count;
    int64_t *lows, *highs; /* of each, `count` of them, and before these the least of two:
                            * of i those of 2i and 2i+1                          */
};

/* The least from the moment `from` and before `end`. */
static int64_t least_of(const int64_t *tree, size_t count, size_t from, size_t end)
{
    int64_t found = INT64_MAX;

    for (from += count, end += count; from < end; from /= 2, end /= 2) {
        if (from % 2 == 1)
            found = least(found, tree[from++]);
        if (end % 2 == 1)
            found = least(found, tree[--end]);
    }
    return found;
}

/* The first step or moment that is not before an instant. */
static size_t first_step(const struct permits_steps *s, int64_t at_ns)
{
    size_t at = 0;

    BISECT(at, s->count, i, s->steps[i].at_ns < at_ns);
    return at;
}

static size_t first_moment(const struct bounds *b, int64_t at_ns)
{
    size_t at = 0;

    BISECT(at, b->count, i, b->moments[i].at_ns < at_ns);
    return at;
}

/* Whether the owner of the refusal made that call before it, or after it. */
static bool is_own(const struct history_call *call, const struct history_call *refusal,
                   bool is_before)
{
    return call->process == refusal->process && call->owner == refusal->owner &&
           check_order_calls(is_before ? call : refusal, is_before ? refusal : call) ==
               CHECK_BEFORE;
}

/* The part of these permits that is of the instant `at_ns` and of calls that the owner of the
 * refusal made before it, or after it. */
static int64_t own_at(const struct check *c, const struct permits_steps *s, int64_t at_ns,
                      const struct history_call *refusal, bool is_before)
{
    int64_t sum = 0;

    for (size_t i = first_step(s, at_ns);
         i < s->count && check_order(s->steps[i].at_ns, at_ns) == CHECK_TIED; i++) {
        if (is_own(&c->h->calls[s->steps[i].call], refusal, is_before))
            sum += s->steps[i].delta;
    }
    return sum;
}

/* Whether permits may have been taken when the refusal was answered.  Calls that the owner
 * makes at that instant come later. */
static enum check_order may_be_away(const struct check *c, const struct bounds *b,
                                    const struct history_call *refusal)
{
    const struct permits_steps *s = &b->away;
    size_t tied = first_step(s, refusal->answer_ns);

    if (tied > 0)
        return CHECK_BEFORE;
    for (; tied < s->count &&
           check_order(s->steps[tied].at_ns, refusal->answer_ns) == CHECK_TIED; tied++) {
        const struct history_call *call = &c->h->calls[s->steps[tied].call];

        if (call->process != refusal->process || call->owner != refusal->owner)
            return CHECK_TIED;
    }
    return CHECK_AFTER;
}

/* The least number of permits left while the call was under way.  Calls of its owner
 * that were answered when it began came before; those that began when it was answered
 * came after. */
static int64_t surely_left(const struct check *c, const struct bounds *b,
                           const struct history_call *call)
{
    size_t from = first_moment(b, call->invoke_ns), at = from;
    size_t end = first_moment(b, call->answer_ns);
    int64_t before = from > 0 ? b->moments[from - 1].high : 0, found = INT64_MAX;
    int64_t given = own_at(c, &b->given, call->invoke_ns, call, true);
    int64_t taken = own_at(c, &b->taken, call->answer_ns, call, false);
    bool is_at_once = call->invoke_ns == call->answer_ns;

    if (at == b->count || b->moments[at].at_ns != call->invoke_ns)
        found = before;
    else
        found = b->moments[at++].low + given + (is_at_once ? taken : 0);
    if (end < b->count && b->moments[end].at_ns == call->answer_ns && end >= at)
        found = least(found, b->moments[end].low + taken);
    return at < end ? least(found, least_of(b->lows, b->count, at, end)) : found;
}

/* The same, if of two events at one instant the one comes first that leaves more permits.
 */
static int64_t perhaps_left(const struct bounds *b, const struct history_call *call)
{
    size_t from = first_moment(b, call->invoke_ns);
    size_t end = first_moment(b, call->answer_ns);
    int64_t before = from > 0 ? b->moments[from - 1].high : 0;

    if (from == end) { /* nothing happens but at its answer */
        for (size_t i = first_step(&b->given, call->invoke_ns);
             i < b->given.count && b->given.steps[i].at_ns == call->invoke_ns; i++)
            before += b->given.steps[i].delta;
        return before;
    }
    if (b->moments[from].at_ns != call->invoke_ns)
        return least(before, least_of(b->highs, b->count, from, end));
    return least_of(b->highs, b->count, from, end);
}

/* Whether too few permits may have been left: certainly, in one order of an instant's
 * events, or not at all. */
static enum check_order are_too_few(const struct check *c, const struct bounds *b,
                                    const struct history_call *call)
{
    int64_t asked = call->kind == DLOCK_EVENT_PERMIT_TAKE
                        ? 1 : (int64_t)(call->fence & INT32_MAX);
    enum check_order away = may_be_away(c, b, call);

    /* The number of permits is negative only if a call took some away (semaphore add). */
    if (away == CHECK_BEFORE || asked == 0 || surely_left(c, b, call) >= asked)
        return away;
    return perhaps_left(b, call) >= asked ? CHECK_TIED : CHECK_BEFORE;
}

static void look_at_refusal(struct check *c, const struct bounds *b, int64_t index)
{
    const struct history_call *call = &c->h->calls[index];
    enum check_order too_few = are_too_few(c, b, call);

    if (too_few == CHECK_AFTER)
        check_violation(c, CHECK_permits, DLOCK_ASSUMES_LOCK, index, NO_CALL,
                        call->invoke_ns, call->answer_ns,
                        "refused although enough permits were left");
    else if (too_few == CHECK_TIED)
        check_tied(c, CHECK_permits);
}

static void add_call(struct check *c, struct bounds *b, int64_t index)
{
    const struct history_call *call = &c->h->calls[index];
    int64_t count = (int64_t)(call->fence & INT32_MAX);

    switch (call->kind) {
    case DLOCK_EVENT_SEM_ADD:
    case DLOCK_EVENT_SEM_SET:
    case DLOCK_EVENT_SEM_GIVE:
        if (call->kind == DLOCK_EVENT_SEM_ADD && count == 0 && check_may_be_done(c, call))
            permits_add_step(&b->away, call->invoke_ns, 1, index, false);
        if (check_is_ok(c, call))
            permits_add_step(&b->given, call->answer_ns, count, index, false);
        break;
    case DLOCK_EVENT_SEM_TAKE:
        if (check_may_be_done(c, call))
            permits_add_step(&b->taken, call->invoke_ns, count, index, false);
        break;
    case DLOCK_EVENT_SEM_DRAIN:
        if (check_may_be_done(c, call))
            permits_add_step(&b->taken, call->invoke_ns,
                             check_is_ok(c, call) ? count : INT32_MAX, index, false);
        break;
    default:
        break;
    }
}

/* The sum of the steps of that instant, of which the first is at *at. */
static int64_t pass(const struct permits_steps *s, size_t *at, int64_t at_ns)
{
    int64_t sum = 0;

    for (; *at < s->count && s->steps[*at].at_ns == at_ns; ++*at)
        sum += s->steps[*at].delta;
    return sum;
}

static void gather_moments(struct bounds *b)
{
    size_t room = b->taken.count + b->given.count, taken = 0, given = 0;
    int64_t left = 0;

    b->moments = memory_need(malloc((room + 1) * sizeof(*b->moments)));
    while (taken < b->taken.count || given < b->given.count) {
        int64_t at_ns = least(
            taken < b->taken.count ? b->taken.steps[taken].at_ns : INT64_MAX,
            given < b->given.count ? b->given.steps[given].at_ns : INT64_MAX);
        int64_t low = left - pass(&b->taken, &taken, at_ns);

        left = low + pass(&b->given, &given, at_ns);
        b->moments[b->count++] = (struct moment){at_ns, low, left};
    }
}

static void gather(struct check *c, struct bounds *b)
{
    for (size_t i = 0; i < c->lock.call_count; i++)
        add_call(c, b, c->lock.calls[i]);
    permits_add_possible(c, &b->taken, &b->given);
    permits_sort(&b->taken);
    permits_sort(&b->given);
    permits_sort(&b->away);
    gather_moments(b);
    b->lows = memory_need(malloc((2 * b->count + 1) * sizeof(*b->lows)));
    b->highs = memory_need(malloc((2 * b->count + 1) * sizeof(*b->highs)));
    for (size_t i = 0; i < b->count; i++) {
        b->lows[b->count + i] = b->moments[i].low;
        b->highs[b->count + i] = b->moments[i].high;
    }
    for (size_t i = b->count; i-- > 1;) {
        b->lows[i] = least(b->lows[2 * i], b->lows[2 * i + 1]);
        b->highs[i] = least(b->highs[2 * i], b->highs[2 * i + 1]);
    }
}

static bool is_refusal(const struct check *c, const struct history_call *call)
{
    return (call->kind == DLOCK_EVENT_SEM_TAKE || call->kind == DLOCK_EVENT_PERMIT_TAKE) &&
           check_is_answered(c, call) && call->status == DLOCK_BUSY &&
           call->wait_ns == 0 && call->deadline_ns == 0;
}

void permits_look_at_refusals(struct check *c)
{
    struct bounds b = {0};
    bool is_gathered = false;

    for (size_t i = 0; i < c->lock.call_count; i++) {
        if (!is_refusal(c, check_call_at(c, i)))
            continue;
        if (!is_gathered)
            gather(c, &b);
        is_gathered = true;
        look_at_refusal(c, &b, c->lock.calls[i]);
    }
    free(b.taken.steps);
    free(b.given.steps);
    free(b.away.steps);
    free(b.moments);
    free(b.lows);
    free(b.highs);
}

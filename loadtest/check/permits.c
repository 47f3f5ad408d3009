/* SPDX-License-Identifier: MIT */
/* permits.c -- the steps in which permits are added and needed, in the order of time; what is
 * wrong with single permits, and with refusals. */
#include "loadtest/check/permits.h"

#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/bisect.h"
#include "loadtest/kit/memory.h"

static int by_time(const void *left, const void *right)
{
    const struct permits_step *a = left, *b = right;

    if (a->at_ns != b->at_ns)
        return COMPARE(a->at_ns, b->at_ns);
    if ((a->delta > 0) != (b->delta > 0))
        return a->delta > 0 ? 1 : -1; /* at one instant a step that adds permits comes
                                       * before a step that needs some */
    return COMPARE(a->call, b->call);
}

void permits_add_step(struct permits_steps *s, int64_t at_ns, int64_t delta, int64_t call,
                      bool is_end)
{
    MEMORY_ROOM(s->steps, s->count, 1, s->room);
    s->steps[s->count++] = (struct permits_step){at_ns, delta, call, is_end};
}

void permits_sort(struct permits_steps *s)
{
    if (s->count > 1)
        qsort(s->steps, s->count, sizeof(*s->steps), by_time);
}

/* ---- permits that end, each by its id ----
 *
 * A permit is held from the answer to its taking until it is given back or until its end,
 * whichever is first.  Its end is the time that was promised last, on this machine's
 * clock.  A permit that was taken without an answer may last for a lease. */

/* The calls on one id, in their order. */
struct permit {
    int64_t take;        /* the first that was granted; NO_CALL                   */
    int64_t give;        /* the first that was OK                                 */
    int64_t kept_ns;     /* surely held until then                                */
    int64_t promised_ns; /* the last end, or the latest that may be the last      */
    int64_t sooner_ns;   /* the same, but the earliest                            */
    int64_t unsure_ns;   /* the earliest end by renewals without an answer        */
    int64_t told_ns;     /* when the last end was answered                        */
    int64_t seen_ns;     /* and there, when this call was sent                    */
    int64_t given;       /* the first call that may have given the permit back; NO_CALL */
    int64_t loss;        /* the loss that was told first; NO_CALL                 */
    int64_t gone_ns;     /* surely free again; HISTORY_NEVER                      */
    int64_t gone;        /* the call whose answer says so; NO_CALL: the end came  */
    bool is_doubtful;    /* the end of a renewal is unknown */
};

static bool has_id(const struct history_call *call)
{
    static const uint8_t none[DLOCK_RECORD_TOKEN_SIZE];

    return call->kind >= DLOCK_EVENT_PERMIT_TAKE && call->kind <= DLOCK_EVENT_PERMIT_GIVE &&
           memcmp(call->token, none, sizeof(none)) != 0;
}

static _Thread_local const struct history_call *sorting;

static int by_id(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = memcmp(sorting[a].token, sorting[b].token, sizeof(sorting[a].token));

    return order != 0 ? order : COMPARE(a, b);
}

/* Put them into c->ghosts.  Answers how many. */
static size_t sort_by_id(struct check *c)
{
    size_t count = 0;

    check_need_ghosts(c, c->lock.call_count);
    for (size_t i = 0; i < c->lock.call_count; i++)
        if (has_id(check_call_at(c, i)))
            c->ghosts[count++] = c->lock.calls[i];
    sorting = c->h->calls;
    if (count > 1)
        qsort(c->ghosts, count, sizeof(*c->ghosts), by_id);
    return count;
}

/* The answer to the call says that the permit is free again. */
static void note_gone(const struct check *c, struct permit *p, int64_t index)
{
    if (c->h->calls[index].answer_ns >= p->gone_ns)
        return;
    p->gone_ns = c->h->calls[index].answer_ns;
    p->gone = index;
}

static void note_give(const struct check *c, struct permit *p, int64_t index)
{
    const struct history_call *call = &c->h->calls[index];

    if (check_may_be_done(c, call) && p->given == NO_CALL)
        p->given = index;
    if (!check_is_ok(c, call))
        return;
    if (p->give == NO_CALL)
        p->give = index;
    p->seen_ns = greatest(p->seen_ns, call->invoke_ns);
    note_gone(c, p, index);
}

/* A call set the end anew, later or earlier than before.  Of two calls that overlap either
 * may have been the last. */
static void set_end(struct permit *p, const struct history_call *call)
{
    bool is_last = call->invoke_ns >= p->told_ns;

    if (is_last || call->deadline_ns > p->promised_ns)
        p->promised_ns = call->deadline_ns;
    if (is_last || call->deadline_ns < p->sooner_ns)
        p->sooner_ns = call->deadline_ns;
    p->told_ns = greatest(p->told_ns, call->answer_ns);
}

static void note_renewal(const struct check *c, struct permit *p,
                         const struct history_call *call)
{
    int64_t end_ns = check_plus(call->invoke_ns, call->lease_ns);

    if (check_is_ok(c, call)) {
        set_end(p, call);
        p->seen_ns = greatest(p->seen_ns, call->invoke_ns);
    } else if (!check_is_answered(c, call) || call->status != DLOCK_LOST) {
        p->is_doubtful = true;
        if (call->lease_ns > 0 && end_ns < p->unsure_ns)
            p->unsure_ns = end_ns;
    } else if (call->deadline_ns > 0) { /* renewed, and told when that was over */
        set_end(p, call);
    }
}

/* The answer says that the permit is gone, not that the renewal came too late. */
static bool is_loss(const struct check *c, const struct history_call *call)
{
    return call->kind != DLOCK_EVENT_PERMIT_TAKE && check_is_answered(c, call) &&
           call->status == DLOCK_LOST && call->deadline_ns == 0;
}

static void note_call(const struct check *c, struct permit *p, int64_t index)
{
    const struct history_call *call = &c->h->calls[index];

    if (is_loss(c, call) &&
        (p->loss == NO_CALL || call->answer_ns < c->h->calls[p->loss].answer_ns))
        p->loss = index;
    if (is_loss(c, call))
        note_gone(c, p, index);
    if (call->kind == DLOCK_EVENT_PERMIT_GIVE) {
        note_give(c, p, index);
    } else if (call->kind == DLOCK_EVENT_PERMIT_TAKE && check_is_ok(c, call)) {
        if (p->take == NO_CALL)
            p->take = index;
        set_end(p, call);
    } else if (call->kind == DLOCK_EVENT_PERMIT_RENEW) {
        note_renewal(c, p, call);
    }
}

/* Before any call. */
static const struct permit nothing = {.take = NO_CALL, .give = NO_CALL, .given = NO_CALL,
                                      .loss = NO_CALL, .gone = NO_CALL,
                                      .gone_ns = HISTORY_NEVER,
                                      .unsure_ns = HISTORY_NEVER};

/* The permit of the calls from `at` on; *end is after the last of them. */
static struct permit put_together(const struct check *c, size_t at, size_t count,
                                  size_t *end)
{
    struct permit p = nothing;
    int64_t end_ns;
    const struct history_call *first = &c->h->calls[c->ghosts[at]];

    for (*end = at; *end < count; ++*end) {
        uint32_t index = c->ghosts[*end];

        if (memcmp(c->h->calls[index].token, first->token, sizeof(first->token)) != 0)
            break;
        note_call(c, &p, index);
    }
    p.kept_ns = p.sooner_ns = least(p.sooner_ns, p.unsure_ns);
    if (p.given != NO_CALL)
        p.kept_ns = least(p.kept_ns, c->h->calls[p.given].invoke_ns);
    p.kept_ns = greatest(p.kept_ns, p.seen_ns);
    end_ns = check_plus(p.promised_ns, c->options->slack_ns);
    if (!p.is_doubtful && end_ns < p.gone_ns) {
        p.gone_ns = end_ns;
        p.gone = NO_CALL;
    }
    return p;
}

void permits_add_holders(struct check *c, struct permits_steps *s)
{
    size_t count = sort_by_id(c), end;

    for (size_t at = 0; at < count; at = end) {
        struct permit p = put_together(c, at, count, &end);
        const struct history_call *take = p.take != NO_CALL ? &c->h->calls[p.take] : NULL;

        if (take == NULL || p.kept_ns < take->answer_ns)
            continue;
        permits_add_step(s, take->answer_ns, 1, p.take, false);
        if (p.kept_ns != HISTORY_NEVER)
            permits_add_step(s, p.kept_ns, -1, p.given != NO_CALL ? p.given : p.take,
                             p.kept_ns == p.sooner_ns);
    }
}

static void add_unsure(struct check *c, const struct history_call *call, int64_t index,
                       struct permits_steps *taken, struct permits_steps *given)
{
    int64_t from_ns = check_is_answered(c, call) ? call->answer_ns : HISTORY_NEVER;
    int64_t end_ns = call->lease_ns > 0 ? check_plus(from_ns, call->lease_ns)
                                        : HISTORY_NEVER;

    end_ns = check_plus(end_ns, c->options->slack_ns);
    permits_add_step(taken, call->invoke_ns, 1, index, false);
    if (end_ns != HISTORY_NEVER)
        permits_add_step(given, end_ns, 1, index, true);
}

void permits_add_possible(struct check *c, struct permits_steps *taken,
                          struct permits_steps *given)
{
    size_t count = sort_by_id(c), end;

    for (size_t at = 0; at < count; at = end) {
        struct permit p = put_together(c, at, count, &end);

        if (p.take == NO_CALL)
            continue;
        permits_add_step(taken, c->h->calls[p.take].invoke_ns, 1, p.take, false);
        if (p.gone_ns != HISTORY_NEVER)
            permits_add_step(given, p.gone_ns, 1, p.gone != NO_CALL ? p.gone : p.take,
                             p.gone == NO_CALL);
    }
    for (size_t i = 0; i < c->lock.call_count; i++) {
        const struct history_call *call = check_call_at(c, i);
        bool is_late = check_is_answered(c, call) && call->status != DLOCK_OK &&
                       call->deadline_ns > 0;

        if (call->kind == DLOCK_EVENT_PERMIT_TAKE && !check_is_ok(c, call) &&
            (is_late || check_may_be_done(c, call)))
            add_unsure(c, call, c->lock.calls[i], taken, given);
    }
}

/* ---- each by itself ---- */

static void blame(struct check *c, const struct permit *p, int64_t index, const char *what)
{
    const struct history_call *call = &c->h->calls[index];
    int64_t from_ns = p->take != NO_CALL ? c->h->calls[p->take].invoke_ns : call->invoke_ns;

    check_violation(c, CHECK_permits,
                    p->take == NO_CALL ? DLOCK_ASSUMES_RELEASE : DLOCK_ASSUMES_LOCK,
                    p->take, index, from_ns, call->answer_ns, "%s", what);
}

/* Blame the call `blamed` if the call `first` surely was before the call `second`, or
 * if `second`, being NO_CALL, never was made. */
static void blame_order(struct check *c, const struct permit *p, int64_t first,
                        int64_t second, int64_t blamed, const char *what)
{
    enum check_order order = CHECK_BEFORE;

    if (second != NO_CALL)
        order = check_order_calls(&c->h->calls[first], &c->h->calls[second]);
    if (order == CHECK_BEFORE)
        blame(c, p, blamed, what);
    else if (order == CHECK_TIED)
        check_tied(c, CHECK_permits);
}

static void look_at_call(struct check *c, const struct permit *p, int64_t index)
{
    const struct history_call *call = &c->h->calls[index];

    if (!check_is_ok(c, call))
        return;
    if (call->kind == DLOCK_EVENT_PERMIT_TAKE) {
        if (index != p->take)
            blame(c, p, index, "a permit was given out twice");
        return;
    }
    if (p->take == NO_CALL)
        blame(c, p, index, "a permit was given back or renewed by one who never took it");
    else if (call->kind == DLOCK_EVENT_PERMIT_GIVE && index != p->give)
        blame(c, p, index, "a permit was given back twice");
    else if (call->kind == DLOCK_EVENT_PERMIT_RENEW && p->give != NO_CALL)
        blame_order(c, p, p->give, index, index,
                    "a permit was renewed after it had been given back");
    if (p->take != NO_CALL) /* no owner knows an id before its permit is taken */
        blame_order(c, p, index, p->take, index,
                    "a permit was given back or renewed before it was taken");
    if (p->loss != NO_CALL)
        blame_order(c, p, p->loss, index, index,
                    "a permit was lost, and found there later");
}

/* The earliest end that the permit may have had when the loss was answered.  `last` is the call
 * that was answered last of the calls before.  0: the end is unknown. */
static int64_t soonest_end_ns(const struct check *c, const struct permit *p,
                              const struct permit *before,
                              const struct history_call *last,
                              const struct history_call *loss)
{
    if (check_order_calls(last, loss) == CHECK_BEFORE)
        return before->is_doubtful ? 0 : before->sooner_ns;
    return p->is_doubtful ? 0 : least(c->h->calls[p->take].deadline_ns, p->sooner_ns);
}

static void look_at_loss(struct check *c, const struct permit *p,
                         const struct permit *before, const struct history_call *last,
                         int64_t index)
{
    const struct history_call *call = &c->h->calls[index];

    if (is_loss(c, call) && before->take != NO_CALL &&
        call->answer_ns < soonest_end_ns(c, p, before, last, call))
        blame_order(c, p, index, p->given, index,
                    "a permit was lost although its end had not come");
}

/* An owner that asks for a permit whose end has come is refused.  `last` was answered last of the
 * calls before this one, and `next` is made after it; NULL: there is none. */
static void look_at_find(struct check *c, const struct permit *before,
                         const struct history_call *last, int64_t index,
                         const struct history_call *next)
{
    const struct history_call *call = &c->h->calls[index];

    if (call->kind == DLOCK_EVENT_PERMIT_TAKE || !check_is_ok(c, call) ||
        before->take == NO_CALL || before->is_doubtful ||
        c->first_fault_ns <= call->invoke_ns ||
        check_order_calls(last, call) != CHECK_BEFORE ||
        (next != NULL && next->invoke_ns <= call->answer_ns))
        return; /* nobody knows its end */
    if (check_plus(before->promised_ns, c->options->slack_ns) < call->invoke_ns)
        blame(c, before, index, "a permit was found there after its end");
}

void permits_look_at_ids(struct check *c)
{
    size_t count = sort_by_id(c), end;

    for (size_t at = 0; at < count; at = end) {
        struct permit p = put_together(c, at, count, &end), before = nothing;
        const struct history_call *last = &c->h->calls[c->ghosts[at]];

        for (size_t i = at; i < end; i++) {
            const struct history_call *call = &c->h->calls[c->ghosts[i]];

            look_at_call(c, &p, c->ghosts[i]);
            look_at_loss(c, &p, &before, last, c->ghosts[i]);
            look_at_find(c, &before, last, c->ghosts[i],
                         i + 1 < end ? &c->h->calls[c->ghosts[i + 1]] : NULL);
            note_call(c, &before, c->ghosts[i]);
            if (call->answer_ns > last->answer_ns)
                last = call;
        }
    }
}

/* ---- permits that were refused without a wait ----
 *
 * A refusal is right if too few permits were left at some instant between the call and
 * its answer.  At any instant at least as many are left as certainly were added by then,
 * less all that may have been taken by then.  So a refusal is wrong if that many would
 * have been enough at each instant of the call. */

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

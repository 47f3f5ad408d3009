/* SPDX-License-Identifier: MIT */
/* permit_ids.c -- permits that end, each by its id.
 *
 * A permit is held from the answer to its taking until it is given back or until its end,
 * whichever is first.  Its end is the time that was promised last, on this machine's
 * clock.  A permit that was taken without an answer may last for a lease. */
#include <stdlib.h>
#include <string.h>

#include "loadtest/check/permits.h"

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

/* SPDX-License-Identifier: MIT */
/* refusal.c -- who is refused is refused for somebody's sake.
 *
 * A refusal is explained by another acquire that was going on at the same time (locks
 * on several nodes refuse both of two that come at once, and a grant that came too late
 * is given back); or by a hold that may not have ended yet; or by an acquire without an
 * answer, which may have happened later than it was called.  Such an acquire happens at
 * most once: it explains the refusals between two holds, and no others.  Fair locks
 * refuse for the sake of who waits, so they are not judged. */
#include "loadtest/checks/checks.h"

/* The latest answers among the acquires seen so far: of two different owners. */
struct latest {
    struct {
        int64_t answer_ns;
        const struct history_call *call;
    } best, second;
};

static bool is_same_owner(const struct history_call *a, const struct history_call *b)
{
    return a->process == b->process && a->owner == b->owner;
}

static int64_t answer_of(const struct check *c, const struct history_call *call)
{
    return check_is_answered(c, call) ? call->answer_ns : HISTORY_NEVER;
}

static void note_acquire(const struct check *c, struct latest *latest,
                         const struct history_call *call)
{
    int64_t answer_ns = answer_of(c, call);

    if (latest->best.call != NULL && is_same_owner(latest->best.call, call)) {
        if (answer_ns > latest->best.answer_ns)
            latest->best.answer_ns = answer_ns;
    } else if (latest->best.call == NULL || answer_ns > latest->best.answer_ns) {
        latest->second = latest->best;
        latest->best.answer_ns = answer_ns;
        latest->best.call = call;
    } else if (latest->second.call == NULL || answer_ns > latest->second.answer_ns) {
        latest->second.answer_ns = answer_ns;
        latest->second.call = call;
    }
}

static bool was_going_on(const struct latest *latest, const struct history_call *call,
                         int64_t from_ns)
{
    if (latest->best.call == NULL)
        return false;
    if (!is_same_owner(latest->best.call, call))
        return latest->best.answer_ns >= from_ns;
    return latest->second.call != NULL && latest->second.answer_ns >= from_ns;
}

/* Did another acquire begin while this one, the `at`th call, was going on? */
static bool begins_meanwhile(const struct check *c, size_t at, int64_t from_ns)
{
    const struct history_call *calls = c->h->calls;
    const struct history_call *call = &calls[c->lock.calls[at]];

    for (size_t i = at + 1; i < c->lock.call_count; i++) {
        const struct history_call *other = &calls[c->lock.calls[i]];

        if (other->invoke_ns > call->answer_ns)
            return false;
        if (other->kind == DLOCK_EVENT_ACQUIRE && !is_same_owner(other, call) &&
            answer_of(c, other) >= from_ns)
            return true;
    }
    return false;
}

static bool is_unsure(const struct check *c, const struct history_call *call)
{
    return call->kind == DLOCK_EVENT_ACQUIRE && check_is_answered(c, call) &&
           (call->status == DLOCK_UNKNOWN || call->status == DLOCK_PROTOCOL ||
            call->status == DLOCK_CANCELLED);
}

/* How many acquires without an answer began while this one was going on? */
static size_t count_unsure_meanwhile(const struct check *c, size_t at)
{
    const struct history_call *calls = c->h->calls;
    size_t count = 0;

    for (size_t i = at + 1; i < c->lock.call_count &&
                            calls[c->lock.calls[i]].invoke_ns <
                                calls[c->lock.calls[at]].answer_ns;
         i++)
        count += is_unsure(c, &calls[c->lock.calls[i]]);
    return count;
}

/* Where the sweep over one lock is. */
struct sweep {
    struct latest latest;
    size_t hold_at;       /* the first that was granted later                       */
    int64_t gone_ns;      /* when the last of those before surely is gone           */
    const struct hold *last;
    size_t unsure_before; /* acquires without an answer, begun so far               */
    size_t unsure_used;
    int64_t gap_first_ns; /* the first answer among the refusals in this gap        */
    size_t gap_unsure;    /* acquires without an answer begun before that           */
    int64_t gap_call;     /* NO_CALL: none in this gap                              */
};

/* The refusals since the last hold need one acquire without an answer. */
static void close_gap(struct check *c, struct sweep *s)
{
    const struct history_call *call;

    if (s->gap_call == NO_CALL)
        return;
    call = &c->h->calls[s->gap_call];
    if (s->gap_unsure > s->unsure_used)
        s->unsure_used++;
    else
        check_violation(c, CHECK_refusal,
                        check_explain(c, s->last,
                                      s->last != NULL ? s->last->invoke_ns : 0,
                                      call->answer_ns, true),
                        s->gap_call, s->last != NULL ? s->last->call : NO_CALL,
                        call->invoke_ns, call->answer_ns,
                        "refused although nobody can have held it");
    s->gap_call = NO_CALL;
}

static void pass_holds(struct check *c, struct sweep *s, int64_t at_ns)
{
    for (; s->hold_at < c->lock.hold_count &&
           c->lock.holds[s->hold_at].granted_ns <= at_ns; s->hold_at++) {
        const struct hold *hold = &c->lock.holds[s->hold_at];

        close_gap(c, s);
        if (!c->lock.has_shared || hold->gone_ns > s->gone_ns)
            s->gone_ns = hold->gone_ns;
        s->last = hold;
    }
}

static void look_at(struct check *c, struct sweep *s, const struct refusal *refusal,
                    size_t at)
{
    const struct history_call *call = &c->h->calls[refusal->call];
    unsigned caps = c->h->processes[call->process].caps;
    bool is_own;

    pass_holds(c, s, call->invoke_ns);
    c->out->findings[CHECK_refusal].looked++;
    if (refusal->is_own || was_going_on(&s->latest, call, refusal->from_ns) ||
        begins_meanwhile(c, at, refusal->from_ns))
        return;
    is_own = s->last != NULL && (caps & DLOCK_CAP_REENTRANT) &&
             s->last->process == call->process && s->last->owner == call->owner;
    if (s->last != NULL && !is_own && s->gone_ns >= refusal->from_ns)
        return;
    if (s->gap_call == NO_CALL || call->answer_ns < s->gap_first_ns) {
        s->gap_first_ns = call->answer_ns;
        s->gap_call = refusal->call;
        s->gap_unsure = s->unsure_before + count_unsure_meanwhile(c, at);
    }
}

void check_refusal(struct check *c)
{
    struct sweep s = {.gap_call = NO_CALL};
    size_t refusal_at = 0;

    if (c->lock.caps & DLOCK_CAP_FAIR)
        return;
    for (size_t i = 0; i < c->lock.call_count; i++) {
        const struct history_call *call = &c->h->calls[c->lock.calls[i]];

        if (call->kind != DLOCK_EVENT_ACQUIRE || call->invoke_ns >= c->end_ns)
            continue;
        if (refusal_at < c->lock.refusal_count &&
            c->lock.refusals[refusal_at].call == c->lock.calls[i])
            look_at(c, &s, &c->lock.refusals[refusal_at++], i);
        note_acquire(c, &s.latest, call);
        s.unsure_before += is_unsure(c, call);
    }
    close_gap(c, &s);
}

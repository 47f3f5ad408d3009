/* SPDX-License-Identifier: MIT */
/* refusal.c -- who is refused is refused for somebody's sake.
 *
 * Who heard of a grant when its lease was over was not refused at all.  A refusal is
 * explained by another acquire that was going on at the same time (locks on several
 * nodes refuse both of two that come at once, and a grant that came too late is given
 * back); or by a hold that may not have ended yet; or by an acquire without an answer,
 * which may have happened later than it was called.  Such an acquire happens at most
 * once: it explains the refusals between two exclusive holds, and no others.  Fair locks
 * refuse for the sake of who waits, so they are not judged. */
#include "loadtest/checks/checks.h"

/* The latest instants of what was seen so far: of two different owners. */
struct latest {
    struct {
        int64_t at_ns;
        const struct history_call *call; /* whose it is */
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

static void note(struct latest *latest, const struct history_call *call, int64_t at_ns)
{
    if (latest->best.call != NULL && is_same_owner(latest->best.call, call)) {
        if (at_ns > latest->best.at_ns)
            latest->best.at_ns = at_ns;
    } else if (latest->best.call == NULL || at_ns > latest->best.at_ns) {
        latest->second = latest->best;
        latest->best.at_ns = at_ns;
        latest->best.call = call;
    } else if (latest->second.call == NULL || at_ns > latest->second.at_ns) {
        latest->second.at_ns = at_ns;
        latest->second.call = call;
    }
}

/* Is one of them at from_ns or later, that of the owner of `but` left out? */
static bool reaches(const struct latest *latest, const struct history_call *but,
                    int64_t from_ns)
{
    if (latest->best.call == NULL)
        return false;
    if (but == NULL || !is_same_owner(latest->best.call, but))
        return latest->best.at_ns >= from_ns;
    return latest->second.call != NULL && latest->second.at_ns >= from_ns;
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
    struct latest acquires; /* their answers                                        */
    size_t hold_at;       /* the first that was granted later                       */
    struct latest gone[2]; /* when those before surely are gone: by mode            */
    const struct hold *last;
    size_t unsure_before; /* acquires without an answer, begun so far               */
    size_t unsure_used;
    bool is_used;         /* one more, by refusals since the last exclusive hold    */
    int64_t gap_first_ns; /* the first answer among the refusals in this gap        */
    size_t gap_unsure;    /* acquires without an answer begun before that           */
    int64_t gap_call;     /* NO_CALL: none in this gap                              */
};

/* What gave way, or DLOCK_ASSUMES_LOCK. */
static int explain(const struct check *c, const struct hold *last,
                   const struct history_call *call)
{
    int found = check_explain(c, last, last != NULL ? last->invoke_ns : 0,
                              call->answer_ns, true);

    if (found == DLOCK_ASSUMES_LOCK && check_may_be_back(c, call->invoke_ns))
        return DLOCK_ASSUMES_STORE;
    return found;
}

/* The refusals since the last hold need one acquire without an answer. */
static void close_gap(struct check *c, struct sweep *s)
{
    const struct history_call *call;

    if (s->gap_call == NO_CALL)
        return;
    call = &c->h->calls[s->gap_call];
    if (s->gap_unsure > s->unsure_used)
        s->is_used = true;
    else
        check_violation(c, CHECK_refusal, explain(c, s->last, call), s->gap_call,
                        s->last != NULL ? s->last->call : NO_CALL,
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
        /* Another reader may still be there, and have no answer. */
        if (hold->mode == DLOCK_MODE_EXCLUSIVE) {
            s->unsure_used += s->is_used;
            s->is_used = false;
        }
        if (!c->lock.has_shared) /* the one before is gone, or this was not granted */
            s->gone[hold->mode] = (struct latest){0};
        note(&s->gone[hold->mode], &c->h->calls[hold->call], hold->gone_ns);
        s->last = hold;
    }
}

/* May a hold be there that refuses it?  Its owner's own would let it in, but for a reader
 * who wants to write; and no reader keeps another out. */
static bool may_be_held(const struct check *c, const struct sweep *s,
                        const struct history_call *call, int64_t from_ns)
{
    bool is_let_in = c->h->processes[call->process].caps & DLOCK_CAP_REENTRANT;

    if (call->mode == DLOCK_MODE_EXCLUSIVE &&
        reaches(&s->gone[DLOCK_MODE_SHARED], NULL, from_ns))
        return true;
    return reaches(&s->gone[DLOCK_MODE_EXCLUSIVE], is_let_in ? call : NULL, from_ns);
}

static bool was_granted_too_late(const struct history_call *call)
{
    return call->deadline_ns > 0 && call->deadline_ns <= call->answer_ns;
}

static void look_at(struct check *c, struct sweep *s, const struct refusal *refusal,
                    size_t at)
{
    const struct history_call *call = &c->h->calls[refusal->call];

    pass_holds(c, s, call->invoke_ns);
    c->out->findings[CHECK_refusal].looked++;
    if (refusal->is_own || was_granted_too_late(call) ||
        reaches(&s->acquires, call, refusal->from_ns) ||
        begins_meanwhile(c, at, refusal->from_ns) ||
        may_be_held(c, s, call, refusal->from_ns))
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
        note(&s.acquires, call, answer_of(c, call));
        s.unsure_before += is_unsure(c, call);
    }
    close_gap(c, &s);
}

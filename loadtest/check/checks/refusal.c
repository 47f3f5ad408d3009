/* SPDX-License-Identifier: MIT */
/* refusal.c -- every refusal has a reason.
 *
 * An owner whose grant was answered after the lease's end was not refused.  A refusal is
 * explained by
 *
 *     a hold that may not have ended yet: without an answer to its release a hold may last to
 *     the end of its lease and some slack, unless another owner was granted the lock since;
 *
 *     an acquire at the same time that was granted: the store may have granted it before the
 *     refusal, unless others held the lock in between.  A lock on several nodes may refuse
 *     both of two acquires at the same time, so there any acquire at the same time will do;
 *
 *     an acquire without an answer: see ghosts.h.  A wait that was refused may have had an
 *     attempt without an answer, if a fault had been made by then.
 *
 * A reader does not explain the refusal of another reader.  A fair lock also refuses
 * because of waiters, so fair locks are not judged. */
#include "loadtest/check/checks/latest.h"
#include "loadtest/check/ghosts.h"

/* The position of the sweep over the calls of one lock. */
struct sweep {
    struct latest acquires[2]; /* the answers of all, where nodes vote: by mode         */
    struct latest gone[2];  /* when those that were granted surely are gone: by mode    */
    size_t hold_at;         /* the first that was granted later                         */
    bool is_quorum;
    struct ghosts ghosts;
};

/* True: several nodes have to agree, so of two acquires at the same time each may get
 * some of the nodes. */
static bool is_quorum(const struct check *c)
{
    for (size_t at = 0; at < c->lock.call_count; at++)
        if (c->asks_nodes[check_call_at(c, at)->process])
            return true;
    return false;
}

/* The first instant at which the store may have granted each hold: after its request was
 * sent, and after the holds that were granted before it were over.  `kept` has the ends of
 * those, by mode. */
static int64_t soonest_of(const struct latest kept[2], const struct hold *hold)
{
    int64_t soonest_ns = hold->invoke_ns;

    if (check_is_heard_late(hold))
        return soonest_ns;
    for (int mode = 0; mode < 2; mode++) {
        const struct latest_of *of = latest_but(&kept[mode], hold->process, hold->owner);
        int64_t over_ns;

        if (of == NULL || (mode == DLOCK_MODE_SHARED && hold->mode == DLOCK_MODE_SHARED))
            continue;
        /* A hold that ends by itself is over before an answer of the same instant to another
         * owner. */
        over_ns = of->is_over ? of->at_ns - 1 : of->at_ns;
        if (over_ns > soonest_ns && of->at_ns <= hold->granted_ns)
            soonest_ns = over_ns; /* else exclusion is broken, and this end is of no use */
    }
    return soonest_ns;
}

/* The acquires from `from` and before `end` were granted before the next. */
static void see_kept(const struct check *c, struct latest kept[2], size_t from, size_t end)
{
    for (size_t i = from; i < end; i++) {
        const struct hold *hold = &c->lock.holds[i];

        if (!(hold->flaws & FLAW_NOBODY) && !check_is_heard_late(hold))
            latest_see_kept(&kept[hold->mode], hold);
    }
}

/* Fill c->times with the least of these, of every hold and those granted later: of writers,
 * and of all. */
static void gather_soonest(struct check *c)
{
    struct latest kept[2] = {0};
    size_t count = c->lock.hold_count, seen = 0;

    check_need_times(c, 2 * (count + 1));
    for (size_t i = 0; i < count; i++) {
        const struct hold *hold = &c->lock.holds[i];
        bool is_writer = hold->mode == DLOCK_MODE_EXCLUSIVE;

        c->times[2 * i] = c->times[2 * i + 1] = HISTORY_NEVER;
        if (hold->flaws & FLAW_NOBODY)
            continue;
        if (check_order(c->lock.holds[seen].granted_ns, hold->granted_ns) ==
            CHECK_BEFORE) {
            see_kept(c, kept, seen, i);
            seen = i;
        }
        c->times[2 * i + 1] = soonest_of(kept, hold);
        if (is_writer)
            c->times[2 * i] = c->times[2 * i + 1];
    }
    c->times[2 * count] = c->times[2 * count + 1] = HISTORY_NEVER;
    for (size_t i = 2 * count; i-- > 0;)
        if (c->times[i + 2] < c->times[i])
            c->times[i] = c->times[i + 2];
}

/* ---- explanations of a refusal: certain, only if two events tie, or none ---- */

/* Is one of them there at from_ns, at which the call was made or its owner's own ended?  The
 * owner's own, if that counts, was gone at the instant of its next call. */
static enum check_order reaches(const struct latest *latest, const struct history_call *call,
                                bool counts_own, int64_t from_ns)
{
    const struct latest_of *of = latest_but(latest, call->process, call->owner);
    enum check_order found = of != NULL ? check_order(of->at_ns, from_ns) : CHECK_BEFORE;

    of = &latest->best;
    if (counts_own && of->is_there && latest_is_of(of, call->process, call->owner) &&
        of->at_ns > from_ns)
        found = CHECK_AFTER;
    return found;
}

/* Can one of these holds have begun at the instant of the answer that is another owner's? */
static bool is_another_begun(const struct check *c, const struct sweep *s,
                             const struct history_call *call, bool by_all)
{
    for (size_t i = s->hold_at; c->times[2 * i + by_all] <= call->answer_ns &&
                                i < c->lock.hold_count; i++) {
        const struct hold *hold = &c->lock.holds[i];

        if (!(hold->flaws & FLAW_NOBODY) &&
            (by_all || hold->mode == DLOCK_MODE_EXCLUSIVE) &&
            hold->invoke_ns <= call->answer_ns &&
            (hold->process != call->process || hold->owner != call->owner))
            return true;
    }
    return false;
}

/* True: the lock was granted to another owner, whose answer came after this call, the
 * `at`th, was made.  If nodes vote, it is enough that another owner asked. */
static enum check_order begins_meanwhile(const struct check *c, const struct sweep *s,
                                         size_t at)
{
    const struct history_call *call = check_call_at(c, at);
    bool by_all = call->mode == DLOCK_MODE_EXCLUSIVE;
    enum check_order found =
        check_order(call->answer_ns, c->times[2 * s->hold_at + by_all]);

    if (found == CHECK_TIED && !is_another_begun(c, s, call, by_all))
        found = CHECK_BEFORE;
    for (size_t i = at + 1;
         s->is_quorum && i < c->lock.call_count && found != CHECK_AFTER; i++) {
        const struct history_call *other = check_call_at(c, i);

        if (other->invoke_ns > call->answer_ns)
            break;
        if (other->kind == DLOCK_EVENT_ACQUIRE &&
            (by_all || other->mode == DLOCK_MODE_EXCLUSIVE) &&
            (other->process != call->process || other->owner != call->owner))
            found = check_later(found, check_order(call->answer_ns, other->invoke_ns));
    }
    return found;
}

/* True: a hold may exist that refuses the call.  The owner's own hold would let the call
 * in, unless a reader wants to write; and no reader keeps another reader out. */
static enum check_order may_be_held(const struct check *c, const struct sweep *s,
                                    const struct history_call *call, int64_t from_ns)
{
    bool is_let_in = c->h->processes[call->process].caps & DLOCK_CAP_REENTRANT;
    enum check_order found = CHECK_BEFORE;

    if (call->mode == DLOCK_MODE_EXCLUSIVE)
        found = reaches(&s->gone[DLOCK_MODE_SHARED], call, true, from_ns);
    return check_later(
        found, reaches(&s->gone[DLOCK_MODE_EXCLUSIVE], call, !is_let_in, from_ns));
}

/* ---- the sweep ---- */

/* The time from which the hold certainly was over.  A lease ends, unless a fault makes it
 * last or the time of its renewal is unknown. */
static int64_t gone_ns(const struct check *c, const struct hold *hold)
{
    int64_t end_ns = check_plus(hold->lasting_ns, c->options->slack_ns + 1);
    bool is_bounded = (c->h->processes[hold->process].caps & DLOCK_CAP_EXPIRES) &&
                      !hold->is_doubtful && c->first_fault_ns > end_ns;

    return is_bounded && end_ns < hold->gone_ns ? end_ns : hold->gone_ns;
}

/* Was it over when `hold` was granted, which it excludes?  If it surely was not, exclusion is
 * broken, or the lock was granted anew to its owner, and both are there. */
static bool is_displaced(const struct latest_of *of, const struct hold *hold)
{
    bool is_own = latest_is_of(of, hold->process, hold->owner);

    return of->hold->kept_ns <= hold->granted_ns &&
           (!is_own || of->hold->mode == hold->mode);
}

static void displace(struct latest *gone, const struct hold *hold)
{
    if (gone->second.is_there && is_displaced(&gone->second, hold))
        gone->second = (struct latest_of){0};
    if (gone->best.is_there && is_displaced(&gone->best, hold)) {
        gone->best = gone->second;
        gone->second = (struct latest_of){0};
    }
}

/* Those before it that exclude it are gone, or it was not granted. */
static void pass_hold(const struct check *c, struct sweep *s, const struct hold *hold)
{
    displace(&s->gone[DLOCK_MODE_EXCLUSIVE], hold);
    if (hold->mode == DLOCK_MODE_EXCLUSIVE)
        displace(&s->gone[DLOCK_MODE_SHARED], hold);
    latest_see_hold(&s->gone[hold->mode], hold, gone_ns(c, hold));
}

static void pass_holds(struct check *c, struct sweep *s, int64_t at_ns)
{
    for (; s->hold_at < c->lock.hold_count &&
           c->lock.holds[s->hold_at].granted_ns <= at_ns; s->hold_at++) {
        const struct hold *hold = &c->lock.holds[s->hold_at];

        if (hold->flaws & FLAW_NOBODY)
            continue;
        ghosts_pass_hold(c, &s->ghosts, hold);
        pass_hold(c, s, hold);
    }
}

/* If nodes vote: does an acquire of another owner, which excludes the call, last until from_ns? */
static enum check_order may_be_asked(const struct sweep *s, const struct history_call *call,
                                     int64_t from_ns)
{
    enum check_order found = reaches(&s->acquires[DLOCK_MODE_EXCLUSIVE], call, false,
                                     from_ns);

    if (call->mode == DLOCK_MODE_EXCLUSIVE)
        found = check_later(
            found, reaches(&s->acquires[DLOCK_MODE_SHARED], call, false, from_ns));
    return found;
}

static void look_at(struct check *c, struct sweep *s, const struct refusal *refusal,
                    size_t at)
{
    const struct history_call *call = &c->h->calls[refusal->call];
    enum check_order found;

    pass_holds(c, s, call->invoke_ns);
    c->out->findings[CHECK_refusal].looked++;
    if (refusal->is_own || check_was_granted_too_late(call))
        return;
    found = check_later(may_be_held(c, s, call, refusal->from_ns),
                        may_be_asked(s, call, refusal->from_ns));
    if (found != CHECK_AFTER)
        found = check_later(found, begins_meanwhile(c, s, at));
    if (found == CHECK_BEFORE)
        ghosts_need(c, &s->ghosts, refusal);
    else if (found == CHECK_TIED && !ghosts_may_explain(c, &s->ghosts, call))
        check_tied(c, CHECK_refusal);
}

static void pass_acquire(const struct check *c, struct sweep *s,
                         const struct history_call *call)
{
    if (s->is_quorum)
        latest_see(&s->acquires[call->mode],
                   &(struct latest_of){.at_ns = check_answer_ns(c, call),
                                       .owner = call->owner,
                                       .process = call->process,
                                       .is_there = true});
}

void check_refusal(struct check *c)
{
    struct sweep s = {0};
    size_t refusal_at = 0;

    if (c->lock.caps & DLOCK_CAP_FAIR || c->lock.refusal_count == 0)
        return;
    s.is_quorum = is_quorum(c);
    ghosts_gather(c, &s.ghosts);
    gather_soonest(c);
    for (size_t i = 0; i < c->lock.call_count; i++) {
        const struct history_call *call = check_call_at(c, i);

        if (call->kind != DLOCK_EVENT_ACQUIRE || call->invoke_ns >= c->end_ns)
            continue;
        if (refusal_at < c->lock.refusal_count &&
            c->lock.refusals[refusal_at].call == c->lock.calls[i])
            look_at(c, &s, &c->lock.refusals[refusal_at++], i);
        pass_acquire(c, &s, call);
    }
    ghosts_close(c, &s.ghosts);
}

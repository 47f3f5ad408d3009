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
 *     an acquire without an answer: see below.  A wait that was refused may have had an
 *     attempt without an answer, if a fault had been made by then.
 *
 * A reader does not explain the refusal of another reader.  A fair lock also refuses
 * because of waiters, so fair locks are not judged. */
#include "loadtest/check/checks/checks.h"
#include "loadtest/check/checks/latest.h"
#include "loadtest/kit/bisect.h"

/* ---- ghosts ---- */

/* The store may have granted a ghost at any time after it was made, or never.  A granted ghost
 * lasts for one lease, or until a hold that it excludes is granted.  So a ghost explains the
 * refusals within one lease between two holds that it excludes, and no other refusals.  Only a
 * writer explains the refusal of a reader. */

/* Refusals without another explanation form a group as long as one such acquire can
 * explain all of them: until a lease is over, or a hold was granted.  Each group needs an
 * acquire of its own, which was made before the first answer of the group. */

/* The refusals since the last that was explained. */
struct ghosts_need {
    int64_t first_ns; /* the first answer among them                                */
    int64_t call;     /* the refusal with that answer; NO_CALL: there are none      */
    int64_t from_ns;  /* when the last of them began                                */
};

/* The condition that the last used ghost has to meet. */
enum ghosts_kind { GHOST_ANY, GHOST_WRITER, GHOST_READER };

/* The arrays are by the mode of the refused call: any ghost explains the refusal of a writer, and
 * the ghost of a writer explains the refusal of a reader. */
struct ghosts {
    const uint32_t *at[2];   /* positions among the lock's calls, in c->ghosts        */
    size_t count[2];
    size_t used[2];          /* the number of ghosts that have explained refusals     */
    int64_t used_ns[2];      /* the latest first_ns of the used ghosts                */
    int64_t first_ns;        /* the first answer of the last used ghost's refusals    */
    int64_t until_ns;        /* the last used ghost explains until then; -1: no more  */
    enum ghosts_kind kind;   /* the condition of the last used ghost                  */
    struct ghosts_need needs[2];
    int64_t lease_ns;        /* the longest time for which a ghost may hold           */
    int64_t end_ns;          /* no ghost holds after this instant                     */
    const struct hold *last; /* the last hold of ghosts_pass_hold()                   */
};

/* The end of the time in which the acquire can explain a refusal.  A grant that came too
 * late had arrived before its answer; a fault may let the grant last.  What belongs to a
 * session ends with that of its process. */
static int64_t end_of(const struct check *c, const struct history_call *call)
{
    const struct history_process *process = &c->h->processes[call->process];
    int64_t end_ns;

    if (check_is_open(c, call) || !check_was_granted_too_late(call)) {
        bool is_endless = check_is_answered(c, call) ||
                          (process->caps & DLOCK_CAP_EXPIRES);

        return is_endless ? HISTORY_NEVER
                          : check_plus(process->last_ns, c->linger_ns[call->process]);
    }
    end_ns = check_lasting_ns(call);
    return check_plus(end_ns, c->options->slack_ns) < c->first_fault_ns ? end_ns
                                                                       : HISTORY_NEVER;
}

static void note(const struct check *c, struct ghosts *g, const struct history_call *call)
{
    const struct history_process *process = &c->h->processes[call->process];
    int64_t lease_ns = check_lease_ns(c, call);

    if (!(process->caps & DLOCK_CAP_EXPIRES) || lease_ns == 0)
        lease_ns = HISTORY_NEVER;
    g->lease_ns = greatest(g->lease_ns, lease_ns);
    g->end_ns = greatest(g->end_ns, end_of(c, call));
}

/* Find the ghosts of c->lock.  The arrays are valid until the next lock is judged. */
static void ghosts_gather(struct check *c, struct ghosts *g)
{
    size_t count = c->lock.call_count;
    uint32_t *all, *writers;

    *g = (struct ghosts){.until_ns = -1,
                         .needs = {{.call = NO_CALL}, {.call = NO_CALL}}};
    check_need_ghosts(c, 2 * count);
    all = c->ghosts;
    writers = c->ghosts + count;
    for (size_t at = 0; at < count; at++) {
        const struct history_call *call = check_call_at(c, at);

        if (!check_is_ghost(c, call))
            continue;
        all[g->count[DLOCK_MODE_EXCLUSIVE]++] = (uint32_t)at;
        if (call->mode == DLOCK_MODE_EXCLUSIVE)
            writers[g->count[DLOCK_MODE_SHARED]++] = (uint32_t)at;
        note(c, g, call);
    }
    g->at[DLOCK_MODE_EXCLUSIVE] = all;
    g->at[DLOCK_MODE_SHARED] = writers;
    g->lease_ns = check_plus(g->lease_ns, c->options->slack_ns);
    g->end_ns = check_plus(g->end_ns, c->options->slack_ns);
}

/* The number of ghosts that exclude the mode and were made before then. */
static size_t count_until(const struct check *c, const struct ghosts *g, int mode,
                          int64_t until_ns)
{
    size_t count = 0;

    BISECT(count, g->count[mode], i,
           check_call_at(c, g->at[mode][i])->invoke_ns < until_ns);
    return count;
}

/* Was another ghost made at the instant at_ns?  A ghost of the same owner was made later. */
static bool has_tied(const struct check *c, const struct ghosts *g, int mode, int64_t at_ns,
                     const struct history_call *but)
{
    for (size_t i = count_until(c, g, mode, at_ns); i < g->count[mode]; i++) {
        const struct history_call *call = check_call_at(c, g->at[mode][i]);

        if (check_order(call->invoke_ns, at_ns) != CHECK_TIED)
            return false;
        if (call->process != but->process || call->owner != but->owner)
            return true;
    }
    return false;
}

/* Was a ghost made before first_ns that has explained no refusal yet?  If a ghost was used for
 * later refusals, the ghost may have been made later, too. */
static bool has_more(const struct check *c, const struct ghosts *g, int mode,
                     int64_t first_ns)
{
    return count_until(c, g, mode, first_ns) >
           (g->used_ns[mode] <= first_ns ? g->used[mode] : 0);
}

/* Is there an unused ghost for refusals of that mode, the first answered at first_ns?  A
 * writer that explained a reader's refusal explains no other writer's. */
static bool is_another(const struct check *c, const struct ghosts *g, int mode,
                       int64_t first_ns)
{
    return has_more(c, g, DLOCK_MODE_EXCLUSIVE, first_ns) &&
           (mode == DLOCK_MODE_EXCLUSIVE || has_more(c, g, DLOCK_MODE_SHARED, first_ns));
}

/* Can a ghost that has explained no refusal yet explain this one? */
static bool ghosts_may_explain(const struct check *c, const struct ghosts *g,
                               const struct history_call *call)
{
    return call->invoke_ns <= g->end_ns && is_another(c, g, call->mode, call->answer_ns);
}

/* Use one more ghost, for refusals of that mode. */
static void use(struct ghosts *g, int mode, int64_t first_ns)
{
    g->first_ns = first_ns;
    g->until_ns = check_plus(first_ns, g->lease_ns);
    g->kind = mode == DLOCK_MODE_SHARED ? GHOST_WRITER : GHOST_ANY;
    for (int of = DLOCK_MODE_EXCLUSIVE; of <= mode; of++) {
        g->used[of]++;
        g->used_ns[of] = greatest(g->used_ns[of], first_ns);
    }
}

/* Must the last used ghost be a writer's, or can it be a writer's? */
static bool is_writer(const struct check *c, struct ghosts *g)
{
    if (g->kind == GHOST_ANY && has_more(c, g, DLOCK_MODE_SHARED, g->first_ns)) {
        g->used[DLOCK_MODE_SHARED]++;
        g->kind = GHOST_WRITER;
    }
    return g->kind == GHOST_WRITER;
}

/* Does the last used ghost explain refusals of that mode from from_ns on? */
static bool is_explained(const struct check *c, struct ghosts *g, int mode, int64_t from_ns)
{
    return from_ns <= g->until_ns && (mode == DLOCK_MODE_EXCLUSIVE || is_writer(c, g));
}

/* The assumption that gave way, or DLOCK_ASSUMES_LOCK. */
static int explain(struct check *c, const struct hold *last,
                   const struct history_call *call)
{
    int found = check_explain(c, last, last != NULL ? last->invoke_ns : 0,
                              call->answer_ns, true);

    if (found == DLOCK_ASSUMES_LOCK && check_may_be_back(c, call->invoke_ns))
        return DLOCK_ASSUMES_STORE;
    return found;
}

static void settle(struct check *c, struct ghosts *g, int mode)
{
    struct ghosts_need need = g->needs[mode];
    const struct history_call *call;

    g->needs[mode].call = NO_CALL;
    if (need.call == NO_CALL || is_explained(c, g, mode, need.from_ns))
        return;
    call = &c->h->calls[need.call];
    if (is_another(c, g, mode, need.first_ns) && call->invoke_ns <= g->end_ns)
        use(g, mode, need.first_ns);
    else if (has_tied(c, g, mode, need.first_ns, call))
        check_tied(c, CHECK_refusal);
    else
        check_violation(c, CHECK_refusal, explain(c, g->last, call), need.call,
                        g->last != NULL ? g->last->call : NO_CALL,
                        call->invoke_ns, call->answer_ns,
                        "refused although nobody can have held it");
}

/* Report the refusals that no ghost explains. */
static void ghosts_close(struct check *c, struct ghosts *g)
{
    struct ghosts_need *of_readers = &g->needs[DLOCK_MODE_SHARED];
    struct ghosts_need *of_writers = &g->needs[DLOCK_MODE_EXCLUSIVE];
    struct ghosts_need both = *of_readers;

    if (of_readers->call != NO_CALL && of_writers->call != NO_CALL) {
        if (of_writers->first_ns < both.first_ns)
            both = *of_writers;
        both.from_ns = greatest(both.from_ns, of_readers->from_ns);
        if (both.from_ns <= check_plus(both.first_ns, g->lease_ns) &&
            is_another(c, g, DLOCK_MODE_SHARED, both.first_ns)) {
            *of_readers = both;
            of_writers->call = NO_CALL;
        }
    }
    settle(c, g, DLOCK_MODE_EXCLUSIVE);
    settle(c, g, DLOCK_MODE_SHARED);
}

/* Note that only a ghost can explain the refusal.  To be called in the order of
 * c->lock.refusals. */
static void ghosts_need(struct check *c, struct ghosts *g, const struct refusal *refusal)
{
    const struct history_call *call = &c->h->calls[refusal->call];
    struct ghosts_need *need = &g->needs[call->mode];

    if (need->call != NO_CALL && refusal->from_ns > check_plus(need->first_ns, g->lease_ns))
        settle(c, g, call->mode);
    if (need->call == NO_CALL && is_explained(c, g, call->mode, refusal->from_ns))
        return;
    if (need->call == NO_CALL)
        *need = (struct ghosts_need){call->answer_ns, refusal->call, refusal->from_ns};
    if (call->answer_ns < need->first_ns) {
        need->first_ns = call->answer_ns;
        need->call = refusal->call;
    }
    need->from_ns = greatest(need->from_ns, refusal->from_ns);
}

/* Note that the next hold was granted, which ends the ghosts that it excludes. */
static void ghosts_pass_hold(struct check *c, struct ghosts *g, const struct hold *hold)
{
    ghosts_close(c, g);
    g->last = hold;
    if (hold->mode == DLOCK_MODE_EXCLUSIVE || g->kind == GHOST_WRITER ||
        count_until(c, g, DLOCK_MODE_EXCLUSIVE, g->first_ns) ==
            count_until(c, g, DLOCK_MODE_SHARED, g->first_ns))
        g->until_ns = -1;
    g->kind = GHOST_READER; /* which may still be there beside another reader */
}

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

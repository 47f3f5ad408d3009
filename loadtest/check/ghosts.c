/* SPDX-License-Identifier: MIT */
/* ghosts.c -- the refusals that acquires without an answer explain.
 *
 * Refusals without another explanation form a group as long as one such acquire can
 * explain all of them: until a lease is over, or a hold was granted.  Each group needs an
 * acquire of its own, which was made before the first answer of the group. */
#include "loadtest/check/ghosts.h"

#include "loadtest/kit/bisect.h"

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

void ghosts_gather(struct check *c, struct ghosts *g)
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

bool ghosts_may_explain(const struct check *c, const struct ghosts *g,
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

void ghosts_close(struct check *c, struct ghosts *g)
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

void ghosts_need(struct check *c, struct ghosts *g, const struct refusal *refusal)
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

void ghosts_pass_hold(struct check *c, struct ghosts *g, const struct hold *hold)
{
    ghosts_close(c, g);
    g->last = hold;
    if (hold->mode == DLOCK_MODE_EXCLUSIVE || g->kind == GHOST_WRITER ||
        count_until(c, g, DLOCK_MODE_EXCLUSIVE, g->first_ns) ==
            count_until(c, g, DLOCK_MODE_SHARED, g->first_ns))
        g->until_ns = -1;
    g->kind = GHOST_READER; /* which may still be there beside another reader */
}

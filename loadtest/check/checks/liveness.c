/* SPDX-License-Identifier: MIT */
/* liveness.c -- after the last fault no waiter stays outside a free lock.
 *
 * A lock is certainly free when no hold, and no acquire without an answer, can still be
 * in the store: after the answer to the release, or when the lease, or the session of a dead
 * process, and some slack are over.  From then on a waiter may take up to
 * options->patience_ns to find out.  An acquire that does not wait is refused at one instant
 * between its call and its answer, so only the time before the call counts. */
#include "loadtest/check/checks/checks.h"
#include "loadtest/kit/bisect.h"

enum { FAIR_PLACE_LEASES = 2 }; /* a place in a queue may outlast the waiter that asked
                                 * for it */

static int64_t end_of_hold(const struct check *c, const struct hold *hold)
{
    const struct history_process *process = &c->h->processes[hold->process];
    int64_t more_ns = c->options->slack_ns + c->linger_ns[hold->process];

    if (hold->gone_ns != HISTORY_NEVER)
        return hold->gone_ns;
    if (!(process->caps & DLOCK_CAP_EXPIRES))
        return check_plus(greatest(process->last_ns, hold->kept_ns), more_ns);
    return check_plus(hold->lasting_ns, more_ns);
}

/* From when on may a call that was not granted have left something in the store?  A grant that
 * came too late was that of its last request. */
static int64_t begin_of_call(const struct check *c, const struct history_call *call)
{
    bool is_placed = c->h->processes[call->process].caps & DLOCK_CAP_FAIR;

    return is_placed || check_is_open(c, call) ? call->invoke_ns : check_sent_ns(call);
}

/* And until when?  0: it left nothing. */
static int64_t end_of_call(const struct check *c, const struct history_call *call)
{
    int64_t end_ns = check_answer_ns(c, call), lease_ns = check_lease_ns(c, call);
    int64_t more_ns = c->options->slack_ns + c->linger_ns[call->process];

    if (c->h->processes[call->process].caps & DLOCK_CAP_FAIR)
        return check_plus(end_ns, FAIR_PLACE_LEASES * lease_ns + more_ns);
    if (check_is_open(c, call))
        return check_plus(end_ns, lease_ns + more_ns);
    if (check_was_granted_too_late(call))
        return check_plus(check_lasting_ns(call), more_ns);
    return 0;
}

static int compare_pairs(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return COMPARE(*a, *b);
}

/* Join two pairs if the time between them is too short for a violation.  Answers the number of
 * pairs that are left, which is then small. */
static size_t merge(struct check *c, size_t count)
{
    size_t last = 0;

    if (count == 0)
        return 0;
    for (size_t i = 1; i < count; i++) {
        int64_t *end_ns = &c->times[2 * last + 1];

        if (c->times[2 * i] <= check_plus(*end_ns, c->options->patience_ns)) {
            *end_ns = greatest(*end_ns, c->times[2 * i + 1]);
        } else {
            last++;
            c->times[2 * last] = c->times[2 * i];
            c->times[2 * last + 1] = greatest(c->times[2 * i + 1], *end_ns);
        }
    }
    return last + 1;
}

/* Fill c->times with pairs of times between which an owner may have held the
 * lock.  Answers the number of pairs. */
static size_t gather(struct check *c)
{
    size_t count = 0;

    check_need_times(c, 2 * (c->lock.hold_count + c->lock.call_count + 1));
    for (size_t i = 0; i < c->lock.hold_count; i++) {
        const struct hold *hold = &c->lock.holds[i];
        const struct history_call *call = &c->h->calls[hold->call];

        if (hold->flaws & FLAW_NOBODY)
            continue;
        c->times[2 * count] = call->sent_ns > 0 ? call->sent_ns : hold->granted_ns;
        c->times[2 * count++ + 1] = end_of_hold(c, hold);
    }
    for (size_t i = 0; i < c->lock.call_count; i++) {
        const struct history_call *call = check_call_at(c, i);

        if (call->kind != DLOCK_EVENT_ACQUIRE || check_is_ok(c, call) ||
            end_of_call(c, call) == 0)
            continue;
        c->times[2 * count] = begin_of_call(c, call);
        c->times[2 * count++ + 1] = end_of_call(c, call);
    }
    if (count > 0)
        qsort(c->times, count, 2 * sizeof(*c->times), compare_pairs);
    return merge(c, count);
}

/* The longest time between the two in which certainly no owner held the lock. */
static int64_t longest_free(const struct check *c, size_t count, int64_t from_ns,
                            int64_t to_ns)
{
    size_t at = 0; /* the first pair that begins after from_ns */
    int64_t longest_ns = 0, free_ns = from_ns;

    BISECT(at, count, i, c->times[2 * i] <= from_ns);
    if (at > 0)
        free_ns = greatest(from_ns, c->times[2 * at - 1]);
    for (; at < count && c->times[2 * at] < to_ns; at++) {
        longest_ns = greatest(longest_ns, c->times[2 * at] - free_ns);
        free_ns = greatest(free_ns, c->times[2 * at + 1]);
    }
    return free_ns < to_ns ? greatest(longest_ns, to_ns - free_ns) : longest_ns;
}

/* For how long had certainly no owner held the lock at from_ns?  Time before calm_ns does not
 * count.  0: an owner may have held it at some instant between from_ns and to_ns, or neither a
 * hold nor a fault came before. */
static int64_t free_before(const struct check *c, size_t count, int64_t from_ns,
                           int64_t to_ns, int64_t calm_ns)
{
    size_t at = 0; /* the first pair that begins after to_ns */

    BISECT(at, count, i, c->times[2 * i] <= to_ns);
    if (at > 0)
        calm_ns = greatest(calm_ns, c->times[2 * at - 1]);
    return calm_ns > 0 ? greatest(from_ns - calm_ns, 0) : 0;
}

static void look_at(struct check *c, const struct history_call *call, size_t count,
                    int64_t calm_ns)
{
    bool waits = call->wait_ns != 0;
    bool is_refused = check_is_answered(c, call) && (call->status == DLOCK_BUSY ||
                                                     call->status == DLOCK_TIMEOUT);
    bool is_granted = check_is_ok(c, call) ||
                      (is_refused && check_was_granted_too_late(call));
    int64_t from_ns = greatest(call->invoke_ns, calm_ns);
    int64_t to_ns = check_answer_ns(c, call);
    int64_t free_ns;

    if (is_granted && call->sent_ns > 0)
        to_ns = call->sent_ns;
    if (to_ns <= from_ns || (!waits && (is_granted || !is_refused)))
        return;
    c->out->findings[CHECK_liveness].looked++;
    free_ns = waits ? longest_free(c, count, from_ns, to_ns)
                    : free_before(c, count, call->invoke_ns, to_ns, calm_ns);
    if (free_ns > c->options->patience_ns)
        check_violation(c, CHECK_liveness, DLOCK_ASSUMES_NONE, call - c->h->calls,
                        NO_CALL, from_ns, to_ns,
                        "kept outside for %.3f ms while nobody can have held it",
                        (double)free_ns / 1e6);
}

void check_liveness(struct check *c)
{
    int64_t calm_ns = c->last_fault_ns;
    bool has_spoken = calm_ns == 0;
    size_t count;

    if (has_spoken && !c->lock.has_waits && c->lock.refusal_count == 0)
        return; /* nobody was kept outside */
    count = gather(c);

    for (size_t i = 0; i < c->lock.call_count; i++) {
        const struct history_call *call = check_call_at(c, i);

        if (call->kind != DLOCK_EVENT_ACQUIRE || call->invoke_ns >= c->end_ns)
            continue;
        has_spoken = has_spoken || (check_is_answered(c, call) &&
                                    call->answer_ns > calm_ns);
        look_at(c, call, count, calm_ns);
    }
    if (!has_spoken)
        c->out->findings[CHECK_liveness].why_unknown =
            "nobody asked for a lock after the last fault";
}

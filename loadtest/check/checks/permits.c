/* SPDX-License-Identifier: MIT */
/* permits.c -- semaphores, and permits that end.
 *
 * The permits that were certainly taken at an instant are never more than there can have
 * been.  A taking counts from its answer on; a giving back, and the making of permits,
 * count from the call on.  No more permits are given back than may have been taken.
 * permits.h judges the refusals and the ends of permits. */
#include <inttypes.h>
#include <stdlib.h>

#include "loadtest/check/permits.h"
#include "loadtest/kit/memory.h"

/* Of the permits that were added at the instant of the step: the number that the owner of the step
 * added by earlier calls, and by later calls.  The calls of one owner have an order also at one
 * instant. */
static void count_own(const struct check *c, const struct permits_steps *s, size_t at,
                      int64_t *earlier, int64_t *later)
{
    const struct history_call *owner = &c->h->calls[s->steps[at].call];

    *earlier = *later = 0;
    for (size_t i = at; i > 0 && s->steps[i - 1].at_ns == s->steps[at].at_ns; i--) {
        const struct permits_step *step = &s->steps[i - 1];
        const struct history_call *call = &c->h->calls[step->call];

        if (step->delta >= 0 || step->is_end || call->process != owner->process ||
            call->owner != owner->owner)
            continue;
        if (check_order_calls(owner, call) == CHECK_BEFORE)
            *later -= step->delta;
        else
            *earlier -= step->delta;
    }
}

/* Walk through the steps: the permits that are needed are never more than those that were
 * added. */
static void walk(struct check *c, struct permits_steps *s, const char *what)
{
    int64_t sum = 0, allowed_now = 0, last = NO_CALL, now_ns = -1;

    permits_sort(s);
    for (size_t i = 0; i < s->count; i++) {
        const struct permits_step *step = &s->steps[i];
        const struct history_call *call = &c->h->calls[step->call];
        int64_t earlier = 0, later = 0;

        if (check_order(now_ns, step->at_ns) != CHECK_TIED)
            allowed_now = 0;
        now_ns = step->at_ns;
        sum += step->delta;
        if (step->delta <= 0) {
            allowed_now -= step->is_end ? 0 : step->delta;
            continue;
        }
        if (sum + allowed_now > 0)
            count_own(c, s, i, &earlier, &later);
        if (sum + later > 0)
            check_violation(c, CHECK_permits, DLOCK_ASSUMES_LOCK, last, step->call,
                            last != NO_CALL ? c->h->calls[last].invoke_ns
                                            : call->invoke_ns,
                            step->at_ns, "%" PRId64 " %s",
                            sum > 0 ? sum : (int64_t)1, what);
        else if (sum + allowed_now - earlier > 0)
            check_tied(c, CHECK_permits);
        last = step->call;
    }
}

/* ---- never more than there are ---- */

static void add_semaphore(struct check *c, struct permits_steps *s, int64_t index)
{
    const struct history_call *call = &c->h->calls[index];
    int64_t count = (int64_t)(call->fence & INT32_MAX);

    switch (call->kind) {
    case DLOCK_EVENT_SEM_SET:
    case DLOCK_EVENT_SEM_ADD:
    case DLOCK_EVENT_SEM_GIVE:
        if (check_may_be_done(c, call))
            permits_add_step(s, call->invoke_ns, -count, index, false);
        break;
    case DLOCK_EVENT_SEM_TAKE:
    case DLOCK_EVENT_SEM_DRAIN:
        if (check_is_ok(c, call))
            permits_add_step(s, call->answer_ns, count, index, false);
        break;
    default:
        break;
    }
}

/* Whether the semaphore was made in this run; otherwise its number of permits is unknown.
 */
static bool is_made(const struct check *c)
{
    for (size_t i = 0; i < c->lock.call_count; i++) {
        const struct history_call *call = check_call_at(c, i);

        if (call->kind == DLOCK_EVENT_SEM_SET && check_may_be_done(c, call))
            return true;
    }
    return false;
}

/* Whether any call on these permits succeeded. */
static bool is_granted(const struct check *c)
{
    for (size_t i = 0; i < c->lock.call_count; i++)
        if (check_is_ok(c, check_call_at(c, i)))
            return true;
    return false;
}

static void look_at_count(struct check *c)
{
    struct permits_steps steps = {0};

    for (size_t i = 0; i < c->lock.call_count; i++)
        add_semaphore(c, &steps, c->lock.calls[i]);
    permits_add_holders(c, &steps);
    if (is_made(c))
        walk(c, &steps, "more were held than there are");
    else if (is_granted(c))
        c->out->findings[CHECK_permits].why_unknown =
            "how many permits there are was set before this run";
    free(steps.steps);
}

/* ---- no more is given back than was taken ---- */

static void look_at_giving(struct check *c)
{
    struct permits_steps steps = {0};

    for (size_t i = 0; i < c->lock.call_count; i++) {
        uint32_t index = c->lock.calls[i];
        const struct history_call *call = &c->h->calls[index];
        int64_t count = (int64_t)(call->fence & INT32_MAX);

        if (call->kind == DLOCK_EVENT_SEM_GIVE && check_is_ok(c, call))
            permits_add_step(&steps, call->answer_ns, count, index, false);
        else if (call->kind == DLOCK_EVENT_SEM_TAKE && check_may_be_done(c, call))
            permits_add_step(&steps, call->invoke_ns, -count, index, false);
        else if (call->kind == DLOCK_EVENT_SEM_DRAIN && check_may_be_done(c, call))
            permits_add_step(&steps, call->invoke_ns,
                             check_is_ok(c, call) ? -count : -(int64_t)INT32_MAX, index,
                             false);
    }
    walk(c, &steps, "more were given back than had been taken");
    free(steps.steps);
}

void check_permits(struct check *c)
{
    c->out->findings[CHECK_permits].looked += (int64_t)c->lock.call_count;
    look_at_count(c);
    look_at_giving(c);
    permits_look_at_refusals(c);
    permits_look_at_ids(c);
}

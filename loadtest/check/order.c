/* SPDX-License-Identifier: MIT */
/* order.c -- sorts calls, marks and holds by lock, since the checker judges one lock
 * after another. */
#include <assert.h>
#include <stdlib.h>

#include "loadtest/check/checks/checks.h"
#include "loadtest/kit/bisect.h"
#include "loadtest/kit/memory.h"

enum check_order check_order(int64_t a_ns, int64_t b_ns)
{
    if (a_ns == b_ns)
        return CHECK_TIED;
    return a_ns < b_ns ? CHECK_BEFORE : CHECK_AFTER;
}

/* Two holds of one lock. */
static int by_grant(const void *left, const void *right)
{
    const struct hold *a = left, *b = right;
    int order = COMPARE(a->granted_ns, b->granted_ns);

    order = order != 0 ? order : COMPARE(a->kept_ns, b->kept_ns);
    return order != 0 ? order : COMPARE(a->call, b->call);
}

static int by_asking(const void *left, const void *right)
{
    const struct refusal *a = left, *b = right;
    int order = COMPARE(a->name, b->name);

    return order != 0 ? order : COMPARE(a->call, b->call);
}

void check_need_times(struct check *c, size_t count)
{
    MEMORY_ROOM(c->times, 0, count, c->time_room);
}

void check_need_ghosts(struct check *c, size_t count)
{
    MEMORY_ROOM(c->ghosts, 0, count, c->ghost_room);
}

int64_t check_plus(int64_t at_ns, int64_t more_ns)
{
    return at_ns > HISTORY_NEVER - more_ns ? HISTORY_NEVER : at_ns + more_ns;
}

/* The calls were put together name by name, and in the order in which they were made. */
void check_sort_holds(struct check *c)
{
    size_t end;

    for (size_t at = 0; at < c->hold_count; at = end) {
        for (end = at + 1;
             end < c->hold_count && c->holds[end].name == c->holds[at].name; end++) {
        }
        qsort(&c->holds[at], end - at, sizeof(*c->holds), by_grant);
    }
    if (c->refusal_count > 1)
        qsort(c->refusals, c->refusal_count, sizeof(*c->refusals), by_asking);
}

/* The numbers before it are of locks that nobody called. */
static void find_marks(struct check *c, struct lock_cursor *at)
{
    const struct history_mark *marks = c->h->marks;

    while (at->mark_at < c->mark_count &&
           marks[c->marks[at->mark_at]].name < c->lock.name)
        at->mark_at++;
    c->lock.marks = c->mark_count > 0 ? c->marks + at->mark_at : NULL;
    for (; at->mark_at < c->mark_count &&
           marks[c->marks[at->mark_at]].name == c->lock.name; at->mark_at++)
        c->lock.mark_count++;
}

static void find_holds(struct check *c, struct lock_cursor *at)
{
    struct lock_view *lock = &c->lock;

    for (; at->hold_at < c->hold_count && c->holds[at->hold_at].name == lock->name;
         at->hold_at++) {
        const struct hold *hold = &c->holds[at->hold_at];

        lock->hold_count++;
        lock->flaws |= hold->flaws;
        lock->has_losses = lock->has_losses || hold->lost_ns != HISTORY_NEVER;
        lock->granted_count += !(hold->flaws & FLAW_NOBODY);
    }
}

/* The takings that semaphores, permits and latches granted. */
static bool is_other_hold(const struct check *c, const struct history_call *call)
{
    return (call->kind == DLOCK_EVENT_SEM_TAKE || call->kind == DLOCK_EVENT_PERMIT_TAKE ||
            call->kind == DLOCK_EVENT_LATCH_WAIT) && check_is_ok(c, call);
}

bool check_next_lock(struct check *c, struct lock_cursor *at)
{
    const struct history_call *calls = c->h->calls;
    struct lock_view *lock = &c->lock;

    assert(c->hold_count == 0 || c->holds != NULL);
    assert(c->refusal_count == 0 || c->refusals != NULL);
    if (at->call_at == c->h->call_count)
        return false;
    *lock = (struct lock_view){
        .name = calls[c->by_name[at->call_at]].name,
        .caps = UINT32_MAX,
        .only = -1,
        .holds = c->holds != NULL ? c->holds + at->hold_at : NULL,
        .refusals = c->refusals != NULL ? c->refusals + at->refusal_at : NULL,
        .calls = c->by_name + at->call_at};
    lock->is_confused = c->is_confused[lock->name];
    for (; at->call_at < c->h->call_count &&
           calls[c->by_name[at->call_at]].name == lock->name; at->call_at++) {
        const struct history_call *call = &calls[c->by_name[at->call_at]];

        if (at->call_at + CHECK_CALLS_AHEAD < c->h->call_count)
            check_fetch_call(&calls[c->by_name[at->call_at + CHECK_CALLS_AHEAD]]);
        lock->call_count++;
        lock->caps &= c->h->processes[call->process].caps;
        if (call->kind >= DLOCK_EVENT_SEM_SET)
            lock->only = call->kind >= DLOCK_EVENT_LATCH_SET ? CHECK_latch : CHECK_permits;
        lock->has_shared = lock->has_shared || call->mode == DLOCK_MODE_SHARED;
        lock->has_waits = lock->has_waits || (call->kind == DLOCK_EVENT_ACQUIRE &&
                                              call->wait_ns != 0);
        lock->release_count += call->kind == DLOCK_EVENT_RELEASE;
        lock->open_count += check_is_open(c, call);
        lock->granted_count += is_other_hold(c, call);
    }
    find_holds(c, at);
    for (; at->refusal_at < c->refusal_count &&
           c->refusals[at->refusal_at].name == lock->name; at->refusal_at++)
        lock->refusal_count++;
    find_marks(c, at);
    return true;
}

size_t check_granted_before(const struct check *c, int64_t at_ns)
{
    size_t at = 0;

    BISECT(at, c->lock.hold_count, i, c->lock.holds[i].granted_ns < at_ns);
    return at;
}

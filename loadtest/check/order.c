/* SPDX-License-Identifier: MIT */
/* order.c -- the orders in which the checker looks at things: calls by owner, to
 * put holds together; everything by lock, to judge it. */
#include <assert.h>
#include <stdlib.h>

#include "loadtest/check/checks/checks.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/radix.h"

const char check_tie[] = "it depends on which of two events of one instant came first";

enum check_order check_order(int64_t a_ns, int64_t b_ns)
{
    if (a_ns == b_ns)
        return CHECK_TIED;
    return a_ns < b_ns ? CHECK_BEFORE : CHECK_AFTER;
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_grant(const void *left, const void *right)
{
    const struct hold *a = left, *b = right;
    int order = compare_u64(a->name, b->name);

    if (order == 0)
        order = (a->granted_ns > b->granted_ns) - (a->granted_ns < b->granted_ns);
    if (order == 0)
        order = (a->kept_ns > b->kept_ns) - (a->kept_ns < b->kept_ns);
    return order != 0 ? order : (a->call > b->call) - (a->call < b->call);
}

static int by_asking(const void *left, const void *right)
{
    const struct refusal *a = left, *b = right;
    int order = compare_u64(a->name, b->name);

    return order != 0 ? order : (a->call > b->call) - (a->call < b->call);
}

void check_need_times(struct check *c, size_t count)
{
    if (count > c->time_room) {
        c->time_room = count * 2;
        c->times = memory_need(realloc(c->times, c->time_room * sizeof(*c->times)));
    }
}

void check_need_ghosts(struct check *c, size_t count)
{
    if (count > c->ghost_room) {
        c->ghost_room = count * 2;
        c->ghosts = memory_need(realloc(c->ghosts, c->ghost_room * sizeof(*c->ghosts)));
    }
}

int64_t check_plus(int64_t at_ns, int64_t more_ns)
{
    return at_ns > HISTORY_NEVER - more_ns ? HISTORY_NEVER : at_ns + more_ns;
}

/* What calls are sorted by. */
struct keys {
    uint64_t *modes, *owners, *places; /* a place: the name, and the process */
};

/* All in one pass, in the order of the array: reading a million calls takes longer than
 * sorting their keys. */
static struct keys keys_of(const struct history *h)
{
    size_t count = h->call_count;
    uint64_t *all = memory_grow(NULL, 0, (3 * count + 1) * sizeof(*all));
    struct keys keys = {all, all + count, all + 2 * count};

    for (size_t i = 0; i < count; i++) {
        keys.modes[i] = h->calls[i].mode;
        keys.owners[i] = h->calls[i].owner;
        keys.places[i] = (uint64_t)h->calls[i].name << 32 | h->calls[i].process;
    }
    return keys;
}

void check_sort_calls(struct check *c)
{
    size_t count = c->h->call_count;
    struct keys keys = keys_of(c->h);
    uint32_t *spare = memory_grow(NULL, 0, (count + 1) * sizeof(*spare));

    if (count > c->call_room) {
        c->call_room = count * 2;
        c->by_name = memory_grow(c->by_name, 0, c->call_room * sizeof(uint32_t));
        c->by_owner = memory_grow(c->by_owner, 0, c->call_room * sizeof(uint32_t));
    }
    for (uint32_t i = 0; i < count; i++)
        c->by_name[i] = c->by_owner[i] = i;
    radix_sort(c->by_owner, spare, count, keys.modes);
    radix_sort(c->by_owner, spare, count, keys.owners);
    radix_sort(c->by_owner, spare, count, keys.places);
    for (size_t i = 0; i < count; i++)
        keys.places[i] >>= 32;
    radix_sort(c->by_name, spare, count, keys.places);
    free(keys.modes);
    free(spare);
}

static bool are_holds_sorted(const struct check *c)
{
    for (size_t i = 1; i < c->hold_count; i++)
        if (by_grant(&c->holds[i - 1], &c->holds[i]) > 0)
            return false;
    return true;
}

/* Holds of one instant are rare, so only then is anything compared. */
static void sort_holds(struct check *c)
{
    size_t count = c->hold_count;
    uint64_t *keys = memory_grow(NULL, 0, count * sizeof(*keys));
    uint32_t *order = radix_order(count);

    for (size_t i = 0; i < count; i++)
        keys[i] = radix_key(c->holds[i].granted_ns);
    radix_sort(order, order + count, count, keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = c->holds[i].name;
    radix_sort(order, order + count, count, keys);
    free(keys);
    radix_arrange(c->holds, sizeof(*c->holds), count, order);
    free(order);
    if (!are_holds_sorted(c))
        qsort(c->holds, count, sizeof(*c->holds), by_grant);
}

void check_sort_holds(struct check *c)
{
    if (!are_holds_sorted(c))
        sort_holds(c);
    if (c->refusal_count > 1)
        qsort(c->refusals, c->refusal_count, sizeof(*c->refusals), by_asking);
}

/* Those before it are of locks that nobody called. */
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

        lock->call_count++;
        lock->caps &= c->h->processes[call->process].caps;
        if (call->kind >= DLOCK_EVENT_SEM_SET)
            lock->only = call->kind >= DLOCK_EVENT_LATCH_SET ? CHECK_latch : CHECK_permits;
        lock->has_shared = lock->has_shared || call->mode == DLOCK_MODE_SHARED;
        lock->has_waits = lock->has_waits || (call->kind == DLOCK_EVENT_ACQUIRE &&
                                              call->wait_ns != 0);
        lock->release_count += call->kind == DLOCK_EVENT_RELEASE;
    }
    for (; at->hold_at < c->hold_count && c->holds[at->hold_at].name == lock->name;
         at->hold_at++)
        lock->hold_count++;
    for (; at->refusal_at < c->refusal_count &&
           c->refusals[at->refusal_at].name == lock->name; at->refusal_at++)
        lock->refusal_count++;
    find_marks(c, at);
    return true;
}

size_t check_granted_before(const struct check *c, int64_t at_ns)
{
    size_t low = 0, high = c->lock.hold_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (c->lock.holds[middle].granted_ns < at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

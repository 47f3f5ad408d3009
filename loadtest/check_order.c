/* SPDX-License-Identifier: MIT */
/* check_order.c -- the orders in which the checker looks at things: calls by owner, to
 * put holds together; everything by lock, to judge it. */
#include <assert.h>
#include <stdlib.h>

#include "loadtest/checks/checks.h"

static _Thread_local const struct history_call *sorting;

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_name(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = compare_u64(sorting[a].name, sorting[b].name);

    return order != 0 ? order : compare_u64(a, b);
}

static int by_owner(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct history_call *x = &sorting[a], *y = &sorting[b];
    int order = compare_u64(x->name, y->name);

    if (order == 0)
        order = compare_u64(x->process, y->process);
    if (order == 0)
        order = compare_u64(x->owner, y->owner);
    if (order == 0)
        order = (x->mode > y->mode) - (x->mode < y->mode);
    return order != 0 ? order : compare_u64(a, b);
}

static int by_grant(const void *left, const void *right)
{
    const struct hold *a = left, *b = right;
    int order = compare_u64(a->name, b->name);

    if (order == 0)
        order = (a->granted_ns > b->granted_ns) - (a->granted_ns < b->granted_ns);
    if (order == 0)
        order = (a->kept_ns > b->kept_ns) - (a->kept_ns < b->kept_ns);
    return order;
}

static int by_asking(const void *left, const void *right)
{
    const struct refusal *a = left, *b = right;
    int order = compare_u64(a->name, b->name);

    return order != 0 ? order : (a->call > b->call) - (a->call < b->call);
}

void *check_need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "seckill: no memory for the check\n");
        exit(70);
    }
    return memory;
}

void check_need_times(struct check *c, size_t count)
{
    if (count > c->time_room) {
        c->time_room = count * 2;
        c->times = check_need(realloc(c->times, c->time_room * sizeof(*c->times)));
    }
}

void check_sort_calls(struct check *c)
{
    size_t count = c->h->call_count;

    if (count > c->call_room) {
        c->call_room = count * 2;
        c->by_name = check_need(realloc(c->by_name, c->call_room * sizeof(uint32_t)));
        c->by_owner = check_need(realloc(c->by_owner, c->call_room * sizeof(uint32_t)));
    }
    for (uint32_t i = 0; i < count; i++)
        c->by_name[i] = c->by_owner[i] = i;
    sorting = c->h->calls;
    if (count > 1) {
        qsort(c->by_name, count, sizeof(*c->by_name), by_name);
        qsort(c->by_owner, count, sizeof(*c->by_owner), by_owner);
    }
}

void check_sort_holds(struct check *c)
{
    if (c->hold_count > 1)
        qsort(c->holds, c->hold_count, sizeof(*c->holds), by_grant);
    if (c->refusal_count > 1)
        qsort(c->refusals, c->refusal_count, sizeof(*c->refusals), by_asking);
}

bool check_next_lock(struct check *c, size_t *hold_at, size_t *refusal_at,
                     size_t *call_at)
{
    const struct history_call *calls = c->h->calls;
    struct lock_view *lock = &c->lock;

    assert(c->hold_count == 0 || c->holds != NULL);
    assert(c->refusal_count == 0 || c->refusals != NULL);
    if (*call_at == c->h->call_count)
        return false;
    *lock = (struct lock_view){.name = calls[c->by_name[*call_at]].name,
                               .caps = UINT32_MAX,
                               .holds = c->holds != NULL ? c->holds + *hold_at : NULL,
                               .refusals = c->refusals != NULL
                                               ? c->refusals + *refusal_at : NULL,
                               .calls = c->by_name + *call_at};
    for (; *call_at < c->h->call_count &&
           calls[c->by_name[*call_at]].name == lock->name; ++*call_at) {
        const struct history_call *call = &calls[c->by_name[*call_at]];

        lock->call_count++;
        lock->caps &= c->h->processes[call->process].caps;
        lock->has_shared = lock->has_shared || call->mode == DLOCK_MODE_SHARED;
    }
    for (; *hold_at < c->hold_count && c->holds[*hold_at].name == lock->name;
         ++*hold_at)
        lock->hold_count++;
    for (; *refusal_at < c->refusal_count &&
           c->refusals[*refusal_at].name == lock->name; ++*refusal_at)
        lock->refusal_count++;
    return true;
}

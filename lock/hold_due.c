/* SPDX-License-Identifier: MIT */
/* hold_due.c -- the times at which the watchdog has to look at the roots of a shard: one
 * heap for the ends of leases, and one for renewals.
 *
 * A root has its place in a heap as long as it has a time there, so the watchdog finds
 * what is due without reading the rest of the table. */
#include <stdlib.h>

#include "lock/hold_slots.h"

static void due_put(struct dlock_due_heap *heap, size_t place, struct dlock_due *due)
{
    heap->at[place - 1] = due;
    due->place = place;
}

static void due_rise(struct dlock_due_heap *heap, struct dlock_due *due)
{
    size_t place = due->place;

    for (; place > 1 && heap->at[place / 2 - 1]->at_ns > due->at_ns; place /= 2)
        due_put(heap, place, heap->at[place / 2 - 1]);
    due_put(heap, place, due);
}

static void due_sink(struct dlock_due_heap *heap, struct dlock_due *due)
{
    size_t place = due->place;

    for (size_t child = place * 2; child <= heap->count; child = place * 2) {
        if (child < heap->count && heap->at[child]->at_ns < heap->at[child - 1]->at_ns)
            child++;
        if (heap->at[child - 1]->at_ns >= due->at_ns)
            break;
        due_put(heap, place, heap->at[child - 1]);
        place = child;
    }
    due_put(heap, place, due);
}

/* INT64_MAX: it has no time. */
static void due_set(struct dlock_due_heap *heap, struct dlock_due *due, int64_t at_ns)
{
    struct dlock_due *last;

    if (due->place == 0 ? at_ns == INT64_MAX : at_ns == due->at_ns)
        return;
    due->at_ns = at_ns;
    if (at_ns != INT64_MAX) {
        if (due->place == 0)
            due_put(heap, ++heap->count, due);
        due_rise(heap, due);
        due_sink(heap, due);
        return;
    }
    last = heap->at[--heap->count];
    if (last != due) {
        due_put(heap, due->place, last);
        due_rise(heap, last);
        due_sink(heap, last);
    }
    due->place = 0;
}

void dlock_due_settle(struct dlock_shard *shard, struct dlock_hold *root)
{
    bool is_held = root->state == DLOCK_HOLD_HELD;
    int64_t end_ns = root->state == DLOCK_HOLD_LOST && root->untold ? 0 : INT64_MAX;
    int64_t renewal_ns = INT64_MAX;

    if (is_held)
        end_ns = atomic_load(&root->deadline_ns);
    if (is_held && root->watched_count > 0 && !root->is_in_round)
        renewal_ns = root->renew_at_ns;
    due_set(&shard->due[DLOCK_DUE_END], &root->due[DLOCK_DUE_END], end_ns);
    due_set(&shard->due[DLOCK_DUE_RENEWAL], &root->due[DLOCK_DUE_RENEWAL], renewal_ns);
}

bool dlock_due_make_room(struct dlock_shard *shard, size_t slots)
{
    for (int i = 0; i < DLOCK_DUE_COUNT; i++) {
        struct dlock_due **longer =
            realloc(shard->due[i].at, slots * sizeof(struct dlock_due *));

        if (longer == NULL)
            return false;
        shard->due[i].at = longer;
    }
    return true;
}

struct dlock_hold *dlock_due_first(const struct dlock_shard *shard, enum dlock_due_kind kind)
{
    const struct dlock_due_heap *heap = &shard->due[kind];

    return heap->count == 0
               ? NULL
               : (struct dlock_hold *)(void *)((char *)(heap->at[0] - kind) -
                                               offsetof(struct dlock_hold, due));
}

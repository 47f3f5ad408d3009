/* SPDX-License-Identifier: MIT */
/* hold_slots.c -- the memory of the table of holds.
 *
 * Slots never move.  The id of a lease is a serial number in the high bits and the
 * index of its slot in the low bits.  Serials begin at a random number for each
 * system. */
#include "lock/hold_slots.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/os/random.h"

enum { FIRST_CHUNK_SLOTS = 16, SHARD_BITS = 4 };

_Static_assert(1 << SHARD_BITS == DLOCK_SHARD_COUNT, "a shard's number fits its bits");

static size_t chunk_slots(int chunk)
{
    return (size_t)FIRST_CHUNK_SLOTS << chunk;
}

struct dlock_shard *dlock_shard_of_index(const struct dlock_holds *holds,
                                         uint64_t index)
{
    return (struct dlock_shard *)&holds->shards[index & (DLOCK_SHARD_COUNT - 1)];
}

struct dlock_hold *dlock_slot_of(const struct dlock_holds *holds, uint64_t id)
{
    uint64_t index = id & ((UINT64_C(1) << DLOCK_INDEX_BITS) - 1);
    const struct dlock_shard *shard = dlock_shard_of_index(holds, index);
    uint64_t nth = (index >> SHARD_BITS) / FIRST_CHUNK_SLOTS + 1;
    int chunk = 63 - __builtin_clzll(nth);
    struct dlock_hold *slots;

    if (id == 0 || chunk >= DLOCK_CHUNK_COUNT)
        return NULL;
    slots = atomic_load_explicit(&shard->chunks[chunk], memory_order_acquire);
    if (slots == NULL)
        return NULL;
    return slots + ((index >> SHARD_BITS) - (chunk_slots(chunk) - FIRST_CHUNK_SLOTS));
}

/* With the shard's mutex held. */
static bool add_chunk(struct dlock_holds *holds, struct dlock_shard *shard)
{
    int chunk = shard->chunk_count;
    uint64_t shard_number = (uint64_t)(shard - holds->shards);
    struct dlock_hold *slots;

    if (chunk == DLOCK_CHUNK_COUNT ||
        !dlock_due_make_room(shard, chunk_slots(chunk + 1) - FIRST_CHUNK_SLOTS))
        return false;
    slots = calloc(chunk_slots(chunk), sizeof(*slots));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < chunk_slots(chunk); i++) {
        uint64_t nth = chunk_slots(chunk) - FIRST_CHUNK_SLOTS + i;

        slots[i].index = nth << SHARD_BITS | shard_number;
        slots[i].serial = holds->first_serial;
        DL_PREPEND(shard->free_slots, &slots[i]);
    }
    atomic_store_explicit(&shard->chunks[chunk], slots, memory_order_release);
    shard->chunk_count++;
    return true;
}

struct dlock_hold *dlock_slot_take(struct dlock_holds *holds, struct dlock_shard *shard)
{
    struct dlock_hold *hold;

    if (shard->free_slots == NULL && !add_chunk(holds, shard))
        return NULL;
    hold = shard->free_slots;
    DL_DELETE(shard->free_slots, hold);
    hold->serial = (hold->serial + 1) & DLOCK_SERIAL_MASK;
    return hold;
}

void dlock_slot_free(struct dlock_shard *shard, struct dlock_hold *hold)
{
    dlock_life_drop(hold->life);
    hold->life = NULL;
    hold->state = DLOCK_HOLD_FREE;
    DL_PREPEND(shard->free_slots, hold);
}

struct dlock_holds *dlock_holds_open(bool reentrant)
{
    struct dlock_holds *holds =
        aligned_alloc(alignof(struct dlock_shard), sizeof(*holds));

    if (holds == NULL)
        return NULL;
    memset(holds, 0, sizeof(*holds));
    dlock_random_bytes(&holds->first_serial, sizeof(holds->first_serial));
    holds->first_serial &= DLOCK_SERIAL_MASK;
    holds->reentrant = reentrant;
    for (int i = 0; i < DLOCK_SHARD_COUNT; i++) {
        struct dlock_shard *shard = &holds->shards[i];

        dlock_mutex_init(&shard->mutex);
        if (reentrant)
            HASH_ADD_KEYPTR(hh, shard->index, &shard->sentinel.facts.key,
                            dlock_hold_key_len(&shard->sentinel.facts.key),
                            &shard->sentinel);
    }
    return holds;
}

void dlock_holds_close(struct dlock_holds *holds)
{
    struct dlock_hold *root;

    if (holds == NULL)
        return;
    for (int i = 0; i < DLOCK_SHARD_COUNT; i++) {
        struct dlock_shard *shard = &holds->shards[i];

        HASH_CLEAR(hh, shard->index);
        DL_FOREACH(shard->roots, root)
            dlock_life_drop(root->life);
        for (int chunk = 0; chunk < shard->chunk_count; chunk++)
            free(shard->chunks[chunk]);
        for (int kind = 0; kind < DLOCK_DUE_COUNT; kind++)
            free(shard->due[kind].at);
        dlock_mutex_destroy(&shard->mutex);
    }
    free(holds);
}

bool dlock_holds_owner(struct dlock_holds *holds, uint64_t id, struct dlock_owner *out)
{
    struct dlock_hold *hold = dlock_slot_of(holds, id);
    bool is_there;

    if (hold == NULL)
        return false;
    dlock_mutex_lock(&dlock_shard_of(holds, hold)->mutex);
    is_there = atomic_load(&hold->id) == id;
    if (is_there) {
        out->thread = hold->facts.key.thread;
        memcpy(out->number, hold->facts.number, sizeof(out->number));
    }
    dlock_mutex_unlock(&dlock_shard_of(holds, hold)->mutex);
    return is_there;
}

/* ---- the times at which the watchdog has to look at the roots of a shard ----
 *
 * One heap is for the ends of leases, and one for renewals.  A root has its place in a heap
 * as long as it has a time there, so the watchdog finds what is due without reading the
 * rest of the table. */

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

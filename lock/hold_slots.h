/* SPDX-License-Identifier: MIT */
/* hold_slots.h -- the memory of the table of holds: shards, and their slots.
 *
 * Only for hold_slots.c, holds.c and era.c. holds.h explains the table. */
#ifndef DLOCK_HOLD_SLOTS_H
#define DLOCK_HOLD_SLOTS_H

#include <stdalign.h>
#include <stddef.h>
#include <string.h>

#include "base/os/mutex.h"
#include "lock/hold.h"

enum {
    DLOCK_SHARD_COUNT = 16,
    DLOCK_CHUNK_COUNT = 16,
    DLOCK_INDEX_BITS = 24, /* shard in the low 4 bits, slot in the other 20 */
};

#define DLOCK_SERIAL_MASK ((UINT64_C(1) << (64 - DLOCK_INDEX_BITS)) - 1)

/* Roots by their time, the earliest first; there is room for every slot. */
struct dlock_due_heap {
    struct dlock_due **at;
    size_t count;
};

struct dlock_shard {
    alignas(64) struct dlock_mutex mutex;
    struct dlock_hold *_Atomic chunks[DLOCK_CHUNK_COUNT];
    int chunk_count;
    struct dlock_hold *free_slots;
    struct dlock_hold *roots;
    struct dlock_due_heap due[DLOCK_DUE_COUNT];
    struct dlock_hold *index;
    struct dlock_hold sentinel; /* keeps uthash from freeing an empty table */
};

struct dlock_holds {
    struct dlock_shard shards[DLOCK_SHARD_COUNT];
    uint64_t first_serial;
    bool reentrant;
    size_t first_due_shard; /* the watchdog's: where its next look for renewals begins */
    _Atomic uint64_t era; /* holds of all other eras are marked as lost; see era.h */
};

/* The number of bytes of a key that a comparison reads. */
static inline size_t dlock_hold_key_len(const struct dlock_hold_key *key)
{
    return offsetof(struct dlock_hold_key, name) + strlen(key->name);
}

/* The shard of the slot with that index. */
struct dlock_shard *dlock_shard_of_index(const struct dlock_holds *holds,
                                         uint64_t index);

static inline struct dlock_shard *dlock_shard_of(const struct dlock_holds *holds,
                                                 const struct dlock_hold *hold)
{
    return dlock_shard_of_index(holds, hold->index);
}

/* The slot that the id of a lease names, whatever use it has now; NULL: there is no
 * such slot.  Locks no mutex. */
struct dlock_hold *dlock_slot_of(const struct dlock_holds *holds, uint64_t id);

/* Take a free slot; NULL: no memory.  Free a slot.  The caller of both holds the
 * shard's mutex. */
struct dlock_hold *dlock_slot_take(struct dlock_holds *holds,
                                   struct dlock_shard *shard);
void dlock_slot_free(struct dlock_shard *shard, struct dlock_hold *hold);

/* Write the root's times into the heaps: after each change of its state.  Make room in
 * the heaps for all `slots` of the shard; false: no memory.  The root that is due first;
 * NULL: none has a time.  The caller of the three holds the shard's mutex. */
void dlock_due_settle(struct dlock_shard *shard, struct dlock_hold *root);
bool dlock_due_make_room(struct dlock_shard *shard, size_t slots);
struct dlock_hold *dlock_due_first(const struct dlock_shard *shard, enum dlock_due_kind kind);

#endif /* DLOCK_HOLD_SLOTS_H */

/* SPDX-License-Identifier: MIT */
/* hold_slots.h -- the memory of the table of holds: shards, and their slots.
 *
 * Only for holds.c and era.c: what the slots are used for is there. */
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

struct dlock_shard {
    alignas(64) struct dlock_mutex mutex;
    struct dlock_hold *_Atomic chunks[DLOCK_CHUNK_COUNT];
    int chunk_count;
    struct dlock_hold *free_slots;
    struct dlock_hold *roots;
    struct dlock_hold *index;
    struct dlock_hold sentinel; /* keeps uthash from freeing an empty table */
};

struct dlock_holds {
    struct dlock_shard shards[DLOCK_SHARD_COUNT];
    uint64_t first_serial;
    bool reentrant;
    _Atomic uint64_t era; /* the holds of other eras are marked; see era.h */
};

/* The number of bytes of a key that are compared. */
static inline size_t dlock_hold_key_len(const struct dlock_hold_key *key)
{
    return offsetof(struct dlock_hold_key, name) + strlen(key->name);
}

/* The slot of that index. */
struct dlock_shard *dlock_shard_of_index(const struct dlock_holds *holds,
                                         uint64_t index);

static inline struct dlock_shard *dlock_shard_of(const struct dlock_holds *holds,
                                                 const struct dlock_hold *hold)
{
    return dlock_shard_of_index(holds, hold->index);
}

/* The slot that an id names, whatever it is used for now; NULL if there is none.  Takes
 * no lock. */
struct dlock_hold *dlock_slot_of(const struct dlock_holds *holds, uint64_t id);

/* A slot that was free; NULL: no memory.  Both with the shard's mutex held. */
struct dlock_hold *dlock_slot_take(struct dlock_holds *holds,
                                   struct dlock_shard *shard);
void dlock_slot_free(struct dlock_shard *shard, struct dlock_hold *hold);

#endif /* DLOCK_HOLD_SLOTS_H */

/* SPDX-License-Identifier: MIT */
/* holds.c -- the table of what this process holds.
 *
 * Threads are spread over shards, so that 64 workers that take and give back locks do
 * not meet on one mutex.  A shard's slots live in chunks of doubling size which never
 * move.  A lease's id is the slot's serial number above the slot's index; serials start
 * at a random number, so that a lease of one system means nothing to another. */
#include "lock/holds.h"

#include <pthread.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "lock/clock.h"
#include "lock/random.h"

enum {
    SHARD_COUNT = 16,
    CHUNK_COUNT = 16,
    FIRST_CHUNK_SLOTS = 16,
    INDEX_BITS = 24, /* shard in the low 4 bits, slot in the other 20 */
    SHARD_BITS = 4,
};

#define SERIAL_MASK ((UINT64_C(1) << (64 - INDEX_BITS)) - 1)

struct shard {
    alignas(64) pthread_mutex_t mutex;
    struct dlock_hold *_Atomic chunks[CHUNK_COUNT];
    int chunk_count;
    struct dlock_hold *free_slots;
    struct dlock_hold *roots;
    struct dlock_hold *index;
    struct dlock_hold sentinel; /* keeps uthash from freeing an empty table */
};

struct dlock_holds {
    struct shard shards[SHARD_COUNT];
    uint64_t first_serial;
    bool reentrant;
};

_Static_assert(1 << SHARD_BITS == SHARD_COUNT, "a shard's number fits its bits");

static size_t chunk_slots(int chunk)
{
    return (size_t)FIRST_CHUNK_SLOTS << chunk;
}

static size_t key_len(const struct dlock_hold_key *key)
{
    return offsetof(struct dlock_hold_key, name) + strlen(key->name);
}

static struct shard *shard_of_index(const struct dlock_holds *holds, uint64_t index)
{
    return (struct shard *)&holds->shards[index & (SHARD_COUNT - 1)];
}

static struct shard *shard_of(struct dlock_holds *holds, const struct dlock_hold *hold)
{
    return shard_of_index(holds, hold->index);
}

/* The slot that an id names, whatever it is used for now; NULL if there is none. */
static struct dlock_hold *slot_of(const struct dlock_holds *holds, uint64_t id)
{
    uint64_t index = id & ((UINT64_C(1) << INDEX_BITS) - 1);
    const struct shard *shard = shard_of_index(holds, index);
    uint64_t nth = (index >> SHARD_BITS) / FIRST_CHUNK_SLOTS + 1;
    int chunk = 63 - __builtin_clzll(nth);
    struct dlock_hold *slots;

    if (id == 0 || chunk >= CHUNK_COUNT)
        return NULL;
    slots = atomic_load_explicit(&shard->chunks[chunk], memory_order_acquire);
    if (slots == NULL)
        return NULL;
    return slots + ((index >> SHARD_BITS) - (chunk_slots(chunk) - FIRST_CHUNK_SLOTS));
}

/* With the shard's mutex held. */
static bool add_chunk(struct dlock_holds *holds, struct shard *shard)
{
    int chunk = shard->chunk_count;
    uint64_t shard_number = (uint64_t)(shard - holds->shards);
    struct dlock_hold *slots;

    if (chunk == CHUNK_COUNT)
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

struct dlock_holds *dlock_holds_open(bool reentrant)
{
    struct dlock_holds *holds = aligned_alloc(alignof(struct shard), sizeof(*holds));

    if (holds == NULL)
        return NULL;
    memset(holds, 0, sizeof(*holds));
    dlock_random_bytes(&holds->first_serial, sizeof(holds->first_serial));
    holds->first_serial &= SERIAL_MASK;
    holds->reentrant = reentrant;
    for (int i = 0; i < SHARD_COUNT; i++) {
        struct shard *shard = &holds->shards[i];

        pthread_mutex_init(&shard->mutex, NULL);
        if (reentrant)
            HASH_ADD_KEYPTR(hh, shard->index, &shard->sentinel.facts.key,
                            key_len(&shard->sentinel.facts.key), &shard->sentinel);
    }
    return holds;
}

void dlock_holds_close(struct dlock_holds *holds)
{
    if (holds == NULL)
        return;
    for (int i = 0; i < SHARD_COUNT; i++) {
        struct shard *shard = &holds->shards[i];

        HASH_CLEAR(hh, shard->index);
        for (int chunk = 0; chunk < shard->chunk_count; chunk++)
            free(shard->chunks[chunk]);
        pthread_mutex_destroy(&shard->mutex);
    }
    free(holds);
}

/* Both with the shard's mutex held. */
static void unindex(struct shard *shard, struct dlock_hold *root)
{
    if (root->indexed)
        HASH_DEL(shard->index, root);
    root->indexed = false;
}

static void free_slot(struct shard *shard, struct dlock_hold *hold)
{
    hold->state = DLOCK_HOLD_FREE;
    DL_PREPEND(shard->free_slots, hold);
}

void dlock_hold_mark_lost(struct dlock_hold *root, bool untold)
{
    if (root->state != DLOCK_HOLD_HELD)
        return;
    root->state = DLOCK_HOLD_LOST;
    root->untold = untold;
    atomic_store(&root->deadline_ns, 0);
}

/* The valid hold of `key`, or NULL.  With the shard's mutex held. */
static struct dlock_hold *find_outer(struct shard *shard,
                                     const struct dlock_hold_key *key)
{
    struct dlock_hold *root = NULL;

    HASH_FIND(hh, shard->index, key, key_len(key), root);
    if (root == NULL)
        return NULL;
    if (root->state == DLOCK_HOLD_HELD &&
        atomic_load(&root->deadline_ns) > dlock_clock_ns())
        return root;
    /* Whoever still has its leases may release them later: that must not find a new
     * hold, so the new one gets a new number. */
    unindex(shard, root);
    dlock_hold_mark_lost(root, true);
    dlock_owner_retire();
    return NULL;
}

static void set_number(struct dlock_hold *hold)
{
    memcpy(hold->facts.number, dlock_owner_here()->number, sizeof(hold->facts.number));
}

struct dlock_hold *dlock_holds_begin(struct dlock_holds *holds, const char *name)
{
    uint64_t thread = dlock_owner_here()->thread;
    struct shard *shard = &holds->shards[thread & (SHARD_COUNT - 1)];
    struct dlock_hold *outer = NULL;
    struct dlock_hold *hold;

    pthread_mutex_lock(&shard->mutex);
    if (shard->free_slots == NULL && !add_chunk(holds, shard)) {
        pthread_mutex_unlock(&shard->mutex);
        return NULL;
    }
    hold = shard->free_slots;
    DL_DELETE(shard->free_slots, hold);
    hold->serial = (hold->serial + 1) & SERIAL_MASK;
    hold->state = DLOCK_HOLD_BEGUN;
    hold->level_count = 0;
    hold->facts.note = 0;
    hold->facts.key.thread = thread;
    strcpy(hold->facts.key.name, name); /* the core has checked its length */
    if (holds->reentrant)
        outer = find_outer(shard, &hold->facts.key);
    set_number(hold);
    atomic_store(&hold->root, outer != NULL ? outer : hold);
    pthread_mutex_unlock(&shard->mutex);
    return hold;
}

void dlock_holds_abandon(struct dlock_holds *holds, struct dlock_hold *hold)
{
    struct shard *shard = shard_of(holds, hold);

    pthread_mutex_lock(&shard->mutex);
    free_slot(shard, hold);
    pthread_mutex_unlock(&shard->mutex);
}

void dlock_holds_split(struct dlock_holds *holds, struct dlock_hold *hold)
{
    struct shard *shard = shard_of(holds, hold);
    struct dlock_hold *outer = atomic_load(&hold->root);

    pthread_mutex_lock(&shard->mutex);
    unindex(shard, outer);
    dlock_hold_mark_lost(outer, true);
    dlock_owner_retire();
    set_number(hold);
    atomic_store(&hold->root, hold);
    pthread_mutex_unlock(&shard->mutex);
}

uint64_t dlock_holds_grant(struct dlock_holds *holds, struct dlock_hold *hold,
                           int64_t deadline_ns, int64_t renew_at_ns)
{
    struct shard *shard = shard_of(holds, hold);
    struct dlock_hold *root = atomic_load(&hold->root);
    uint64_t id = hold->serial << INDEX_BITS | hold->index;

    pthread_mutex_lock(&shard->mutex);
    if (root == hold) {
        root->state = DLOCK_HOLD_HELD;
        root->untold = false;
        root->abandoned = false;
        atomic_store(&root->deadline_ns, deadline_ns);
        root->renew_at_ns = renew_at_ns;
        DL_APPEND(shard->roots, root);
        if (holds->reentrant) {
            HASH_ADD_KEYPTR(hh, shard->index, &root->facts.key,
                            key_len(&root->facts.key), root);
            root->indexed = true;
        }
    } else if (root->state == DLOCK_HOLD_HELD) {
        if (deadline_ns > atomic_load(&root->deadline_ns))
            atomic_store(&root->deadline_ns, deadline_ns);
        hold->state = DLOCK_HOLD_HELD;
    }
    root->level_count++;
    atomic_store(&hold->id, id);
    pthread_mutex_unlock(&shard->mutex);
    return id;
}

/* The slot of the lease `id`, if it is the calling thread's.  That makes its root safe
 * to read: only this thread can end it.  With the shard's mutex held. */
static struct dlock_hold *find_own(struct dlock_hold *hold, uint64_t id)
{
    if (atomic_load(&hold->id) != id)
        return NULL;
    return hold->facts.key.thread == dlock_owner_here()->thread ? hold : NULL;
}

/* Spend the lease `id`.  NULL: it is not the calling thread's. */
static struct dlock_hold *spend(struct dlock_holds *holds, uint64_t id, bool forget,
                                int *level)
{
    struct dlock_hold *hold = slot_of(holds, id);
    struct shard *shard;

    if (hold == NULL)
        return NULL;
    shard = shard_of(holds, hold);
    pthread_mutex_lock(&shard->mutex);
    hold = find_own(hold, id);
    if (hold != NULL) {
        struct dlock_hold *root = atomic_load(&hold->root);

        atomic_store(&hold->id, 0);
        *level = root->level_count--;
        if (forget) {
            dlock_hold_mark_lost(root, false);
            root->abandoned = true;
            unindex(shard, root);
        }
        if (root->level_count == 0) {
            root->state = DLOCK_HOLD_RELEASING;
            root->untold = false;
            DL_DELETE(shard->roots, root);
            unindex(shard, root);
        }
    }
    pthread_mutex_unlock(&shard->mutex);
    return hold;
}

struct dlock_hold *dlock_holds_release(struct dlock_holds *holds, uint64_t id,
                                       int *level)
{
    return spend(holds, id, false, level);
}

struct dlock_hold *dlock_holds_forget(struct dlock_holds *holds, uint64_t id)
{
    int level = 0;

    return spend(holds, id, true, &level);
}

void dlock_holds_finish(struct dlock_holds *holds, struct dlock_hold *hold)
{
    struct shard *shard = shard_of(holds, hold);
    struct dlock_hold *root = atomic_load(&hold->root);

    pthread_mutex_lock(&shard->mutex);
    if (hold != root)
        free_slot(shard, hold);
    if (root->level_count == 0)
        free_slot(shard, root);
    pthread_mutex_unlock(&shard->mutex);
}

struct dlock_hold *dlock_holds_find(struct dlock_holds *holds, uint64_t id)
{
    struct dlock_hold *hold = slot_of(holds, id);
    struct dlock_hold *root = NULL;
    struct shard *shard;

    if (hold == NULL)
        return NULL;
    shard = shard_of(holds, hold);
    pthread_mutex_lock(&shard->mutex);
    if (find_own(hold, id) != NULL)
        root = atomic_load(&hold->root);
    pthread_mutex_unlock(&shard->mutex);
    return root;
}

/* Lock the root's shard; true if it still is the use of the slot that is meant, and
 * held. */
static bool lock_held(struct dlock_holds *holds, const struct dlock_hold *root,
                      uint64_t serial)
{
    pthread_mutex_lock(&shard_of(holds, root)->mutex);
    return root->serial == serial && root->state == DLOCK_HOLD_HELD;
}

static void unlock(struct dlock_holds *holds, const struct dlock_hold *root)
{
    pthread_mutex_unlock(&shard_of(holds, root)->mutex);
}

bool dlock_holds_renewed(struct dlock_holds *holds, struct dlock_hold *root,
                         uint64_t serial, int64_t deadline_ns, int64_t renew_at_ns)
{
    bool held = lock_held(holds, root, serial);

    /* Another renewal may have been sent later and answered earlier. */
    if (held && deadline_ns > atomic_load(&root->deadline_ns)) {
        atomic_store(&root->deadline_ns, deadline_ns);
        root->renew_at_ns = renew_at_ns;
    }
    unlock(holds, root);
    return held;
}

void dlock_holds_retry_at(struct dlock_holds *holds, struct dlock_hold *root,
                          uint64_t serial, int64_t renew_at_ns)
{
    if (lock_held(holds, root, serial))
        root->renew_at_ns = renew_at_ns;
    unlock(holds, root);
}

void dlock_holds_lose(struct dlock_holds *holds, struct dlock_hold *root,
                      uint64_t serial, bool untold)
{
    if (lock_held(holds, root, serial))
        dlock_hold_mark_lost(root, untold);
    unlock(holds, root);
}

bool dlock_holds_is_held(struct dlock_holds *holds, const struct dlock_hold *root,
                         uint64_t serial)
{
    bool held = lock_held(holds, root, serial);

    unlock(holds, root);
    return held;
}

int64_t dlock_holds_deadline_ns(const struct dlock_holds *holds, uint64_t id)
{
    const struct dlock_hold *hold = slot_of(holds, id);
    int64_t deadline_ns;

    if (hold == NULL || atomic_load(&hold->id) != id)
        return 0;
    deadline_ns = atomic_load(&atomic_load(&hold->root)->deadline_ns);
    /* The same id after as before: that was the deadline of this lease. */
    return atomic_load(&hold->id) == id ? deadline_ns : 0;
}

void dlock_holds_visit(struct dlock_holds *holds,
                       void (*visit)(struct dlock_hold *root, void *arg), void *arg)
{
    for (int i = 0; i < SHARD_COUNT; i++) {
        struct shard *shard = &holds->shards[i];
        struct dlock_hold *root;

        pthread_mutex_lock(&shard->mutex);
        DL_FOREACH(shard->roots, root)
            if (root->state == DLOCK_HOLD_HELD || root->untold)
                visit(root, arg);
        pthread_mutex_unlock(&shard->mutex);
    }
}

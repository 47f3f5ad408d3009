/* SPDX-License-Identifier: MIT */
/* holds.c -- the table of the holds of a system: how a hold begins, changes and ends.
 *
 * Threads are spread over shards, so that few threads share a mutex. */
#include "lock/holds.h"

#include <utlist.h>

#include "base/os/clock.h"
#include "lock/hold_slots.h"

/* With the shard's mutex held. */
static void unindex(struct dlock_shard *shard, struct dlock_hold *root)
{
    if (root->indexed)
        HASH_DEL(shard->index, root);
    root->indexed = false;
}

void dlock_hold_mark_lost(struct dlock_hold *root, bool untold, enum dlock_loss loss)
{
    if (root->state != DLOCK_HOLD_HELD)
        return;
    root->state = DLOCK_HOLD_LOST;
    root->untold = untold;
    root->loss = loss;
    root->lost_deadline_ns = atomic_load(&root->deadline_ns);
    atomic_store(&root->deadline_ns, 0);
}

/* The thread's hold of the other kind, or NULL.  With the shard's mutex held. */
static struct dlock_hold *find_other_kind(struct dlock_shard *shard,
                                          const struct dlock_hold *hold)
{
    struct dlock_hold_key key = hold->facts.key;
    struct dlock_hold *other = NULL;

    key.shared ^= 1;
    HASH_FIND(hh, shard->index, &key, dlock_hold_key_len(&key), other);
    return other;
}

/* See dlock_holds_retire_number().  With the shard's mutex held. */
static void part(struct dlock_shard *shard, struct dlock_hold *hold)
{
    struct dlock_hold *other = find_other_kind(shard, hold);

    if (other != NULL)
        other->is_lone = true;
    hold->has_number = false;
    dlock_owner_retire();
}

void dlock_holds_retire_number(struct dlock_holds *holds, struct dlock_hold *hold)
{
    struct dlock_shard *shard = dlock_shard_of(holds, hold);

    dlock_mutex_lock(&shard->mutex);
    part(shard, hold);
    dlock_mutex_unlock(&shard->mutex);
}

/* The root is lost.  A caller that still has its leases may release them later.  Such a release
 * must not find a new hold, so the new hold gets a new number. */
static void give_up_root(struct dlock_shard *shard, struct dlock_hold *root)
{
    part(shard, root);
    unindex(shard, root);
    dlock_hold_mark_lost(root, true, DLOCK_LOSS_REFUSED);
    dlock_due_settle(shard, root);
}

/* The valid hold of `key`, or NULL.  With the shard's mutex held. */
static struct dlock_hold *find_outer(struct dlock_shard *shard,
                                     const struct dlock_hold_key *key)
{
    struct dlock_hold *root = NULL;

    HASH_FIND(hh, shard->index, key, dlock_hold_key_len(key), root);
    if (root == NULL)
        return NULL;
    if (root->state == DLOCK_HOLD_HELD &&
        atomic_load(&root->deadline_ns) > dlock_clock_ns())
        return root;
    give_up_root(shard, root);
    return NULL;
}

void dlock_holds_renumber(struct dlock_hold *hold)
{
    if (!hold->has_number)
        memcpy(hold->facts.number, dlock_owner_here()->number,
               sizeof(hold->facts.number));
}

/* A thread that is reader and writer of one name must be one owner in the store, even
 * if the thread has got another number meanwhile. */
static void join_other_kind(struct dlock_shard *shard, struct dlock_hold *hold)
{
    struct dlock_hold *other = find_other_kind(shard, hold);

    if (other == NULL || other->state != DLOCK_HOLD_HELD || other->is_lone)
        return;
    memcpy(hold->facts.number, other->facts.number, sizeof(hold->facts.number));
    hold->has_number = true;
}

struct dlock_hold *dlock_holds_begin(struct dlock_holds *holds, const char *name,
                                     bool shared)
{
    uint64_t thread = dlock_owner_here()->thread;
    struct dlock_shard *shard = &holds->shards[thread & (DLOCK_SHARD_COUNT - 1)];
    struct dlock_hold *outer = NULL;
    struct dlock_hold *hold;

    dlock_mutex_lock(&shard->mutex);
    hold = dlock_slot_take(holds, shard);
    if (hold == NULL) {
        dlock_mutex_unlock(&shard->mutex);
        return NULL;
    }
    hold->state = DLOCK_HOLD_BEGUN;
    hold->level_count = 0;
    hold->watched_count = 0;
    hold->has_number = false;
    hold->is_lone = false;
    hold->is_in_line = false;
    hold->facts.note = 0;
    hold->facts.key.thread = thread;
    hold->facts.key.shared = shared;
    strcpy(hold->facts.key.name, name); /* the core has checked its length */
    if (holds->reentrant)
        outer = find_outer(shard, &hold->facts.key);
    if (holds->reentrant && outer == NULL)
        join_other_kind(shard, hold);
    dlock_holds_renumber(hold);
    atomic_store(&hold->root, outer != NULL ? outer : hold);
    dlock_mutex_unlock(&shard->mutex);
    return hold;
}

void dlock_holds_abandon(struct dlock_holds *holds, struct dlock_hold *hold)
{
    struct dlock_shard *shard = dlock_shard_of(holds, hold);

    dlock_mutex_lock(&shard->mutex);
    dlock_slot_free(shard, hold);
    dlock_mutex_unlock(&shard->mutex);
}

void dlock_holds_split(struct dlock_holds *holds, struct dlock_hold *hold)
{
    struct dlock_shard *shard = dlock_shard_of(holds, hold);
    struct dlock_hold *outer = atomic_load(&hold->root);

    dlock_mutex_lock(&shard->mutex);
    give_up_root(shard, outer);
    dlock_holds_renumber(hold);
    atomic_store(&hold->root, hold);
    dlock_mutex_unlock(&shard->mutex);
}

uint64_t dlock_holds_grant(struct dlock_holds *holds, struct dlock_hold *hold,
                           int64_t deadline_ns, int64_t renew_at_ns, bool watched)
{
    struct dlock_shard *shard = dlock_shard_of(holds, hold);
    struct dlock_hold *root = atomic_load(&hold->root);
    uint64_t id = hold->serial << DLOCK_INDEX_BITS | hold->index;

    dlock_mutex_lock(&shard->mutex);
    if (root == hold) {
        root->state = DLOCK_HOLD_HELD;
        root->untold = false;
        root->abandoned = false;
        root->counted = false;
        root->taken_ns = dlock_clock_ns();
        root->life = dlock_life_share();
        atomic_store(&root->deadline_ns, deadline_ns);
        root->renew_at_ns = renew_at_ns;
        root->is_in_round = false;
        DL_APPEND(shard->roots, root);
        if (holds->reentrant) {
            HASH_ADD_KEYPTR(hh, shard->index, &root->facts.key,
                            dlock_hold_key_len(&root->facts.key), root);
            root->indexed = true;
        }
    } else if (root->state == DLOCK_HOLD_HELD) {
        if (deadline_ns > atomic_load(&root->deadline_ns))
            atomic_store(&root->deadline_ns, deadline_ns);
        root->facts.lease_ms = hold->facts.lease_ms; /* at least as long as before */
        if (watched && root->watched_count == 0)
            root->renew_at_ns = renew_at_ns;
        hold->state = DLOCK_HOLD_HELD;
    }
    root->level_count++;
    root->watched_count += watched;
    hold->watched = watched;
    dlock_due_settle(shard, root);
    atomic_store(&hold->id, id);
    dlock_mutex_unlock(&shard->mutex);
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
    struct dlock_hold *hold = dlock_slot_of(holds, id);
    struct dlock_shard *shard;

    if (hold == NULL)
        return NULL;
    shard = dlock_shard_of(holds, hold);
    dlock_mutex_lock(&shard->mutex);
    hold = find_own(hold, id);
    if (hold != NULL) {
        struct dlock_hold *root = atomic_load(&hold->root);

        atomic_store(&hold->id, 0);
        *level = root->level_count--;
        root->watched_count -= hold->watched;
        if (forget) {
            dlock_hold_mark_lost(root, false, DLOCK_LOSS_REFUSED);
            root->abandoned = true;
            unindex(shard, root);
        }
        if (root->level_count == 0) {
            root->was_lost = root->state == DLOCK_HOLD_LOST && !root->abandoned;
            root->state = DLOCK_HOLD_RELEASING;
            root->untold = false;
            DL_DELETE(shard->roots, root);
            unindex(shard, root);
        }
        dlock_due_settle(shard, root);
    }
    dlock_mutex_unlock(&shard->mutex);
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
    struct dlock_shard *shard = dlock_shard_of(holds, hold);
    struct dlock_hold *root = atomic_load(&hold->root);

    dlock_mutex_lock(&shard->mutex);
    if (hold != root)
        dlock_slot_free(shard, hold);
    if (root->level_count == 0)
        dlock_slot_free(shard, root);
    dlock_mutex_unlock(&shard->mutex);
}

struct dlock_hold *dlock_holds_find(struct dlock_holds *holds, uint64_t id)
{
    struct dlock_hold *hold = dlock_slot_of(holds, id);
    struct dlock_hold *root = NULL;
    struct dlock_shard *shard;

    if (hold == NULL)
        return NULL;
    shard = dlock_shard_of(holds, hold);
    dlock_mutex_lock(&shard->mutex);
    if (find_own(hold, id) != NULL)
        root = atomic_load(&hold->root);
    dlock_mutex_unlock(&shard->mutex);
    return root;
}

/* Lock the root's shard.  True: the slot still has the use `serial`, and the hold is
 * held. */
static bool lock_held(struct dlock_holds *holds, const struct dlock_hold *root,
                      uint64_t serial)
{
    dlock_mutex_lock(&dlock_shard_of(holds, root)->mutex);
    return root->serial == serial && root->state == DLOCK_HOLD_HELD;
}

static void unlock(struct dlock_holds *holds, const struct dlock_hold *root)
{
    dlock_mutex_unlock(&dlock_shard_of(holds, root)->mutex);
}

/* With the shard's mutex held. */
static void end_round(struct dlock_holds *holds, struct dlock_hold *root)
{
    root->is_in_round = false;
    dlock_due_settle(dlock_shard_of(holds, root), root);
}

bool dlock_holds_renewed(struct dlock_holds *holds, struct dlock_hold *root,
                         uint64_t serial, int64_t deadline_ns, int64_t renew_at_ns)
{
    bool held = lock_held(holds, root, serial);

    /* Another renewal may have been sent later and answered earlier, so the deadline
     * may be later already.  Without a lease both deadlines are INT64_MAX. */
    if (held && deadline_ns >= atomic_load(&root->deadline_ns)) {
        atomic_store(&root->deadline_ns, deadline_ns);
        root->renew_at_ns = renew_at_ns;
    }
    if (held)
        end_round(holds, root);
    unlock(holds, root);
    return held;
}

void dlock_holds_retry_at(struct dlock_holds *holds, struct dlock_hold *root,
                          uint64_t serial, int64_t renew_at_ns)
{
    if (lock_held(holds, root, serial)) {
        root->renew_at_ns = renew_at_ns;
        end_round(holds, root);
    }
    unlock(holds, root);
}

void dlock_holds_lose(struct dlock_holds *holds, struct dlock_hold *root,
                      uint64_t serial, bool untold)
{
    if (lock_held(holds, root, serial)) {
        dlock_hold_mark_lost(root, untold, DLOCK_LOSS_REFUSED);
        end_round(holds, root);
    }
    unlock(holds, root);
}

bool dlock_holds_is_held(struct dlock_holds *holds, const struct dlock_hold *root,
                         uint64_t serial)
{
    bool held = lock_held(holds, root, serial);

    unlock(holds, root);
    return held;
}

bool dlock_holds_is_over(struct dlock_holds *holds, const struct dlock_hold *root,
                         uint64_t serial)
{
    bool is_held = lock_held(holds, root, serial);
    bool is_over = is_held ? atomic_load(&root->deadline_ns) <= dlock_clock_ns()
                           : root->serial != serial || root->state == DLOCK_HOLD_LOST ||
                                 root->state == DLOCK_HOLD_FREE;

    unlock(holds, root);
    return is_over;
}

int64_t dlock_holds_deadline_ns(const struct dlock_holds *holds, uint64_t id)
{
    const struct dlock_hold *hold = dlock_slot_of(holds, id);
    int64_t deadline_ns;

    if (hold == NULL || atomic_load(&hold->id) != id)
        return 0;
    deadline_ns = atomic_load(&atomic_load(&hold->root)->deadline_ns);
    /* The id did not change during the read, so the deadline is that of this lease. */
    return atomic_load(&hold->id) == id ? deadline_ns : 0;
}

bool dlock_holds_look(struct dlock_holds *holds, uint64_t id,
                      struct dlock_hold_facts *out)
{
    struct dlock_hold *hold = dlock_slot_of(holds, id), *root;
    bool is_held = false;

    if (hold == NULL)
        return is_held;
    dlock_mutex_lock(&dlock_shard_of(holds, hold)->mutex);
    root = atomic_load(&hold->root);
    *out = root->facts;
    is_held = atomic_load(&hold->id) == id && root->state == DLOCK_HOLD_HELD;
    dlock_mutex_unlock(&dlock_shard_of(holds, hold)->mutex);
    return is_held;
}

void dlock_holds_visit(struct dlock_holds *holds,
                       void (*visit)(struct dlock_hold *root, void *arg), void *arg)
{
    struct dlock_hold *root;

    for (int i = 0; i < DLOCK_SHARD_COUNT; i++) {
        struct dlock_shard *shard = &holds->shards[i];

        dlock_mutex_lock(&shard->mutex);
        DL_FOREACH(shard->roots, root)
            if (root->state == DLOCK_HOLD_HELD || root->untold) {
                visit(root, arg);
                dlock_due_settle(shard, root);
            }
        dlock_mutex_unlock(&shard->mutex);
    }
}

int64_t dlock_holds_due(struct dlock_holds *holds, enum dlock_due_kind kind, int64_t now_ns,
                        bool (*visit)(struct dlock_hold *root, void *arg), void *arg)
{
    int64_t next_ns = INT64_MAX;
    bool goes_on = true;

    for (int i = 0; i < DLOCK_SHARD_COUNT; i++) {
        size_t number = (holds->first_due_shard + (size_t)i) % DLOCK_SHARD_COUNT;
        struct dlock_shard *shard = &holds->shards[number];
        struct dlock_hold *root;

        dlock_mutex_lock(&shard->mutex);
        while ((root = dlock_due_first(shard, kind)) != NULL &&
               root->due[kind].at_ns <= now_ns && goes_on) {
            goes_on = visit(root, arg);
            dlock_due_settle(shard, root);
        }
        if (root != NULL && root->due[kind].at_ns < next_ns)
            next_ns = root->due[kind].at_ns;
        dlock_mutex_unlock(&shard->mutex);
    }
    holds->first_due_shard += kind == DLOCK_DUE_RENEWAL;
    return next_ns;
}

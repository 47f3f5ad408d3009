/* SPDX-License-Identifier: MIT */
/* local.c -- one mutex per name, inside one process.
 *
 * Promises    one holder among the threads of this process, whichever systems they use.
 * Breaks      as soon as there is a second process: it has its own mutexes.
 * Described   the articles' first answer, `synchronized`, and why it fails behind a
 *             load balancer.
 *
 * The names live in a table of the process (lock/process.h).  The table has a name
 * while the name is held or waited for.  A child made by fork() starts with an empty
 * table. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/fork.h"
#include "base/os/hash_table.h"
#include "lock/dlock_variant.h"
#include "lock/process.h"

enum { SHARD_COUNT = 16 };

struct entry {
    char name[DLOCK_NAME_MAX + 1];
    char holder[DLOCK_TOKEN_LEN + 1]; /* "": free */
    char owner[DLOCK_OWNER_MAX + 1];  /* of the holder */
    int user_count;                   /* the holder and the waiters */
    struct shard *shard;
    struct dlock_condition freed;
    UT_hash_handle hh;
};

struct shard {
    struct dlock_mutex mutex;
    struct entry *entries;
};

struct table {
    unsigned generation;  /* see fork.h */
    struct table *parent; /* of the parent, after fork() */
    struct shard shards[SHARD_COUNT];
};

static struct table *make_table(struct table *parent)
{
    struct table *table = calloc(1, sizeof(*table));

    if (table == NULL)
        return NULL;
    table->generation = dlock_fork_generation();
    table->parent = parent;
    for (int i = 0; i < SHARD_COUNT; i++)
        dlock_mutex_init(&table->shards[i].mutex);
    return table;
}

/* The table of this process; NULL: no memory. */
static struct table *table_here(void)
{
    void *_Atomic *current = &dlock_process_here()->local_names;
    void *seen = atomic_load(current);
    struct table *table = seen;
    struct table *fresh;

    if (table != NULL && table->generation == dlock_fork_generation())
        return table;
    fresh = make_table(table);
    if (fresh == NULL)
        return NULL;
    if (atomic_compare_exchange_strong(current, &seen, fresh))
        return fresh;
    free(fresh); /* another thread was first */
    return seen;
}

/* Find or make the entry of `name`, count one more user, and lock its shard.  NULL: no
 * memory, and the shard is not locked. */
static struct entry *enter(const char *name)
{
    struct table *table = table_here();
    struct entry *entry = NULL;
    struct shard *shard;
    unsigned hash;

    if (table == NULL)
        return NULL;
    HASH_VALUE(name, strlen(name), hash);
    shard = &table->shards[hash % SHARD_COUNT];
    dlock_mutex_lock(&shard->mutex);
    HASH_FIND_STR(shard->entries, name, entry);
    if (entry == NULL) {
        entry = calloc(1, sizeof(*entry));
        if (entry == NULL || !dlock_condition_init(&entry->freed)) {
            free(entry);
            dlock_mutex_unlock(&shard->mutex);
            return NULL;
        }
        strcpy(entry->name, name); /* the core has checked its length */
        entry->shard = shard;
        HASH_ADD_STR(shard->entries, name, entry);
    }
    entry->user_count++;
    return entry;
}

/* Count one user less, and unlock the shard. */
static void leave(struct entry *entry)
{
    struct shard *shard = entry->shard;

    if (--entry->user_count == 0) {
        HASH_DEL(shard->entries, entry);
        dlock_condition_destroy(&entry->freed);
        free(entry);
    }
    dlock_mutex_unlock(&shard->mutex);
}

static dlock_status try_acquire(void *state, dlock_claim *claim)
{
    struct entry *entry = enter(claim->name);

    (void)state;
    if (entry == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the name");
    if (entry->holder[0] != '\0') {
        leave(entry);
        return DLOCK_BUSY;
    }
    strcpy(entry->holder, claim->token);
    strcpy(entry->owner, claim->owner);
    dlock_mutex_unlock(&entry->shard->mutex); /* the holder still counts as a user */
    return DLOCK_OK;
}

static dlock_status release(void *state, const dlock_claim *claim)
{
    struct entry *entry = enter(claim->name);
    bool mine;

    (void)state;
    if (entry == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the name");
    mine = strcmp(entry->holder, claim->token) == 0;
    if (mine) {
        entry->holder[0] = '\0';
        entry->user_count--;
        dlock_condition_signal(&entry->freed);
    }
    leave(entry);
    return mine ? DLOCK_OK : DLOCK_LOST;
}

static void *watch(void *state, const dlock_claim *claim)
{
    struct entry *entry = enter(claim->name);

    (void)state;
    if (entry != NULL)
        dlock_mutex_unlock(&entry->shard->mutex);
    return entry;
}

static bool sleep_until(void *watched, int64_t until_ns)
{
    struct entry *entry = watched;
    bool is_free;

    dlock_mutex_lock(&entry->shard->mutex);
    while (entry->holder[0] != '\0' &&
           dlock_condition_wait_until(&entry->freed, &entry->shard->mutex, until_ns))
        continue;
    is_free = entry->holder[0] == '\0';
    dlock_mutex_unlock(&entry->shard->mutex);
    return is_free;
}

static void unwatch(void *watched, bool granted)
{
    struct entry *entry = watched;

    dlock_mutex_lock(&entry->shard->mutex);
    /* This waiter leaves without the lock, and may have received the signal: pass it
     * on. */
    if (!granted && entry->holder[0] == '\0')
        dlock_condition_signal(&entry->freed);
    leave(entry);
}

static dlock_status inspect(void *state, const char *name, dlock_info *out)
{
    struct entry *entry = enter(name);

    (void)state;
    if (entry == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the name");
    out->locked = entry->holder[0] != '\0';
    out->waiter_count = entry->user_count - 1 - (out->locked ? 1 : 0);
    if (out->locked) {
        out->hold_count = 1;
        out->left_ms = INT64_MAX;
        strcpy(out->owner, entry->owner);
    }
    leave(entry);
    return DLOCK_OK;
}

static dlock_status force(void *state, const char *name)
{
    struct entry *entry = enter(name);
    bool was_held;

    (void)state;
    if (entry == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the name");
    was_held = entry->holder[0] != '\0';
    if (was_held) {
        entry->holder[0] = '\0';
        entry->user_count--;
        dlock_condition_signal(&entry->freed);
    }
    leave(entry);
    return was_held ? DLOCK_OK : DLOCK_LOST;
}

extern const dlock_variant dlock_variant_local;

const dlock_variant dlock_variant_local = {
    .info =
        {
            .name = "local",
            .store = "process",
            .promises = "one holder among the threads of one process",
            .breaks = "a second process",
            .source = "the articles' synchronized block",
            .caps = DLOCK_CAP_LOCAL | DLOCK_CAP_OWNED | DLOCK_CAP_PUSH,
        },
    .try_acquire = try_acquire,
    .release = release,
    .watch = watch,
    .sleep = sleep_until,
    .unwatch = unwatch,
    .inspect = inspect,
    .force = force,
};

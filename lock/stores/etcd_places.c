/* SPDX-License-Identifier: MIT */
/* etcd_places.c -- the table of the keys that a system has put. */
#include "lock/stores/etcd_places.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os/clock.h"
#include "base/os/hash_table.h"
#include "base/os/mutex.h"

enum {
    ID_SIZE = DLOCK_OWNER_MAX + 1 + DLOCK_NAME_MAX + 1,
    LOOKED_AT = 2,          /* old places to check with each new place */
    FORGOTTEN_MS = 60000,   /* after the end of a place's lease; no call can need the
                             * place any more */
};

struct entry {
    char id[ID_SIZE]; /* "owner name" */
    struct etcd_place place;
    UT_hash_handle hh;
};

struct etcd_places {
    struct dlock_mutex mutex;
    struct entry *table; /* the entry that was checked last is the last */
};

struct etcd_places *etcd_places_open(void)
{
    struct etcd_places *places = calloc(1, sizeof(*places));

    if (places != NULL)
        dlock_mutex_init(&places->mutex);
    return places;
}

void etcd_places_close(struct etcd_places *places)
{
    struct entry *entry, *next;

    if (places == NULL)
        return;
    HASH_ITER(hh, places->table, entry, next) {
        HASH_DEL(places->table, entry);
        free(entry);
    }
    dlock_mutex_destroy(&places->mutex);
    free(places);
}

/* With the mutex held; NULL: there is none. */
static struct entry *find(struct etcd_places *places, const char *owner, const char *name)
{
    struct entry *entry = NULL;
    char id[ID_SIZE];

    snprintf(id, sizeof(id), "%s %s", owner, name);
    HASH_FIND_STR(places->table, id, entry);
    return entry;
}

/* With the mutex held: remove the oldest entry if its lease ended long ago; otherwise
 * move it to the end. */
static void look_at_oldest(struct etcd_places *places)
{
    int64_t long_ago_ns = dlock_clock_ns() - FORGOTTEN_MS * DLOCK_NS_PER_MS;
    struct entry *oldest = places->table;
    bool is_over;

    if (oldest == NULL)
        return;
    is_over = !oldest->place.is_watched && !etcd_lease_lasts(&oldest->place.lease, long_ago_ns);
    HASH_DEL(places->table, oldest);
    if (is_over)
        free(oldest);
    else
        HASH_ADD_STR(places->table, id, oldest);
}

bool etcd_places_get(struct etcd_places *places, const char *owner, const char *name,
                     struct etcd_place *out)
{
    const struct entry *entry;

    dlock_mutex_lock(&places->mutex);
    entry = find(places, owner, name);
    if (entry != NULL)
        *out = entry->place;
    dlock_mutex_unlock(&places->mutex);
    return entry != NULL;
}

bool etcd_places_put(struct etcd_places *places, const char *owner, const char *name,
                     const struct etcd_place *place)
{
    struct entry *entry;

    dlock_mutex_lock(&places->mutex);
    entry = find(places, owner, name);
    if (entry == NULL) {
        for (int i = 0; i < LOOKED_AT; i++)
            look_at_oldest(places);
        entry = calloc(1, sizeof(*entry));
        if (entry != NULL) {
            snprintf(entry->id, sizeof(entry->id), "%s %s", owner, name);
            HASH_ADD_STR(places->table, id, entry);
        }
    }
    if (entry != NULL)
        entry->place = *place;
    dlock_mutex_unlock(&places->mutex);
    return entry != NULL;
}

void etcd_places_renewed(struct etcd_places *places, const char *owner, const char *name,
                         const struct etcd_lease *lease, int64_t hold_end_ns)
{
    struct entry *entry;

    dlock_mutex_lock(&places->mutex);
    entry = find(places, owner, name);
    if (entry != NULL && entry->place.lease.id == lease->id) {
        entry->place.lease = *lease;
        entry->place.hold_end_ns = hold_end_ns;
    }
    dlock_mutex_unlock(&places->mutex);
}

void etcd_places_drop(struct etcd_places *places, const char *owner, const char *name)
{
    struct entry *entry;

    dlock_mutex_lock(&places->mutex);
    entry = find(places, owner, name);
    if (entry != NULL) {
        HASH_DEL(places->table, entry);
        free(entry);
    }
    dlock_mutex_unlock(&places->mutex);
}

/* SPDX-License-Identifier: MIT */
/* etcd_places.h -- the keys that a system has put: the owner of each, its lease, and
 * its last known place in the queue.
 *
 * Callers read and write copies of a place, never the place itself, so threads cannot
 * disturb each other.  A place whose lease has ended long ago, because its hold was
 * abandoned, is removed.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_ETCD_PLACES_H
#define DLOCK_ETCD_PLACES_H

#include "lock/stores/etcd_keys.h"
#include "lock/stores/etcd_leases.h"

struct etcd_places; /* of a system; opaque */

struct etcd_place {
    char token[DLOCK_TOKEN_LEN + 1]; /* of the claim that holds, or of the last that
                                      * asked */
    struct etcd_lease lease;
    uint64_t created;  /* the create revision of the key; 0: not known          */
    uint64_t before;   /* the lease of the key before it; 0: it holds           */
    int64_t ahead;     /* an upper limit of the keys before it; -1: not known   */
    uint64_t revision; /* at which `before` and `ahead` were true               */
    int64_t hold_end_ns; /* of a holder: when its lease ends, by its own clock  */
    int64_t look_ns;   /* of a waiter: when to ask etcd again in any case       */
    bool has_failed;   /* of a waiter: etcd did not answer, so it is not asked before look_ns */
    bool is_doubtful;  /* a request that names the lease may still arrive       */
    bool is_owed;      /* of a holder: a release failed, and the lease is owed  */
    bool is_watched;   /* its waiter is woken when the key may have moved up    */
    bool was_told;     /* the key may have moved up                             */
    bool is_told_first; /* the key is certainly the first                       */
};

/* NULL: no memory. */
struct etcd_places *etcd_places_open(void);
void etcd_places_close(struct etcd_places *places);

/* Copy the place of `owner` in the queue of `name`.  False: there is none. */
bool etcd_places_get(struct etcd_places *places, const char *owner, const char *name,
                     struct etcd_place *out);

/* Keep the place of `owner` in the queue of `name`, instead of the earlier one if there
 * is one.  False: no memory, and nothing changed. */
bool etcd_places_put(struct etcd_places *places, const char *owner, const char *name,
                     const struct etcd_place *place);

/* Note that the lease of the place was renewed.  If the place has another lease by now,
 * nothing changes. */
void etcd_places_renewed(struct etcd_places *places, const char *owner, const char *name,
                         const struct etcd_lease *lease, int64_t hold_end_ns);

void etcd_places_drop(struct etcd_places *places, const char *owner, const char *name);

#endif /* DLOCK_ETCD_PLACES_H */

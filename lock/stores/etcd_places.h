/* SPDX-License-Identifier: MIT */
/* etcd_places.h -- what a system remembers of each key that it has put: who for, with which
 * lease, and what was seen of it.
 *
 * A place is read and written whole, as a copy, so nobody else's thread can be in it.  A place
 * whose lease has ended long ago, because its hold was abandoned, is forgotten.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_ETCD_PLACES_H
#define DLOCK_ETCD_PLACES_H

#include "lock/stores/etcd_keys.h"
#include "lock/stores/etcd_leases.h"

struct etcd_places; /* of a system; opaque */

struct etcd_place {
    char token[DLOCK_TOKEN_LEN + 1]; /* of the claim that holds, or asked last */
    struct etcd_lease lease;
    uint64_t created;  /* the create revision of the key; 0: not known          */
    uint64_t before;   /* the lease of the key before it; 0: it holds           */
    int64_t ahead;     /* at most so many keys are before it; -1: not known     */
    uint64_t revision; /* at which `before` and `ahead` were seen               */
    int64_t hold_end_ns; /* of a holder: when it has to stop, by its own clock  */
    int64_t look_ns;   /* of a waiter: when to look again in any case           */
    bool is_doubtful;  /* a request with the lease may still arrive             */
    bool is_watched;   /* its waiter is told when it may have moved up          */
    bool was_told;     /* it may have moved up                                  */
    bool is_told_first; /* and it has: its key is the first                     */
};

/* NULL: no memory. */
struct etcd_places *etcd_places_open(void);
void etcd_places_close(struct etcd_places *places);

/* The place of the claim's owner for the claim's name.  False: there is none. */
bool etcd_places_get(struct etcd_places *places, const char *owner, const char *name,
                     struct etcd_place *out);

/* Remember the place in that of the owner's, if there is one already.  False: no memory, and
 * nothing changed. */
bool etcd_places_put(struct etcd_places *places, const char *owner, const char *name,
                     const struct etcd_place *place);

/* The lease of the place was renewed, unless another lease is there by now. */
void etcd_places_renewed(struct etcd_places *places, const char *owner, const char *name,
                         const struct etcd_lease *lease, int64_t hold_end_ns);

void etcd_places_drop(struct etcd_places *places, const char *owner, const char *name);

#endif /* DLOCK_ETCD_PLACES_H */

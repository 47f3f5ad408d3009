/* SPDX-License-Identifier: MIT */
/* etcd_keys.h -- the keys of a lock in etcd: to put one, to see where it stands, to delete it.
 *
 * The key with the lowest create revision holds.  A key of another lock, or of no lock, may lie
 * in the same prefix, and does not count.
 *
 * Threads     Any. */
#ifndef DLOCK_ETCD_KEYS_H
#define DLOCK_ETCD_KEYS_H

#include "lock/stores/etcd_answers.h"
#include "lock/stores/etcd_http.h"

struct etcd_keys; /* the questions of a system; opaque */

/* NULL: no memory. */
struct etcd_keys *etcd_keys_open(struct etcd_http *http);
void etcd_keys_close(struct etcd_keys *keys);

/* What was seen of a key, at a revision. */
struct etcd_sight {
    uint64_t revision;
    uint64_t created; /* 0: the key is not there                             */
    uint64_t before;  /* the lease of the key before it; 0: the key is first */
    int64_t ahead;    /* at most so many keys are before it; -1: not known   */
};

/* The keys that a lock has left after one of them was deleted. */
struct etcd_parting {
    uint64_t revision;      /* of the deletion                                             */
    uint64_t first_created; /* the create revision of the first key left; 0: none, or not
                             * known                                                       */
};

/* One key, as etcd_keys_list() reads it. */
struct etcd_listed {
    uint64_t lease, created;
    char owner[DLOCK_OWNER_MAX + 1]; /* its value: "" of a key of etcd's own recipe */
};

/* Put the key, whose text is `owner`, if the lock has no key, or if the key `waits`; a copy of
 * the request changes nothing more.  All in one transaction.
 *   OK        *out is what is seen of the key.  Its `created` and `before` are both 0 if a key
 *             that does not wait was kept out by keys that are none of the lock's
 *   LOST      its lease has ended
 *   IO, UNKNOWN, PROTOCOL, NOMEM   after IO and NOMEM the key is not there
 * *was_repeated: a copy of the request may still arrive, so the lease must serve no other key. */
dlock_status etcd_key_put(struct etcd_keys *keys, const struct etcd_key *key,
                          const char *owner, bool waits, int64_t give_up_ns,
                          struct etcd_sight *out, bool *was_repeated);

/* Where does the key stand now?  OK, or a failure. */
dlock_status etcd_key_look(struct etcd_keys *keys, const struct etcd_key *key,
                           int64_t give_up_ns, struct etcd_sight *out);

/* Delete the key that was created so, and look for the first one that is left if `looks`.  OK,
 * and *out says when; LOST: the key is not there; or a failure: after UNKNOWN it may be
 * deleted. */
dlock_status etcd_key_delete(struct etcd_keys *keys, const struct etcd_key *key, bool looks,
                             int64_t give_up_ns, struct etcd_parting *out);

/* The number of keys of the lock, and the first of them if there is one.  OK, or a failure. */
dlock_status etcd_keys_list(struct etcd_keys *keys, const char *name,
                            struct etcd_listed *first, int *count);

/* Can etcd answer, which needs a majority of its members?  OK, or a failure. */
dlock_status etcd_keys_check(struct etcd_keys *keys);

#endif /* DLOCK_ETCD_KEYS_H */

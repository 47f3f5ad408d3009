/* SPDX-License-Identifier: MIT */
/* etcd_keys.h -- the keys of a lock in etcd: putting one, finding its place in the
 * queue, deleting it.
 *
 * The key with the lowest create revision holds the lock.  Keys of other locks, and
 * keys that belong to no lock, may have the same prefix, and do not count.
 *
 * Threads     Any. */
#ifndef DLOCK_ETCD_KEYS_H
#define DLOCK_ETCD_KEYS_H

#include "lock/stores/etcd_answers.h"
#include "lock/stores/etcd_http.h"

struct etcd_keys; /* of one system; opaque */

/* NULL: no memory. */
struct etcd_keys *etcd_keys_open(struct etcd_http *http);
void etcd_keys_close(struct etcd_keys *keys);

/* The place of a key in the queue, at a revision. */
struct etcd_sight {
    uint64_t revision;
    uint64_t created; /* 0: the key is not there                             */
    uint64_t before;  /* the lease of the key before it; 0: the key is first */
    int64_t ahead;    /* an upper limit for the number of keys before it; -1: not
                       * known                                               */
};

/* The state of a lock after one of its keys was deleted. */
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

/* Put the key with the value `owner`, if the lock has no key, or if the claim `waits`.
 * One transaction does all of it, and a copy of the request changes nothing more.
 *   OK        *out is the place of the key.  `created` and `before` are both 0 if the
 *             claim does not wait and keys that do not belong to the lock kept it out
 *   LOST      the lease of the key has ended
 *   IO, UNKNOWN, PROTOCOL, NOMEM   after IO and NOMEM the key is not there
 * *was_repeated: a copy of the request may still arrive, so the lease must not be used
 * for another key. */
dlock_status etcd_key_put(struct etcd_keys *keys, const struct etcd_key *key,
                          const char *owner, bool waits, int64_t give_up_ns,
                          struct etcd_sight *out, bool *was_repeated);

/* Read the place of the key into *out.  OK, or a failure. */
dlock_status etcd_key_look(struct etcd_keys *keys, const struct etcd_key *key,
                           int64_t give_up_ns, struct etcd_sight *out);

/* Does each of the keys still exist?  At most DLOCK_RENEW_ALL_MAX, by one request.  OK, or
 * a failure. */
dlock_status etcd_keys_exist(struct etcd_keys *keys, const struct etcd_key *all, size_t count,
                             int64_t give_up_ns, bool *exist);

/* Delete the key with the create revision key->created.  `looks`: also read which key
 * is then the first.  OK: *out has the revision of the deletion.  LOST: there is no
 * such key.  Or a failure: after UNKNOWN the key may be deleted. */
dlock_status etcd_key_delete(struct etcd_keys *keys, const struct etcd_key *key, bool looks,
                             int64_t give_up_ns, struct etcd_parting *out);

/* Read the number of keys of the lock into *count, and the first key, if there is one,
 * into *first.  OK, or a failure. */
dlock_status etcd_keys_list(struct etcd_keys *keys, const char *name,
                            struct etcd_listed *first, int *count);

/* Ask etcd for an answer that needs a majority of its members.  OK, or a failure. */
dlock_status etcd_keys_check(struct etcd_keys *keys);

#endif /* DLOCK_ETCD_KEYS_H */

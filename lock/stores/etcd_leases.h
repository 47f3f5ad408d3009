/* SPDX-License-Identifier: MIT */
/* etcd_leases.h -- etcd's leases for the keys of locks.  A lease serves one key at a
 * time.
 *
 * Granting a lease and revoking it each cost a write of the whole cluster.  So a lease
 * whose key was deleted is kept for the next key. etcd counts whole seconds.  A lease
 * is granted for lease_ms and half a second more, rounded up, so that a lease that was
 * renewed a moment ago need not be renewed for the next key.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_ETCD_LEASES_H
#define DLOCK_ETCD_LEASES_H

#include "lock/stores/etcd_http.h"

struct etcd_leases; /* of a system; opaque */

struct etcd_lease {
    uint64_t id;        /* 0: none */
    int64_t asked_s;
    int64_t ttl_ms;     /* as etcd granted it, at least asked_s */
    int64_t renewed_ns; /* when the last answered renewal was sent */
};

/* NULL: no memory. */
struct etcd_leases *etcd_leases_open(struct etcd_http *http);

/* Revoke the idle leases, as long as etcd answers at once, and free the memory.  The
 * other leases end by themselves. */
void etcd_leases_close(struct etcd_leases *leases);

/* Take an idle lease, or have etcd grant a new one; *out lasts at least lease_ms from
 * now.  OK; IO, PROTOCOL, NOMEM: *out is no lease. */
dlock_status etcd_lease_take(struct etcd_leases *leases, int lease_ms, int64_t give_up_ns,
                             struct etcd_lease *out);

/* Give a lease back for the next key.  It has no key any more, and no request that
 * names it is under way. */
void etcd_lease_give(struct etcd_leases *leases, const struct etcd_lease *lease);

/* Renew the lease: it lasts its whole time from now.  OK; LOST: it has ended; or a
 * failure. */
dlock_status etcd_lease_renew(struct etcd_leases *leases, struct etcd_lease *lease,
                              int64_t give_up_ns);

/* The same for at most DLOCK_RENEW_ALL_MAX leases by one request.  IO: etcd ended its
 * answers before this lease. */
void etcd_lease_renew_all(struct etcd_leases *leases, struct etcd_lease *const *all,
                          size_t count, int64_t give_up_ns, dlock_status *statuses);

/* Revoke the lease, and with it its key.  A request that names the lease and is still
 * under way then has no effect.  OK; LOST: it had ended; or a failure. */
dlock_status etcd_lease_end(struct etcd_leases *leases, uint64_t id, int64_t give_up_ns);

/* Note that the lease could not be revoked now.  The next etcd_lease_take() or
 * etcd_lease_pay() revokes it when etcd answers again. */
void etcd_lease_owe(struct etcd_leases *leases, uint64_t id);

/* Revoke one of the noted leases, if there is one and the pause since the last failure
 * has passed. */
void etcd_lease_pay(struct etcd_leases *leases, int64_t give_up_ns);

/* Read the whole seconds until etcd ends the lease into *left_s; -1: it has ended.  OK,
 * or a failure. */
dlock_status etcd_lease_look(struct etcd_leases *leases, uint64_t id, int64_t *left_s);

/* Does the lease last at least until `until_ns`?  Sends nothing: computed from the last
 * answered renewal. */
bool etcd_lease_lasts(const struct etcd_lease *lease, int64_t until_ns);

#endif /* DLOCK_ETCD_LEASES_H */

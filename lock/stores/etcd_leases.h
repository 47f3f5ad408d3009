/* SPDX-License-Identifier: MIT */
/* etcd_leases.h -- the leases that keys of locks live with; one serves one key at a time.
 *
 * To grant and to revoke a lease costs a write of the whole cluster each.  So a lease whose key
 * was deleted is kept, and serves the next key.  etcd counts in whole seconds: a lease is
 * granted for its time and half a second more, rounded up, so that a lease that was renewed a
 * moment ago need not be renewed for the next key.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_ETCD_LEASES_H
#define DLOCK_ETCD_LEASES_H

#include "lock/stores/etcd_http.h"

struct etcd_leases; /* of a system; opaque */

struct etcd_lease {
    uint64_t id;        /* 0: none */
    int64_t asked_s;
    int64_t ttl_ms;     /* as granted, which may be more */
    int64_t renewed_ns; /* when the last renewal that was answered was sent */
};

/* NULL: no memory. */
struct etcd_leases *etcd_leases_open(struct etcd_http *http);

/* Revokes the idle leases, as far as etcd answers at once; the rest ends by itself. */
void etcd_leases_close(struct etcd_leases *leases);

/* Get a lease without a key, which lasts lease_ms from now.  OK; IO, PROTOCOL, NOMEM. */
dlock_status etcd_lease_take(struct etcd_leases *leases, int lease_ms, int64_t give_up_ns,
                             struct etcd_lease *out);

/* The lease has no key any more, and no request with it is under way. */
void etcd_lease_give(struct etcd_leases *leases, const struct etcd_lease *lease);

/* Let the lease last its whole time from now.  OK; LOST: it has ended; or a failure. */
dlock_status etcd_lease_renew(struct etcd_leases *leases, struct etcd_lease *lease,
                              int64_t give_up_ns);

/* End the lease with its key, so that also a request with it that is under way comes to
 * nothing.  OK; LOST: it had ended; or a failure. */
dlock_status etcd_lease_end(struct etcd_leases *leases, uint64_t id, int64_t give_up_ns);

/* The lease could not be ended now: end it when etcd answers again, with the next lease that is
 * taken, or with the next etcd_lease_pay(). */
void etcd_lease_owe(struct etcd_leases *leases, uint64_t id);

/* End one of the leases that are owed, if there is one and it is time to try again. */
void etcd_lease_pay(struct etcd_leases *leases, int64_t give_up_ns);

/* The whole seconds until etcd ends the lease; -1: it has ended.  OK, or a failure. */
dlock_status etcd_lease_look(struct etcd_leases *leases, uint64_t id, int64_t *left_s);

/* Does the lease last at least until then, whatever the other members do?  Asks nobody. */
bool etcd_lease_lasts(const struct etcd_lease *lease, int64_t until_ns);

#endif /* DLOCK_ETCD_LEASES_H */

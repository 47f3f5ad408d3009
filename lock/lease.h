/* SPDX-License-Identifier: MIT */
/* lease.h -- when a lease ends, and what a hold is to the store and to the caller. */
#ifndef DLOCK_LEASE_H
#define DLOCK_LEASE_H

#include "lock/system.h"

/* When a lease of `lease_ms` ends for which the request was sent at `sent_ns`. */
int64_t dlock_lease_end_ns(const dlock_system *sys, int lease_ms, int64_t sent_ns);

/* When the watchdog has to renew it. */
int64_t dlock_renew_due_ns(const dlock_system *sys, int lease_ms, int64_t sent_ns);

/* The claim that belongs to a hold.  The claim points into `facts`. */
dlock_claim dlock_claim_of(const dlock_system *sys,
                           const struct dlock_hold_facts *facts, int level);

/* Fill in what a lease shows. */
void dlock_lease_fill(dlock_lease *lease, const dlock_claim *claim,
                      int64_t deadline_ns, uint64_t id);

/* INVALID, with the reason: the caller's lease is none, or another thread's. */
dlock_status dlock_lease_refuse(void);

#endif /* DLOCK_LEASE_H */

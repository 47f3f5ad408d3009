/* SPDX-License-Identifier: MIT */
/* lease.h -- the deadline of a lease, and a hold as the claim for the store and as the
 * lease for the caller. */
#ifndef DLOCK_LEASE_H
#define DLOCK_LEASE_H

#include "lock/system.h"

/* The deadline of a lease of `lease_ms` whose request was sent at `sent_ns`; INT64_MAX:
 * it never ends. */
int64_t dlock_lease_end_ns(const dlock_system *sys, int lease_ms, int64_t sent_ns);

/* The instant at which the watchdog renews this lease, or probes its session. */
int64_t dlock_renew_due_ns(const dlock_system *sys, int lease_ms, int64_t sent_ns);

/* The claim that belongs to a hold.  The claim points into `facts`. */
dlock_claim dlock_claim_of(const dlock_system *sys,
                           const struct dlock_hold_facts *facts, int level);

/* Fill in every field of *lease. */
void dlock_lease_fill(dlock_lease *lease, const dlock_claim *claim,
                      int64_t deadline_ns, uint64_t id);

/* Answer INVALID, with the reason that the lease was never granted, is released, or is
 * another thread's. */
dlock_status dlock_lease_refuse(void);

/* Renew leases, for their owner and for the watchdog: call the slot `renew` of the variant for one
 * claim, or `renew_all` for at most DLOCK_RENEW_ALL_MAX that are renewed together; and count the
 * renewals in the metrics.  Answers as the slots. */
void dlock_renew_claims(dlock_system *sys, bool together, const dlock_claim *claims, size_t count,
                        dlock_status *statuses);

#endif /* DLOCK_LEASE_H */

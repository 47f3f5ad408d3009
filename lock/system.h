/* SPDX-License-Identifier: MIT */
/* system.h -- what the files of the core share: the system itself. */
#ifndef DLOCK_SYSTEM_H
#define DLOCK_SYSTEM_H

#include "lock/dlock_variant.h"
#include "lock/holds.h"

enum { DLOCK_UUID_LEN = 36 };

struct dlock_watchdog;

struct dlock_system {
    const dlock_variant *variant;
    void *state;             /* the variant's */
    dlock_options opts;      /* strings copied; see options.h */
    unsigned generation;     /* of the process that may use it; see fork.h */
    char uuid[DLOCK_UUID_LEN + 1];
    struct dlock_holds *holds;
    struct dlock_watchdog *watchdog; /* NULL: nothing to renew, nobody to tell */
};

/* When a lease ends for which the request was sent at `sent_ns`. */
int64_t dlock_lease_end_ns(const dlock_system *sys, int64_t sent_ns);

/* When the watchdog has to renew it. */
int64_t dlock_renew_due_ns(const dlock_system *sys, int64_t sent_ns);

/* The claim that belongs to a hold.  It points into `facts`. */
dlock_claim dlock_claim_of(const dlock_system *sys,
                           const struct dlock_hold_facts *facts, int level);

/* Fill in what a lease shows. */
void dlock_lease_fill(dlock_lease *lease, const dlock_claim *claim,
                      int64_t deadline_ns, uint64_t id);

#endif /* DLOCK_SYSTEM_H */

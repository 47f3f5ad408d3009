/* SPDX-License-Identifier: MIT */
/* system.h -- what the files of the core share: the system itself. */
#ifndef DLOCK_SYSTEM_H
#define DLOCK_SYSTEM_H

#include <pthread.h>

#include "lock/dlock_variant.h"
#include "lock/holds.h"
#include "lock/metrics.h"
#include "lock/retry.h"

enum { DLOCK_UUID_LEN = 36 };

struct dlock_recorder;
struct dlock_watchdog;

struct dlock_system {
    const dlock_variant *variant;
    void *state;             /* the variant's */
    dlock_options opts;      /* strings copied; see options.h */
    unsigned generation;     /* of the process that may use it; see fork.h */
    char uuid[DLOCK_UUID_LEN + 1];
    struct dlock_retry retry; /* opts.retry */
    struct dlock_holds *holds;
    struct dlock_watchdog *_Atomic watchdog; /* NULL: nothing to renew, nobody to tell */
    _Atomic int lost_fd_plus_1; /* 0: there is none */
    pthread_mutex_t starting; /* the watchdog, or lost_fd */
    struct dlock_recorder *recorder; /* NULL: nothing is recorded */
    struct dlock_tally metrics;
};

/* OK if the calling process may use `sys`. */
dlock_status dlock_system_check(const dlock_system *sys);

/* When a lease of `lease_ms` ends for which the request was sent at `sent_ns`. */
int64_t dlock_lease_end_ns(const dlock_system *sys, int lease_ms, int64_t sent_ns);

/* When the watchdog has to renew it. */
int64_t dlock_renew_due_ns(const dlock_system *sys, int lease_ms, int64_t sent_ns);

/* The variant's renew, counted. */
dlock_status dlock_renew_claim(dlock_system *sys, const dlock_claim *claim);

/* The claim that belongs to a hold.  It points into `facts`. */
dlock_claim dlock_claim_of(const dlock_system *sys,
                           const struct dlock_hold_facts *facts, int level);

/* Fill in what a lease shows. */
void dlock_lease_fill(dlock_lease *lease, const dlock_claim *claim,
                      int64_t deadline_ns, uint64_t id);

#endif /* DLOCK_SYSTEM_H */

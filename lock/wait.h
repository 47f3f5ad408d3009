/* SPDX-License-Identifier: MIT */
/* wait.h -- waiting for a lock: making attempts until an attempt is granted or the wait
 * has to end. */
#ifndef DLOCK_WAIT_H
#define DLOCK_WAIT_H

#include "lock/dlock_variant.h"
#include "lock/retry.h"

/* Make one attempt.  *free_in_ms is then the time until the holder's lease ends; -1:
 * unknown. */
typedef dlock_status dlock_attempt_fn(void *arg, int64_t *free_in_ms);

struct dlock_waiting {
    const dlock_variant *variant;
    void *state;                     /* the variant's */
    const dlock_claim *claim;        /* the claim of the last attempt */
    const struct dlock_retry *retry;
    const dlock_cancel *cancel;      /* may be NULL */
    bool counts_twice; /* after UNKNOWN the attempt cannot be taken back, and another
                        * attempt might count twice, so UNKNOWN ends the wait */
    int64_t until_ns;                /* 0: one attempt; INT64_MAX: wait for ever */
    dlock_attempt_fn *attempt;
    void *arg;
    /* The results. */
    int64_t free_in_ms;
    unsigned try_count;
    unsigned wake_count;             /* how often the variant's sleep ended by a
                                      * wake-up                                  */
    unsigned useless_wake_count;     /* how often the next attempt was BUSY all the
                                      * same                                     */
};

/* Make attempts until one answers something else than BUSY, IO or UNKNOWN, until the
 * time or the attempts are used up, or until the wait is cancelled.  Returns CANCELLED,
 * or the answer of the last attempt, with TIMEOUT in place of BUSY; BUSY only if the
 * policy or until_ns allows one attempt alone.  OK: the caller has the lock, even if
 * the wait was cancelled meanwhile. */
dlock_status dlock_wait(struct dlock_waiting *w);

#endif /* DLOCK_WAIT_H */

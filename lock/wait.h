/* SPDX-License-Identifier: MIT */
/* wait.h -- waiting for a lock: when to try again. */
#ifndef DLOCK_WAIT_H
#define DLOCK_WAIT_H

#include "lock/dlock_variant.h"
#include "lock/retry.h"

/* Make an attempt; *free_in_ms is then when the holder's lease ends, -1 if unknown. */
typedef dlock_status dlock_attempt_fn(void *arg, int64_t *free_in_ms);

struct dlock_waiting {
    const dlock_variant *variant;
    void *state;                     /* the variant's */
    const dlock_claim *claim;        /* that of the last attempt */
    const struct dlock_retry *retry;
    const dlock_cancel *cancel;      /* may be NULL */
    bool counts_twice; /* an attempt that is UNKNOWN cannot be taken back, and another one
                        * might count a second time: it ends the wait */
    int64_t until_ns;                /* 0: one attempt; INT64_MAX: wait for ever */
    dlock_attempt_fn *attempt;
    void *arg;
    /* The results. */
    int64_t free_in_ms;
    unsigned try_count;
    unsigned wake_count;             /* the variant's sleep ended by being woken */
    unsigned useless_wake_count;     /* and then it was BUSY all the same        */
};

/* Attempt until the answer is not BUSY, IO or UNKNOWN, or the time or the tries have run
 * out, or it is cancelled.  Answers what the last attempt did, TIMEOUT instead of BUSY, or
 * CANCELLED; BUSY only if there was but one attempt to be made.  A lock that an attempt was granted
 * is the caller's, also if the wait has been cancelled meanwhile. */
dlock_status dlock_wait(struct dlock_waiting *w);

#endif /* DLOCK_WAIT_H */

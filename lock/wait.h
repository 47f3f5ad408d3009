/* SPDX-License-Identifier: MIT */
/* wait.h -- waiting for a lock: when to try again. */
#ifndef DLOCK_WAIT_H
#define DLOCK_WAIT_H

#include "lock/dlock_variant.h"

/* One attempt; *free_in_ms is then when the holder's lease ends, -1 if unknown. */
typedef dlock_status dlock_attempt_fn(void *arg, int64_t *free_in_ms);

/* Attempt until the answer is not BUSY, or wait_ms have passed (0: one attempt;
 * negative: for ever).  `claim` is that of the last attempt.  Answers what the last
 * attempt did, or TIMEOUT. */
dlock_status dlock_wait(const dlock_variant *variant, void *state,
                        const dlock_claim *claim, int64_t wait_ms,
                        dlock_attempt_fn *attempt, void *arg);

#endif /* DLOCK_WAIT_H */

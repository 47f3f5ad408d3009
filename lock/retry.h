/* SPDX-License-Identifier: MIT */
/* retry.h -- when a waiter tries again: the policies, as text and as numbers.
 *
 *     none                     one attempt, however long the caller would wait
 *     push                     wait as the variant can: for a message of a release,
 *                              with an attempt every few hundred ms besides; or in its
 *                              store; or by its own back-off.  The default
 *     fixed:TIME               pause TIME between attempts
 *     exponential:TIME..TIME   pause the first TIME, and double the pause after each
 *                              attempt, up to the second TIME
 *
 * The last two may be followed, in any order, by
 *
 *     ,xN                      no more than N attempts, the first one counted
 *     ,jitter:N%               each pause is shorter by a random part of up to N
 *                              hundredths (0 to 100; 20 unless told), so that waiters
 *                              that began together spread out
 *
 * A TIME is a whole number with the unit ms, s or m, from 1 ms to an hour.  Example:
 * fixed:100ms,x20,jitter:50%
 *
 * A fair variant keeps the place of a waiter for about 1.5 s after each of its
 * attempts.  So with a fair variant no pause is longer than DLOCK_RETRY_FAIR_MAX_MS: no
 * waiter loses its place because of its policy, and the first of the queue delays the
 * others by that time at most. */
#ifndef DLOCK_RETRY_H
#define DLOCK_RETRY_H

#include "lock/status.h"

enum { DLOCK_RETRY_FAIR_MAX_MS = 500 };

enum dlock_retry_kind {
    DLOCK_RETRY_PUSH,
    DLOCK_RETRY_NONE,
    DLOCK_RETRY_FIXED,
    DLOCK_RETRY_EXPONENTIAL,
};

struct dlock_retry {
    enum dlock_retry_kind kind;
    int first_ms;       /* pauses: of FIXED and EXPONENTIAL; both are the same for FIXED */
    int max_ms;
    int jitter_percent;
    unsigned tries_max; /* 0: no limit */
};

/* Read a policy; NULL is push.  OK, or INVALID with what is wrong and what is
 * expected. */
dlock_status dlock_retry_parse(const char *text, struct dlock_retry *out);

/* The pause before the `nth` attempt after the first (from 1), drawn at random. */
int64_t dlock_retry_pause_ns(const struct dlock_retry *retry, unsigned nth);

#endif /* DLOCK_RETRY_H */

/* SPDX-License-Identifier: MIT */
/* load_state.h -- the phase of a load and its counts, as the load tells them. */
#ifndef LOADTEST_LIVE_LOAD_STATE_H
#define LOADTEST_LIVE_LOAD_STATE_H

#include <stdint.h>

#include "loadtest/kit/buckets.h"

enum live_phase { LIVE_STARTING, LIVE_SELLING, LIVE_DRAINING, LIVE_JUDGING };

/* Each count is of the whole run so far. */
struct live_counts {
    int64_t sent, answered, accepted, sold_out;
    int64_t buckets[BUCKETS]; /* latencies                                             */
    int dead;                 /* processes of the service that have ended               */
};

#endif /* LOADTEST_LIVE_LOAD_STATE_H */

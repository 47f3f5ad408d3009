/* SPDX-License-Identifier: MIT */
/* stalls.h -- stalls of a background load: one of its processes is stopped, or one of its
 * wires lets nothing through, each time for far less than a lease.
 *
 * Stalls break nothing that a lease stands on, so they excuse nothing: if a background load is
 * not clean under stalls, its lock did not exclude. */
#ifndef LOADTEST_SCENARIO_BACKGROUND_STALLS_H
#define LOADTEST_SCENARIO_BACKGROUND_STALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stage;
struct stage_process;
struct stalls; /* opaque */

/* Make as many as the stage's variation says, one after another, in a thread of their own.
 * The processes (`count` of them) and their wires have to stay until stalls_end(), and
 * nobody else may stop them.  They are recorded in `records`, beside the processes' calls.
 * NULL: said on stderr why. */
struct stalls *stalls_begin(const struct stage *s, struct stage_process *processes,
                            int count, const char *records);

/* Wait until the last one is over, or, if `early`, the present one; nothing is stopped
 * or held after it.  NULL is fine: there were none.  Answers how many came about: those
 * of wires count when something was held.  -1: one could not be made, and why (`size`
 * bytes) says the reason. */
int64_t stalls_end(struct stalls *stalls, bool early, char *why, size_t size);

#endif /* LOADTEST_SCENARIO_BACKGROUND_STALLS_H */

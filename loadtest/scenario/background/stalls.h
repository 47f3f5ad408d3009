/* SPDX-License-Identifier: MIT */
/* stalls.h -- what a crowd has to outlast: now one of its processes stands still,
 * now nothing passes one of its wires, each time for far less than a lease.
 *
 * They break nothing that a lease stands on, and so they excuse nothing: a crowd that is
 * not clean under them was not kept apart by its lock. */
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

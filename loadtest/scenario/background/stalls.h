/* SPDX-License-Identifier: MIT */
/* stalls.h -- stalls of a background load: one of its processes is stopped, or one of its wires
 * lets nothing through, each time for far less than a lease.
 *
 * A stall breaks no assumption of a lease, so it explains no violation: a violation of the
 * background load under stalls alone is the lock's. */
#ifndef LOADTEST_SCENARIO_BACKGROUND_STALLS_H
#define LOADTEST_SCENARIO_BACKGROUND_STALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stage;
struct stage_process;
struct stalls; /* opaque */

/* Start a thread that makes the stalls of the stage's variation, one after another.  The `count`
 * processes and their wires must exist until stalls_end(), and no other code may stop them.  The
 * stalls are recorded in `records`, beside the processes' calls.  NULL: the reason is on stderr. */
struct stalls *stalls_begin(const struct stage *s, struct stage_process *processes,
                            int count, const char *records);

/* Wait for the end of the last stall, or, if `early`, of the present one.  No process is stopped
 * and no wire is held afterwards.  Answers the number of stalls; a stall of a wire counts if the
 * wire held bytes.  NULL: 0.  -1: a stall failed, and why (`size` bytes) has the reason. */
int64_t stalls_end(struct stalls *stalls, bool early, char *why, size_t size);

#endif /* LOADTEST_SCENARIO_BACKGROUND_STALLS_H */

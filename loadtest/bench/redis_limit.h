/* SPDX-License-Identifier: MIT */
/* redis_limit.h -- the limit of a Redis server, by redis-benchmark. */
#ifndef LOADTEST_BENCH_REDIS_LIMIT_H
#define LOADTEST_BENCH_REDIS_LIMIT_H

#include "base/text/exit_codes.h"
#include "loadtest/lab/lab.h"
#include "loadtest/probe/lock_commands.h"

struct limit_plan {
    const struct lab *lab;
    const struct recipe *recipe;
    int connections;
    int pipeline; /* commands that a connection sends before it reads an answer     */
    int64_t duration_ms; /* about so long, of both commands together                */
    double expected_per_s; /* commands: how many to send                            */
};

/* redis-benchmark with the acquires of a lock, then with its releases, each on a name
 * of its own, in the bench's database of the lab's first Redis server, which is empty
 * afterwards.  *pairs_per_s is how many of both fit into a second, one after the other.
 * A fifth of the releases finds nothing to release, which is less work: the limit is
 * rather too high than too low. */
enum exit_code limit_measure(const struct limit_plan *plan, double *pairs_per_s);

#endif /* LOADTEST_BENCH_REDIS_LIMIT_H */

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
    int64_t duration_ms; /* of both commands together, about                        */
    double expected_per_s; /* commands; decides how many commands are sent          */
};

/* Run redis-benchmark with the acquires of a lock, and then with its releases, each command on a
 * name of its own, in the bench's database of the lab's first Redis server.  The database is
 * empty afterwards.  *pairs_per_s is the number of pairs that the server would execute in a
 * second.  A fifth of the releases finds no lock, which is less work, so the limit is rather too
 * high than too low. */
enum exit_code limit_measure(const struct limit_plan *plan, double *pairs_per_s);

#endif /* LOADTEST_BENCH_REDIS_LIMIT_H */

/* SPDX-License-Identifier: MIT */
/* store_probe.h -- measure the round trip to a lock's store.
 *
 * Threads     A probe belongs to one thread.
 * Errors      A call that fails says why on stderr.
 */
#ifndef LOADTEST_BENCH_STORE_PROBE_H
#define LOADTEST_BENCH_STORE_PROBE_H

#include "loadtest/bench/locks.h"

struct store_probe; /* a connection to the store */

/* Connect to the store of `variant`: to all its servers, if there are several.  NULL: the
 * connection failed. */
struct store_probe *store_probe_open(const struct bench_locks *b, const char *variant);
/* NULL is fine. */
void store_probe_close(struct store_probe *probe);

/* The duration of the smallest request, the unit in which hand-overs are counted: PING
 * over a blocking connection for Redis, SELECT 1 for PostgreSQL, and for any other
 * store what dlock_check() asks it.  -1: failed. */
int64_t store_probe_trip_ns(struct store_probe *probe);

/* The name of that smallest request, such as "PING". */
const char *store_probe_question(const char *variant);

#endif /* LOADTEST_BENCH_STORE_PROBE_H */

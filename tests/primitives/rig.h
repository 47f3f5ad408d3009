/* SPDX-License-Identifier: MIT */
/* rig.h -- what the tests of the primitives stand on: that of the conformance suite, a
 * Redis of each test's own, and calls on other threads. */
#ifndef TESTS_PRIMITIVES_RIG_H
#define TESTS_PRIMITIVES_RIG_H

#include "lock/dlock_primitives.h"
#include "tests/conformance/rig.h"
#include "tests/conformance/servers.h"

enum { TIMEOUT_MS = 10000, LONG_LEASE_MS = 60000 };
#define SHORT_TIMEOUT_MS STRETCHED(150)

/* A cmocka test with a server of its own, which servers_tell(0, ...) speaks to; and what
 * it presumes of the machine is as that of a law (see premise.h). */
struct prim_test {
    const char *name;
    void (*test)(void **state);
};
#define PRIM_TEST(test)                                                                \
    {                                                                                  \
        #test, prim_run, NULL, prim_reset, &(struct prim_test){#test, test}            \
    }
void prim_run(void **state);
int prim_reset(void **state);

/* Open it; closed after the test. */
dlock_primitives *prim_open(int timeout_ms);

/* A listener of its own on a channel, and the next message it hears. */
redisContext *prim_listen(const char *channel);
void prim_hear(redisContext *listener, const char *message);
void prim_hang_up(redisContext *listener);

/* The number of connections that listen on a channel. */
long long prim_listeners(const char *channel);

/* A call on a thread of its own. */
struct prim_call;
struct prim_call *prim_begin(dlock_status (*call)(void *arg), void *arg);
bool prim_is_done(const struct prim_call *call);
dlock_status prim_end(struct prim_call *call); /* waits for it */

/* How a thread takes a permit, counts those that are left, and gives its own back. */
struct prim_entry {
    dlock_status (*take)(dlock_primitives *prims, dlock_permit *out);
    dlock_status (*count)(dlock_primitives *prims, int64_t *out);
    dlock_status (*give)(dlock_primitives *prims, const dlock_permit *permit);
    int turns; /* of each thread */
};

/* Let so many threads go in and out, half of them by each of `prims`; every call has to answer OK.
 * The largest number of threads that were inside at once. */
int prim_most_inside(const struct prim_entry *entry, dlock_primitives *const prims[2],
                     int thread_count);

/* The tests, by file. */
extern const struct CMUnitTest prim_semaphore_tests[], prim_permits_tests[],
    prim_latch_tests[], prim_record_tests[];
extern const size_t prim_semaphore_count, prim_permits_count, prim_latch_count,
    prim_record_count;

#endif /* TESTS_PRIMITIVES_RIG_H */

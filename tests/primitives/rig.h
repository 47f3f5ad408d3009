/* SPDX-License-Identifier: MIT */
/* rig.h -- the common helpers of the tests of the primitives, on top of the helpers of the laws: a
 * Redis for each test, and calls on other threads. */
#ifndef TESTS_PRIMITIVES_RIG_H
#define TESTS_PRIMITIVES_RIG_H

#include "lock/dlock_primitives.h"
#include "tests/conformance/rig.h"
#include "tests/conformance/servers.h"

enum { TIMEOUT_MS = 10000, LONG_LEASE_MS = 60000 };
#define SHORT_TIMEOUT_MS STRETCHED(150)

/* A cmocka test with a server of its own, to which servers_tell(0, ...) sends commands. A test may
 * presume facts of the machine like a law (see tests/conformance/rig.h). */
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

/* Open the primitives, which are closed after the test. */
dlock_primitives *prim_open(int timeout_ms);

/* Subscribe to a channel on a connection of its own; and wait for its next message, which has to be
 * this one. */
redisContext *prim_listen(const char *channel);
void prim_hear(redisContext *listener, const char *message);
void prim_hang_up(redisContext *listener);

/* The number of connections that subscribe to a channel. */
long long prim_listeners(const char *channel);

/* A call on a thread of its own. */
struct prim_call;
struct prim_call *prim_begin(dlock_status (*call)(void *arg), void *arg);
bool prim_is_done(const struct prim_call *call);
dlock_status prim_end(struct prim_call *call); /* waits for the end of the call */

/* The functions by which a thread takes a permit, counts the free permits, and returns its
 * permit. */
struct prim_entry {
    dlock_status (*take)(dlock_primitives *prims, dlock_permit *out);
    dlock_status (*count)(dlock_primitives *prims, int64_t *out);
    dlock_status (*give)(dlock_primitives *prims, const dlock_permit *permit);
    int turns; /* the number of permits that each thread takes */
};

/* Let `thread_count` threads take and return permits, half of them with each of `prims`; every call
 * has to answer OK. Returns the largest number of threads that held a permit at once. */
int prim_most_inside(const struct prim_entry *entry, dlock_primitives *const prims[2],
                     int thread_count);

/* The tests, by file. */
extern const struct CMUnitTest prim_semaphore_tests[], prim_permits_tests[],
    prim_latch_tests[], prim_record_tests[];
extern const size_t prim_semaphore_count, prim_permits_count, prim_latch_count,
    prim_record_count;

#endif /* TESTS_PRIMITIVES_RIG_H */

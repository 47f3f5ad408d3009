/* SPDX-License-Identifier: MIT */
/* rig.h -- what the tests of the asynchronous interface stand on: that of the conformance
 * suite, an interface that is run in either way, and answers to wait for.
 *
 * Each test is run twice: by dlock_poll() and by a thread of the interface. */
#ifndef TESTS_ASYNC_RIG_H
#define TESTS_ASYNC_RIG_H

#include "lock/dlock_async.h"
#include "tests/conformance/rig.h"
#include "tests/conformance/servers.h"

enum { ASYNC_NAME_SIZE = 120 };

struct async_test {
    const char *name;
    void (*test)(void);
    bool has_thread;
    char title[ASYNC_NAME_SIZE];
};
#define ASYNC_TEST(it)                                                                 \
    {                                                                                  \
        .name = #it, .test = it                                                        \
    }

/* Of a file: its tests, ended by one without a name. */
extern struct async_test async_calls_tests[], async_refusals_tests[], async_trouble_tests[],
    async_many_tests[];

/* Run a test, its titles by the way it is run. */
void async_run(struct async_test *test);
void async_reset(void);

/* The options of `lua` on a server of the test's own, no watchdog. */
extern dlock_options async_opts;
extern bool async_has_thread;

/* Open a system and its interface, which are closed after the test.  No more than one of
 * each in a test, unless both are closed by async_close(). */
extern dlock_system *async_sys;
extern dlock_async *async_it;
void async_open(void);
void async_close(void);

/* An answer to come: one for each call.  Static, since a test that fails leaves its calls
 * behind, and they are answered when the interface is closed after it. */
struct async_answer {
    atomic_int count; /* how often it came */
    dlock_status status;
    dlock_lease lease;
    char error[256];
    uint64_t call;
};
void async_note(dlock_status st, dlock_lease *lease, void *answer);

/* Let the interface go on for a moment. */
void async_drive(void);

#define assert_driven(state)                                                           \
    do {                                                                               \
        int64_t give_up_ms_ = rig_now_ms() + PATIENCE_MS;                              \
        while (!(state)) {                                                             \
            if (rig_now_ms() > give_up_ms_) {                                          \
                print_error("did not come: %s\n", #state);                             \
                _fail(__FILE__, __LINE__);                                             \
            }                                                                          \
            async_drive();                                                             \
        }                                                                              \
    } while (0)

/* Ask; and wait for the answer. */
void async_ask(const char *name, int64_t wait_ms, struct async_answer *answer);
dlock_status async_acquire(const char *name, int64_t wait_ms, struct async_answer *answer);
dlock_status async_wait(struct async_answer *answer);
dlock_status async_release(const dlock_lease *lease);

/* Make a call with a lease. */
typedef dlock_status async_use(dlock_async *, const dlock_lease *, dlock_async_done *, void *);
dlock_status async_submit(async_use *use, const dlock_lease *lease,
                          struct async_answer *answer);

#endif /* TESTS_ASYNC_RIG_H */

/* SPDX-License-Identifier: MIT */
/* rig.h -- the common helpers of the tests of the asynchronous interface, on top of the helpers of
 * the laws.
 *
 * Each test is run twice: its interface is run by dlock_poll(), and by a thread of its own. */
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

/* The tests of each file; a test without a name ends the list. */
extern struct async_test async_calls_tests[], async_refusals_tests[], async_trouble_tests[],
    async_many_tests[];

/* Run a test. Its title says how the interface is run. */
void async_run(struct async_test *test);
void async_reset(void);

/* The options of `lua` on a server of this test, without a watchdog. */
extern dlock_options async_opts;
extern bool async_has_thread;

/* Open a system and its interface, which are closed after the test. A test may open one of each,
 * and another one only after async_close(). */
extern dlock_system *async_sys;
extern dlock_async *async_it;
void async_open(void);
void async_close(void);

/* The answer to a call; each call has its own. It must be static: a failed test leaves its calls
 * under way, and they are answered when the interface is closed after the test. */
struct async_answer {
    atomic_int count; /* the number of answers that came */
    dlock_status status;
    dlock_lease lease;
    char error[256];
    uint64_t call;
};
void async_note(dlock_status st, dlock_lease *lease, void *answer);

/* Poll the interface, or pause if a thread runs it. */
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

/* Begin an acquire; begin an acquire and wait for its answer; wait for an answer. */
void async_ask(const char *name, int64_t wait_ms, struct async_answer *answer);
dlock_status async_acquire(const char *name, int64_t wait_ms, struct async_answer *answer);
dlock_status async_wait(struct async_answer *answer);
dlock_status async_release(const dlock_lease *lease);

/* Make a call with a lease. */
typedef dlock_status async_use(dlock_async *, const dlock_lease *, dlock_async_done *, void *);
dlock_status async_submit(async_use *use, const dlock_lease *lease,
                          struct async_answer *answer);

#endif /* TESTS_ASYNC_RIG_H */

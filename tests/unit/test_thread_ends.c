/* SPDX-License-Identifier: MIT */
/* test_thread_ends.c -- threads that are cancelled in semaphores, permits, latches and the
 * asynchronous interface; and a jump out of a signal handler between two calls.  The laws have the
 * calls of dlock.h. */
#include <pthread.h>
#include <setjmp.h>

#include "lock/dlock_async.h"
#include "lock/dlock_primitives.h"
#include "tests/thread_end.h"
#include "tests/unit/redis_server.h"
#include "tests/unit/scratch.h"

enum { TIMEOUT_MS = 10000, WAIT_MS = 50, LEASE_MS = 60000 };

static int begin(void **state)
{
    (void)state;
    make_server();
    return 0;
}

static int end(void **state)
{
    (void)state;
    kill_server();
    scratch_remove(server.dir);
    return 0;
}

/* A cancel is pending while `calls` runs: the first point that permits it would end the thread. */
struct cancelled {
    dlock_status (*calls)(void);
    dlock_status status; /* of the last call */
    bool is_through;
};

static void *run_cancelled(void *arg)
{
    struct cancelled *it = arg;

    pthread_cancel(pthread_self());
    it->status = it->calls();
    it->is_through = true;
    thread_end_if_cancelled();
    return NULL;
}

static void assert_uncancelled(dlock_status (*calls)(void))
{
    struct cancelled it = {.calls = calls};
    pthread_t thread;
    void *how = NULL;

    assert_int_equal(0, pthread_create(&thread, NULL, run_cancelled, &it));
    pthread_join(thread, &how);
    assert_ptr_equal(PTHREAD_CANCELED, how);
    assert_true(it.is_through);
    assert_int_equal(DLOCK_OK, it.status);
}

/* ---- semaphores, permits, latches ---- */

static dlock_status use_primitives(void)
{
    dlock_primitives *prims = NULL;
    char dir[64];
    dlock_permit permit;
    int64_t number;
    dlock_status st = dlock_primitives_open(&prims, server.url, TIMEOUT_MS);

    if (st != DLOCK_OK)
        return st;
    snprintf(dir, sizeof(dir), "%s/record", server.dir);
    st = dlock_primitives_record(prims, dir);
    (void)!dlock_semaphore_set(prims, "seats", 1);
    (void)!dlock_semaphore_acquire(prims, "seats", 1, 0);
    (void)!dlock_semaphore_acquire(prims, "seats", 1, WAIT_MS);
    dlock_semaphore_release(prims, "seats", 1);
    (void)!dlock_semaphore_available(prims, "seats", &number);
    (void)!dlock_semaphore_drain(prims, "seats", &number);
    (void)!dlock_semaphore_add(prims, "seats", 1);
    (void)!dlock_permits_set(prims, "tills", 1);
    (void)!dlock_permits_acquire(prims, "tills", 0, LEASE_MS, &permit);
    (void)!dlock_permits_renew(prims, "tills", &permit, LEASE_MS);
    (void)!dlock_permits_available(prims, "tills", &number);
    (void)!dlock_permits_acquired(prims, "tills", &number);
    dlock_permits_release(prims, "tills", &permit);
    (void)!dlock_latch_set(prims, "doors", 1);
    (void)!dlock_latch_wait(prims, "doors", WAIT_MS);
    dlock_latch_count_down(prims, "doors", NULL);
    (void)!dlock_latch_count(prims, "doors", &number);
    dlock_latch_delete(prims, "doors");
    dlock_primitives_close(prims);
    return st;
}

TEST_WITH(begin, end, no_call_of_a_primitive_is_a_cancellation_point)
{
    assert_uncancelled(use_primitives);
    assert_int_equal(0, tell("EXISTS doors"));
    tell("DEL seats tills {tills}:timeout");
    assert_uncancelled(use_primitives);
}

/* ---- the asynchronous interface ---- */

static dlock_lease granted_lease;
static int done_count;

static void note_done(dlock_status st, dlock_lease *lease, void *arg)
{
    (void)arg;
    done_count += st == DLOCK_OK;
    granted_lease = *lease;
}

static void poll_until(dlock_async *async, int count)
{
    while (done_count < count && dlock_poll(async, TIMEOUT_MS) > 0)
        continue;
}

static dlock_status use_interface(void)
{
    dlock_options opts = dlock_options_default();
    dlock_async_owner *owner;
    dlock_async *async = NULL;
    dlock_system *sys = NULL;
    uint64_t call;
    dlock_status st;

    opts.redis_url = server.url;
    done_count = 0;
    st = dlock_open(&sys, &opts);
    if (st == DLOCK_OK)
        st = dlock_async_open(&async, sys, 0);
    if (st != DLOCK_OK)
        return st;
    owner = dlock_async_owner_new(async);
    st = dlock_async_acquire(async, "seat", NULL, owner, note_done, NULL, &call);
    poll_until(async, 1);
    (void)dlock_async_cancel(async, call);
    (void)!dlock_async_renew(async, &granted_lease, note_done, NULL);
    poll_until(async, 2);
    dlock_async_release(async, &granted_lease, note_done, NULL);
    poll_until(async, 3);
    dlock_async_owner_free(owner);
    dlock_async_close(async);
    dlock_close(sys);
    return done_count == 3 ? st : DLOCK_LOST;
}

TEST_WITH(begin, end, no_call_of_an_interface_is_a_cancellation_point)
{
    assert_uncancelled(use_interface);
}

/* ---- a jump between two calls ---- */

static sigjmp_buf before;

static void jump(int signal_number)
{
    (void)signal_number;
    siglongjmp(before, 1);
}

TEST_WITH(begin, end, a_handler_may_jump_out_of_the_program_itself)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys;
    dlock_lease lease;

    opts.redis_url = server.url;
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "seat", 0, &lease));
    signal(SIGUSR1, jump);
    if (sigsetjmp(before, 1) == 0) {
        raise(SIGUSR1);
        fail_msg("the handler has returned");
    }
    signal(SIGUSR1, SIG_DFL);
    assert_true(dlock_lease_valid(sys, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    dlock_close(sys);
}

/* SPDX-License-Identifier: MIT */
/* rig.c -- the common helpers of the tests of the asynchronous interface. */
#include "tests/async/rig.h"

#include <stdio.h>
#include <string.h>

dlock_options async_opts;
bool async_has_thread;
dlock_system *async_sys;
dlock_async *async_it;

void async_close(void)
{
    if (async_it != NULL)
        assert_status(OK, dlock_async_close(async_it));
    async_it = NULL;
    dlock_close(async_sys);
    async_sys = NULL;
}

void async_reset(void)
{
    servers_wake();
    async_close();
    rig_reset();
}

static struct async_test *running;

static void run_it(const char *unused)
{
    (void)unused;
    async_opts = rig_options("lua");
    async_has_thread = running->has_thread;
    servers_start(&async_opts);
    running->test();
}

void async_run(struct async_test *test)
{
    running = test;
    premise_run(test->title, run_it, NULL, async_reset);
}

void async_open(void)
{
    assert_comes(dlock_open(&async_sys, &async_opts) == DLOCK_OK);
    assert_status(OK, dlock_async_open(&async_it, async_sys,
                                       async_has_thread ? DLOCK_ASYNC_THREAD : 0));
}

void async_note(dlock_status st, dlock_lease *lease, void *arg)
{
    struct async_answer *answer = arg;

    answer->status = st;
    answer->lease = *lease;
    snprintf(answer->error, sizeof(answer->error), "%s", dlock_error());
    atomic_fetch_add(&answer->count, 1);
}

void async_drive(void)
{
    if (async_has_thread)
        rig_pause_ms(1);
    else
        assert_true(dlock_poll(async_it, 5) >= 0);
}

void async_ask(const char *name, int64_t wait_ms, struct async_answer *answer)
{
    dlock_request request = {.wait_ms = wait_ms};

    memset(answer, 0, sizeof(*answer));
    assert_status(OK, dlock_async_acquire(async_it, name, &request, NULL, async_note, answer,
                                          &answer->call));
}

dlock_status async_wait(struct async_answer *answer)
{
    assert_driven(atomic_load(&answer->count) > 0);
    assert_int_equal(1, atomic_load(&answer->count));
    return answer->status;
}

dlock_status async_acquire(const char *name, int64_t wait_ms, struct async_answer *answer)
{
    async_ask(name, wait_ms, answer);
    return async_wait(answer);
}

dlock_status async_submit(async_use *use, const dlock_lease *lease,
                          struct async_answer *answer)
{
    memset(answer, 0, sizeof(*answer));
    return use(async_it, lease, async_note, answer);
}

dlock_status async_release(const dlock_lease *lease)
{
    static struct async_answer answer;

    assert_status(OK, async_submit(dlock_async_release, lease, &answer));
    return async_wait(&answer);
}

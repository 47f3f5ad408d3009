/* SPDX-License-Identifier: MIT */
/* async.c -- the asynchronous interface of a system: opening, polling, closing.
 *
 * Each call is a fiber (base/os/loop.h) that makes the blocking call, so the code of
 * the calls exists once. */
#include <stdlib.h>

#include "base/os/clock.h"
#include "base/os/fork.h"
#include "base/os/thread.h"
#include "lock/async_inside.h"
#include "lock/process.h"
#include "lock/store.h"

dlock_status dlock_async_check(const dlock_async *async)
{
    if (async == NULL)
        return dlock_fail(DLOCK_INVALID, "no asynchronous interface was given");
    return dlock_system_check(async->sys);
}

/* ---- the thread that runs the loop ---- */

/* The address of this variable identifies a thread. */
static _Thread_local char mark;

/* Run a turn of the loop, as a thread of the system's process. */
static void turn(dlock_async *async, int64_t until_ns)
{
    struct dlock_process *before = dlock_process_here();

    dlock_process_enter(async->sys->process);
    dlock_loop_turn(async->loop, until_ns);
    dlock_process_enter(before);
}

static bool is_ended(const dlock_async *async)
{
    return async->is_stopping && atomic_load(&async->call_count) == 0;
}

static void *run(void *arg)
{
    dlock_async *async = arg;

    while (!is_ended(async))
        turn(async, INT64_MAX);
    return NULL;
}

/* May the calling thread run the interface?  OK, or INVALID with the reason. */
static dlock_status check_poller(dlock_async *async)
{
    const void *nobody = NULL;
    dlock_status st = dlock_async_check(async);

    if (st != DLOCK_OK)
        return st;
    if (dlock_loop_is_here(async->loop))
        return dlock_fail(DLOCK_INVALID, "a completion must not call this function");
    if (!async->has_thread &&
        !atomic_compare_exchange_strong(&async->poller, &nobody, &mark) && nobody != &mark)
        return dlock_fail(DLOCK_INVALID, "another thread has called dlock_poll() before");
    return DLOCK_OK;
}

int dlock_poll(dlock_async *async, int64_t wait_ms)
{
    DLOCK_PUT_OFF_CANCEL;
    int64_t until_ns = 0;

    dlock_error_clear();
    if (check_poller(async) != DLOCK_OK)
        return -1;
    if (async->has_thread) {
        (void)dlock_fail(DLOCK_INVALID, "the interface has a thread of its own");
        return -1;
    }
    if (wait_ms != 0)
        until_ns = wait_ms < 0 ? INT64_MAX : dlock_clock_after(dlock_clock_ns(), wait_ms);
    async->completion_count = 0;
    do
        turn(async, until_ns);
    while (async->completion_count == 0 && dlock_clock_ns() < until_ns);
    return async->completion_count;
}

int dlock_async_fd(const dlock_async *async)
{
    return async == NULL || async->has_thread ? -1 : dlock_loop_fd(async->loop);
}

size_t dlock_async_count(const dlock_async *async)
{
    return async == NULL ? 0 : atomic_load(&async->call_count);
}

/* ---- life ---- */

/* NULL: the calls of the variant can wait in fibers.  Otherwise the name of the client
 * library in which they block. */
static const char *blocking_client(const dlock_variant *variant)
{
    switch (dlock_store_of(&variant->info)) {
    case DLOCK_STORE_POSTGRES:
        return "libpq";
    case DLOCK_STORE_ZOOKEEPER:
        return "ZooKeeper's client";
    case DLOCK_STORE_ETCD:
        return "libcurl, as it is used for etcd,";
    default:
        return NULL;
    }
}

static void free_interface(dlock_async *async)
{
    struct dlock_async_owner *owner, *next;

    dlock_async_free_spares(async);
    HASH_ITER(hh, async->owners, owner, next) {
        HASH_DEL(async->owners, owner);
        free(owner);
    }
    if (async->life != NULL)
        dlock_life_end(async->life);
    dlock_loop_free(async->loop);
    dlock_mutex_destroy(&async->mutex);
    atomic_store(&async->sys->has_async, false);
    free(async);
}

static void stop(struct dlock_post *post)
{
    dlock_async *async =
        (dlock_async *)(void *)((char *)post - offsetof(dlock_async, stop));

    dlock_async_stop(async);
}

static dlock_status make(dlock_async **out, dlock_system *sys, bool has_thread)
{
    dlock_async *async = calloc(1, sizeof(*async));

    if (async == NULL) {
        atomic_store(&sys->has_async, false);
        return dlock_fail(DLOCK_NOMEM, "no memory for an asynchronous interface");
    }
    async->sys = sys;
    async->has_thread = has_thread;
    async->stop.run = stop;
    dlock_mutex_init(&async->mutex);
    async->life = dlock_life_begin();
    async->loop = dlock_loop_new();
    if (async->life == NULL || async->loop == NULL ||
        (has_thread && dlock_thread_start(&async->thread, run, async) != 0)) {
        free_interface(async);
        return dlock_fail(DLOCK_NOMEM,
                          "no memory, descriptor or thread for an asynchronous interface");
    }
    *out = async;
    return DLOCK_OK;
}

dlock_status dlock_async_open(dlock_async **out, dlock_system *sys, unsigned flags)
{
    DLOCK_PUT_OFF_CANCEL;
    const char *client;
    dlock_status st;

    dlock_error_clear();
    if (out == NULL)
        return dlock_fail(DLOCK_INVALID, "there is no pointer for the interface");
    *out = NULL;
    st = dlock_system_check(sys);
    if (st != DLOCK_OK)
        return st;
    if (flags & ~(unsigned)DLOCK_ASYNC_THREAD)
        return dlock_fail(DLOCK_INVALID, "the flags %#x have a bit that this library does not know",
                          flags);
    client = blocking_client(sys->variant);
    if (client != NULL)
        return dlock_fail(DLOCK_UNSUPPORTED,
                          "%s waits in %s, which blocks its thread; the asynchronous "
                          "interface is for locks in Redis and in the process",
                          sys->variant->info.name, client);
    if (atomic_exchange(&sys->has_async, true))
        return dlock_fail(DLOCK_INVALID, "the system has an asynchronous interface already");
    return make(out, sys, flags & DLOCK_ASYNC_THREAD);
}

dlock_status dlock_async_close(dlock_async *async)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_status st;

    dlock_error_clear();
    if (async == NULL)
        return DLOCK_OK;
    st = check_poller(async);
    if (st != DLOCK_OK)
        return st;
    atomic_store(&async->is_closing, true);
    dlock_loop_post(async->loop, &async->stop);
    if (async->has_thread)
        dlock_thread_join(&async->thread);
    else
        while (!is_ended(async))
            turn(async, INT64_MAX);
    free_interface(async);
    return DLOCK_OK;
}

/* SPDX-License-Identifier: MIT */
/* calls.c -- asynchronous calls, and the threads that run them. */
#include "tests/simulation/calls.h"

#include <string.h>

enum { ANSWERS_MAX = 4096, LATE_MS = 300 };

/* The answer of a call. Each call has a place of its own, so that a second answer is noticed. */
static struct answer {
    struct process *process;
    struct task *task;
    int count;
    dlock_status st;
    dlock_lease lease;
} answers[ANSWERS_MAX];
static int answer_count;

/* ---- answers ---- */

static struct answer *begin_answer(struct process *process)
{
    if (answer_count == ANSWERS_MAX) {
        world_condemn(NOT_KNOWN,
                      "the workload makes more asynchronous calls than there is room for");
        answer_count = 0;
    }
    answers[answer_count] = (struct answer){.process = process, .task = task_here};
    return &answers[answer_count++];
}

static void complete(dlock_status st, dlock_lease *lease, void *arg)
{
    struct answer *answer = arg;

    trace("completes", (int64_t)st, answer->count);
    answer->st = st;
    if (lease != NULL)
        answer->lease = *lease;
    if (++answer->count > 1)
        world_condemn(TWICE, "an asynchronous call is answered a second time");
    task_wake(answer->task);
}

/* Wait for the answer. `made` is what the call itself returned. */
static dlock_status await(struct answer *answer, dlock_status made)
{
    if (made != DLOCK_OK) {
        answer->count++; /* no completion follows a call that failed */
        return made;
    }
    while (answer->count == 0)
        (void)task_sleep(INT64_MAX);
    return answer->st;
}

/* ---- calls ---- */

static dlock_status cancel_and_await(const struct asker *asker, struct answer *answer,
                                     uint64_t call)
{
    int64_t cancelled_ns;
    dlock_status st;

    /* The answer ends the pause, because a grant that no thread takes would lose its lease. */
    (void)task_sleep(world.now_ns + chance_skewed(1000, 200 * MS));
    workload_check("a cancel", dlock_async_cancel(asker->process->async, call));
    cancelled_ns = world.now_ns;
    st = await(answer, DLOCK_OK);
    if (world.is_calm && world.now_ns > cancelled_ns + LATE_MS * MS)
        world_condemn(ASLEEP, "an acquire went on for %d ms after it was cancelled", LATE_MS);
    return st;
}

static dlock_status acquire(const struct asker *asker, const char *name,
                            const dlock_request *request, dlock_lease *lease)
{
    struct answer *answer = begin_answer(asker->process);
    bool cancels = request->cancel == NULL && request->wait_ms > 0 &&
                   request->wait_ms < 10000 && chance_one_in(6);
    uint64_t call = 0;
    dlock_status st = dlock_async_acquire(asker->process->async, name, request, asker->owner,
                                          complete, answer, &call);

    if (st == DLOCK_OK && cancels)
        st = cancel_and_await(asker, answer, call);
    else
        st = await(answer, st);
    if (st == DLOCK_CANCELLED && !cancels && request->cancel == NULL)
        world_condemn(CRASH, "an asynchronous acquire is cancelled, and nobody cancelled it");
    if (st == DLOCK_OK)
        *lease = answer->lease;
    return st;
}

dlock_status calls_acquire(const struct asker *asker, const char *name,
                           const dlock_request *request, dlock_lease *lease)
{
    return asker->is_async ? acquire(asker, name, request, lease)
                           : dlock_acquire_with(asker->process->sys, name, request, lease);
}

dlock_status calls_renew(const struct asker *asker, dlock_lease *lease)
{
    struct answer *answer;
    dlock_status st;

    if (!asker->is_async)
        return dlock_renew(asker->process->sys, lease);
    answer = begin_answer(asker->process);
    st = await(answer, dlock_async_renew(asker->process->async, lease, complete, answer));
    if (st == DLOCK_OK)
        *lease = answer->lease;
    return st;
}

dlock_status calls_release(const struct asker *asker, dlock_lease *lease)
{
    struct answer *answer;

    if (!asker->is_async)
        return chance_one_in(3) ? dlock_release_later(asker->process->sys, lease)
                                : dlock_release(asker->process->sys, lease);
    answer = begin_answer(asker->process);
    return await(answer,
                 dlock_async_release(asker->process->async, lease, complete, answer));
}

dlock_status calls_abandon(const struct asker *asker, dlock_lease *lease)
{
    struct answer *answer;

    if (!asker->is_async)
        return dlock_abandon(asker->process->sys, lease);
    answer = begin_answer(asker->process);
    return await(answer,
                 dlock_async_abandon(asker->process->async, lease, complete, answer));
}

/* ---- askers ---- */

struct asker calls_begin(struct process *process)
{
    struct asker asker = {.process = process,
                          .is_async = process->async != NULL && !chance_one_in(4)};

    if (asker.is_async && chance_one_in(2))
        asker.owner = dlock_async_owner_new(process->async);
    return asker;
}

void calls_end(struct asker *asker)
{
    dlock_async_owner_free(asker->owner);
    asker->owner = NULL;
}

bool calls_may_nest(const struct asker *asker)
{
    return !asker->is_async || asker->owner != NULL;
}

/* ---- the interface of a process ---- */

static void close_interface(struct process *process)
{
    workload_check("the close of an interface", dlock_async_close(process->async));
    for (int i = 0; i < answer_count; i++)
        if (answers[i].process == process && answers[i].count == 0)
            world_condemn(TWICE, "an asynchronous call was not answered before the close");
}

/* The only task that polls the interface. Chance makes it late now and then. */
static void *poll(void *arg)
{
    struct process *process = arg;

    dlock_process_enter(&process->own);
    while (process->is_polled) {
        if (dlock_poll(process->async, chance_one_in(4) ? 0 : chance_skewed(1, 50)) < 0)
            world_condemn(CRASH, "dlock_poll() fails: %s", dlock_error());
        if (chance_one_in(8))
            workload_pause_ms(world.is_calm ? 20 : 400);
        else
            task_pause(chance_between(1000, 50000));
    }
    close_interface(process);
    process->async = NULL;
    task_wake(process->main);
    return NULL;
}

void calls_open(struct process *process)
{
    dlock_status st;

    process->async = NULL;
    if (!chance_one_in(3))
        return;
    process->is_polled = chance_one_in(2);
    st = dlock_async_open(&process->async, process->sys,
                          process->is_polled ? 0 : DLOCK_ASYNC_THREAD);
    workload_check("the open of an interface", st);
    if (st == DLOCK_OK && process->is_polled &&
        (dlock_async_fd(process->async) < 0 ||
         task_begin(&process->site, poll, process) == NULL))
        world_condemn(CRASH, "an interface cannot be polled");
}

void calls_close(struct process *process)
{
    static const dlock_request forever = {.wait_ms = -1};
    struct answer *answer;

    if (process->async == NULL)
        return;
    if (dlock_async_count(process->async) != 0)
        world_condemn(TWICE, "all asynchronous calls were answered, and some are under way");
    answer = begin_answer(process); /* a call that is under way when the interface is closed */
    if (dlock_async_acquire(process->async, workload.names[0], &forever, NULL, complete, answer,
                            NULL) != DLOCK_OK)
        answer->count++;
    if (!process->is_polled) {
        close_interface(process);
        process->async = NULL;
    }
    process->is_polled = false;
    while (process->async != NULL)
        (void)task_sleep(INT64_MAX);
}

/* SPDX-License-Identifier: MIT */
/* async_calls.c -- asynchronous calls: their owners, their order, their completions.
 *
 * Any thread makes a call, and the loop's thread begins it.  From then on the call is
 * in a table by its id, so that it can be cancelled.  While it runs, it is also in a
 * table by its owner, so that a second call of the same owner runs after it, because
 * the table of holds allows one call of an owner at a time. */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "lock/async_inside.h"

enum { SPARES_MAX = 1024 };

static struct dlock_async_call **owner_bucket(dlock_async *async, uint64_t thread)
{
    return &async->by_owner[thread % DLOCK_ASYNC_BUCKETS];
}

static struct dlock_async_call **id_bucket(dlock_async *async, uint64_t id)
{
    return &async->by_id[id % DLOCK_ASYNC_BUCKETS];
}

static struct dlock_async_call *call_of_job(struct dlock_job *job)
{
    return (struct dlock_async_call *)(void *)((char *)job -
                                               offsetof(struct dlock_async_call, job));
}

/* ---- memory ---- */

static struct dlock_async_call *take_memory(dlock_async *async)
{
    struct dlock_async_call *call;

    if (!dlock_loop_is_here(async->loop) || async->spare == NULL)
        return malloc(sizeof(*call));
    call = async->spare;
    async->spare = call->next;
    async->spare_count--;
    return call;
}

static void give_memory_back(struct dlock_async_call *call)
{
    dlock_async *async = call->async;

    if (async->spare_count == SPARES_MAX) {
        free(call);
        return;
    }
    call->next = async->spare;
    async->spare = call;
    async->spare_count++;
}

void dlock_async_free_spares(dlock_async *async)
{
    while (async->spare != NULL) {
        struct dlock_async_call *next = async->spare->next;

        free(async->spare);
        async->spare = next;
    }
}

/* ---- owners ---- */

void dlock_async_make_owner(dlock_async *async, struct dlock_owner *owner)
{
    owner->thread = dlock_owner_draw(owner->number) | DLOCK_ASYNC_OWNER;
    owner->life = async->life;
}

static struct dlock_async_owner *find_named(dlock_async *async, uint64_t thread)
{
    struct dlock_async_owner *named = NULL;

    dlock_mutex_lock(&async->mutex);
    HASH_FIND(hh, async->owners, &thread, sizeof(thread), named);
    dlock_mutex_unlock(&async->mutex);
    return named;
}

/* Find the owner of the call.  If the lease was never granted, or belongs to a thread,
 * the call gets a new owner, and is refused later. */
static void find_owner(struct dlock_async_call *call)
{
    dlock_async *async = call->async;

    if (call->kind != DLOCK_ASYNC_ACQUIRE &&
        dlock_holds_owner(async->sys->holds, call->lease.hold, &call->owner) &&
        (call->owner.thread & DLOCK_ASYNC_OWNER)) {
        call->owner.life = async->life;
        call->named = find_named(async, call->owner.thread);
    } else if (call->named == NULL) {
        dlock_async_make_owner(async, &call->owner);
    }
    call->caller.owner = call->named != NULL ? &call->named->owner : &call->owner;
}

/* ---- the life of a call, in the loop's thread ---- */

/* In the fiber. */
static void run(struct dlock_job *job)
{
    struct dlock_async_call *call = call_of_job(job);
    dlock_system *sys = call->async->sys;

    switch (call->kind) {
    case DLOCK_ASYNC_ACQUIRE: {
        char name[DLOCK_NAME_MAX + 1]; /* the lease is written while the name is read */

        strcpy(name, call->lease.name);
        call->status = dlock_acquire_with(sys, name, &call->request, &call->lease);
        break;
    }
    case DLOCK_ASYNC_RELEASE:
        call->status = dlock_release(sys, &call->lease);
        break;
    case DLOCK_ASYNC_RENEW:
        call->status = dlock_renew(sys, &call->lease);
        break;
    case DLOCK_ASYNC_ABANDON:
        call->status = dlock_abandon(sys, &call->lease);
        break;
    }
}

/* Run the completion and free the call, which has ended and is in no table. */
static void complete(struct dlock_async_call *call)
{
    dlock_async *async = call->async;

    async->completion_count++;
    dlock_error_set(call->caller.error_text);
    if (call->done != NULL)
        call->done(call->status, &call->lease, call->arg);
    atomic_fetch_sub(&async->call_count, 1);
    give_memory_back(call);
}

static void forget(struct dlock_async_call *call)
{
    dlock_async *async = call->async;

    DL_DELETE2(*id_bucket(async, call->id), call, prev_by_id, next_by_id);
}

/* Give the call a fiber.  False: no memory, and the call is in the table of ids
 * alone. */
static bool start(struct dlock_async_call *call)
{
    dlock_async *async = call->async;
    struct dlock_async_call **bucket = owner_bucket(async, call->caller.owner->thread);

    if (!dlock_job_start(async->loop, &call->job))
        return false;
    DL_APPEND(*bucket, call);
    if (call->is_cancelled || (async->is_stopping && call->kind == DLOCK_ASYNC_ACQUIRE))
        dlock_job_hurry(&call->job);
    return true;
}

/* End a call for which there was no memory for a fiber, with NOMEM. */
static void refuse(struct dlock_async_call *call)
{
    call->status = DLOCK_NOMEM;
    strcpy(call->caller.error_text, "no memory for a fiber");
    forget(call);
    complete(call);
}

/* Start the next call of the same owner, which waited for this one. */
static void start_follower(struct dlock_async_call *call)
{
    while (call != NULL && !start(call)) {
        struct dlock_async_call *next = call->follower;

        refuse(call);
        call = next;
    }
}

static void ended(struct dlock_job *job)
{
    struct dlock_async_call *call = call_of_job(job);
    struct dlock_async_call *follower = call->follower;
    dlock_async *async = call->async;

    forget(call);
    DL_DELETE(*owner_bucket(async, call->caller.owner->thread), call);
    start_follower(follower);
    complete(call);
}

/* The call of the same owner that runs, or NULL. */
static struct dlock_async_call *find_running(const struct dlock_async_call *call)
{
    uint64_t thread = call->caller.owner->thread;
    struct dlock_async_call *running;

    DL_FOREACH(*owner_bucket(call->async, thread), running)
        if (running->caller.owner->thread == thread)
            return running;
    return NULL;
}

/* False: no memory for a fiber, and the call is in no table. */
static bool begin(struct dlock_async_call *call)
{
    dlock_async *async = call->async;
    struct dlock_async_call *last;

    find_owner(call);
    DL_APPEND2(*id_bucket(async, call->id), call, prev_by_id, next_by_id);
    last = find_running(call);
    if (last == NULL && start(call))
        return true;
    if (last == NULL) {
        forget(call);
        return false;
    }
    while (last->follower != NULL)
        last = last->follower;
    last->follower = call;
    return true;
}

static void begin_posted(struct dlock_post *post)
{
    struct dlock_async_call *call = (struct dlock_async_call *)post;

    if (begin(call))
        return;
    call->status = DLOCK_NOMEM;
    strcpy(call->caller.error_text, "no memory for a fiber");
    complete(call);
}

/* Cancel an acquire: end its wait.  A release of its grant is not cut short. */
static void cancel(struct dlock_async_call *call)
{
    if (call->kind != DLOCK_ASYNC_ACQUIRE || call->is_cancelled)
        return;
    call->is_cancelled = true;
    if (call->job.fiber != NULL)
        dlock_job_hurry(&call->job);
}

void dlock_async_stop(dlock_async *async)
{
    struct dlock_async_call *call;

    async->is_stopping = true;
    for (int i = 0; i < DLOCK_ASYNC_BUCKETS; i++)
        DL_FOREACH2(async->by_id[i], call, next_by_id)
            cancel(call);
}

/* ---- making calls, in any thread ---- */

struct dlock_async_call *dlock_async_call_new(dlock_async *async,
                                              enum dlock_async_kind kind,
                                              dlock_async_done *done, void *arg)
{
    struct dlock_async_call *call = take_memory(async);

    if (call == NULL) {
        (void)dlock_fail(DLOCK_NOMEM, "no memory for a call");
        return NULL;
    }
    call->post.run = begin_posted;
    call->job = (struct dlock_job){.run = run, .ended = ended, .local = &call->caller};
    call->async = async;
    call->kind = kind;
    call->id = atomic_fetch_add(&async->last_id, 1) + 1;
    call->done = done;
    call->arg = arg;
    call->is_cancelled = false;
    call->named = NULL;
    call->caller.error_text[0] = '\0';
    call->follower = NULL;
    return call;
}

dlock_status dlock_async_call_make(struct dlock_async_call *call)
{
    dlock_async *async = call->async;

    atomic_fetch_add(&async->call_count, 1);
    if (!dlock_loop_is_here(async->loop)) {
        dlock_loop_post(async->loop, &call->post);
        return DLOCK_OK;
    }
    if (begin(call))
        return DLOCK_OK;
    atomic_fetch_sub(&async->call_count, 1);
    give_memory_back(call);
    return dlock_fail(DLOCK_NOMEM, "no memory for a fiber");
}

void dlock_async_cancel_here(dlock_async *async, uint64_t id)
{
    struct dlock_async_call *call;

    DL_FOREACH2(*id_bucket(async, id), call, next_by_id)
        if (call->id == id) {
            cancel(call);
            return;
        }
}

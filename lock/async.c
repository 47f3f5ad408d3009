/* SPDX-License-Identifier: MIT */
/* async.c -- the asynchronous interface of a system.
 *
 * Each call is a fiber (base/os/loop.h) that makes the blocking call, so the code of
 * the calls exists once.
 *
 * Any thread makes a call, and the loop's thread begins it.  From then on the call is
 * in a table by its id, so that it can be cancelled.  While it runs, it is also in a
 * table by its owner, so that a second call of the same owner runs after it, because
 * the table of holds allows one call of an owner at a time.  A field that is neither
 * atomic nor under the mutex belongs to the thread that runs the loop. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/os/clock.h"
#include "base/os/fork.h"
#include "base/os/hash_table.h"
#include "base/os/loop.h"
#include "base/os/thread.h"
#include "lock/dlock_async.h"
#include "lock/name.h"
#include "lock/process.h"
#include "lock/request.h"
#include "lock/status.h"
#include "lock/store.h"
#include "lock/system.h"

enum dlock_async_kind {
    DLOCK_ASYNC_ACQUIRE,
    DLOCK_ASYNC_RELEASE,
    DLOCK_ASYNC_RENEW,
    DLOCK_ASYNC_ABANDON,
};

/* This bit is set in the `thread` of every owner that is not a thread. */
#define DLOCK_ASYNC_OWNER (UINT64_C(1) << 63)

struct dlock_async_owner {
    dlock_async *async;
    struct dlock_owner owner;
    UT_hash_handle hh; /* in `owners`, by owner.thread */
};

struct dlock_async_call {
    struct dlock_post post; /* asks the loop's thread to begin the call */
    struct dlock_job job;
    dlock_async *async;
    enum dlock_async_kind kind;
    uint64_t id;
    dlock_request request; /* of an acquire */
    dlock_lease lease;     /* of an acquire: only the name is set before the grant */
    dlock_async_done *done;
    void *arg;
    dlock_status status;
    bool is_cancelled;
    struct dlock_async_owner *named; /* the owner that the program made; NULL: `owner` */
    struct dlock_owner owner;        /* of this call alone; used if `named` is NULL */
    struct dlock_caller caller;
    struct dlock_async_call *follower; /* the next call of the same owner, begun when
                                        * this one ends */
    struct dlock_async_call *prev, *next;             /* of the same bucket, by owner */
    struct dlock_async_call *prev_by_id, *next_by_id; /* the same by id               */
};

enum { DLOCK_ASYNC_BUCKETS = 1024 };

struct dlock_async {
    dlock_system *sys;
    struct dlock_loop *loop;
    bool has_thread;
    struct dlock_thread thread;
    struct dlock_life *life; /* shared by all owners; ended by the close */
    _Atomic(const void *) poller; /* an address that only the polling thread has; NULL:
                                   * no thread has polled yet */
    atomic_size_t call_count;
    _Atomic uint64_t last_id;
    atomic_bool is_closing;
    struct dlock_post stop;
    bool is_stopping;
    int completion_count; /* completions that ran since dlock_poll() was called */
    struct dlock_async_call *by_owner[DLOCK_ASYNC_BUCKETS]; /* calls that have a fiber */
    struct dlock_async_call *by_id[DLOCK_ASYNC_BUCKETS];    /* all calls that have begun */
    struct dlock_async_call *spare; /* memory of calls */
    int spare_count;
    struct dlock_mutex mutex; /* of `owners` */
    struct dlock_async_owner *owners;
};

/* OK; or INVALID: `async` is NULL or belongs to the parent process. */
static dlock_status async_check(const dlock_async *async)
{
    if (async == NULL)
        return dlock_fail(DLOCK_INVALID, "no asynchronous interface was given");
    return dlock_system_check(async->sys);
}

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

static void async_free_spares(dlock_async *async)
{
    while (async->spare != NULL) {
        struct dlock_async_call *next = async->spare->next;

        free(async->spare);
        async->spare = next;
    }
}

/* ---- owners ---- */

static void async_make_owner(dlock_async *async, struct dlock_owner *owner)
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
        async_make_owner(async, &call->owner);
    }
    call->caller.owner = call->named != NULL ? &call->named->owner : &call->owner;
}

/* ---- the life of a call, in the loop's thread ---- */

/* In the fiber. */
static void run_call(struct dlock_job *job)
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

static void async_stop_acquires(dlock_async *async)
{
    struct dlock_async_call *call;

    async->is_stopping = true;
    for (int i = 0; i < DLOCK_ASYNC_BUCKETS; i++)
        DL_FOREACH2(async->by_id[i], call, next_by_id)
            cancel(call);
}

/* ---- making calls, in any thread ---- */

static struct dlock_async_call *async_call_new(dlock_async *async,
                                              enum dlock_async_kind kind,
                                              dlock_async_done *done, void *arg)
{
    struct dlock_async_call *call = take_memory(async);

    if (call == NULL) {
        (void)dlock_fail(DLOCK_NOMEM, "no memory for a call");
        return NULL;
    }
    call->post.run = begin_posted;
    call->job = (struct dlock_job){.run = run_call, .ended = ended, .local = &call->caller};
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

static dlock_status async_call_make(struct dlock_async_call *call)
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

static void async_cancel_here(dlock_async *async, uint64_t id)
{
    struct dlock_async_call *call;

    DL_FOREACH2(*id_bucket(async, id), call, next_by_id)
        if (call->id == id) {
            cancel(call);
            return;
        }
}

/* ---- named owners ---- */

dlock_async_owner *dlock_async_owner_new(dlock_async *async)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_async_owner *owner;

    dlock_error_clear();
    if (async_check(async) != DLOCK_OK)
        return NULL;
    owner = calloc(1, sizeof(*owner));
    if (owner == NULL) {
        (void)dlock_fail(DLOCK_NOMEM, "no memory for an owner");
        return NULL;
    }
    owner->async = async;
    async_make_owner(async, &owner->owner);
    dlock_mutex_lock(&async->mutex);
    HASH_ADD(hh, async->owners, owner.thread, sizeof(owner->owner.thread), owner);
    dlock_mutex_unlock(&async->mutex);
    return owner;
}

void dlock_async_owner_free(dlock_async_owner *owner)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_async *async;

    if (owner == NULL || async_check(owner->async) != DLOCK_OK)
        return;
    async = owner->async;
    dlock_mutex_lock(&async->mutex);
    HASH_DEL(async->owners, owner);
    dlock_mutex_unlock(&async->mutex);
    free(owner);
}

/* ---- the calls of the program ---- */

static dlock_status check_acquire(const dlock_async *async, const char *name,
                                  const dlock_request *request,
                                  const dlock_async_owner *owner, dlock_async_done *done)
{
    dlock_status st = async_check(async);

    if (st == DLOCK_OK)
        st = dlock_name_check(name);
    if (st == DLOCK_OK && request != NULL)
        st = dlock_request_check(&async->sys->variant->info, request);
    if (st != DLOCK_OK)
        return st;
    if (done == NULL)
        return dlock_fail(DLOCK_INVALID, "done is NULL, so the grant could not be reported");
    if (owner != NULL && owner->async != async)
        return dlock_fail(DLOCK_INVALID, "the owner belongs to another interface");
    if (atomic_load(&async->is_closing))
        return dlock_fail(DLOCK_INVALID, "the asynchronous interface is being closed");
    return DLOCK_OK;
}

/* Copy a request that dlock_request_check() has accepted. */
static dlock_request copy_request(const dlock_request *given)
{
    dlock_request request = {0};

    if (given == NULL)
        return request;
    request = *given;
    request.size = sizeof(request);
    return request;
}

dlock_status dlock_async_acquire(dlock_async *async, const char *name,
                                 const dlock_request *request, dlock_async_owner *owner,
                                 dlock_async_done *done, void *arg, uint64_t *id)
{
    DLOCK_PUT_OFF_CANCEL;
    struct dlock_async_call *call;
    dlock_status st;

    dlock_error_clear();
    st = check_acquire(async, name, request, owner, done);
    if (st != DLOCK_OK)
        return st;
    call = async_call_new(async, DLOCK_ASYNC_ACQUIRE, done, arg);
    if (call == NULL)
        return DLOCK_NOMEM;
    call->request = copy_request(request);
    call->named = owner;
    memset(&call->lease, 0, sizeof(call->lease));
    strcpy(call->lease.name, name);
    if (id != NULL)
        *id = call->id;
    return async_call_make(call);
}

/* Make a call on a lease: release, renew or abandon. */
static dlock_status use(dlock_async *async, enum dlock_async_kind kind,
                        const dlock_lease *lease, dlock_async_done *done, void *arg)
{
    struct dlock_async_call *call;
    dlock_status st;

    dlock_error_clear();
    st = async_check(async);
    if (st == DLOCK_OK && lease == NULL)
        st = dlock_fail(DLOCK_INVALID, "no lease was given");
    if (st != DLOCK_OK)
        return st;
    call = async_call_new(async, kind, done, arg);
    if (call == NULL)
        return DLOCK_NOMEM;
    call->lease = *lease;
    return async_call_make(call);
}

dlock_status dlock_async_release(dlock_async *async, const dlock_lease *lease,
                                 dlock_async_done *done, void *arg)
{
    DLOCK_PUT_OFF_CANCEL;
    return use(async, DLOCK_ASYNC_RELEASE, lease, done, arg);
}

dlock_status dlock_async_renew(dlock_async *async, const dlock_lease *lease,
                               dlock_async_done *done, void *arg)
{
    DLOCK_PUT_OFF_CANCEL;
    return use(async, DLOCK_ASYNC_RENEW, lease, done, arg);
}

dlock_status dlock_async_abandon(dlock_async *async, const dlock_lease *lease,
                                 dlock_async_done *done, void *arg)
{
    DLOCK_PUT_OFF_CANCEL;
    return use(async, DLOCK_ASYNC_ABANDON, lease, done, arg);
}

/* ---- cancelling ---- */

struct cancelling {
    struct dlock_post post; /* the first */
    dlock_async *async;
    uint64_t id;
};

static void cancel_posted(struct dlock_post *post)
{
    struct cancelling *cancelling = (struct cancelling *)post;

    async_cancel_here(cancelling->async, cancelling->id);
    free(cancelling);
}

dlock_status dlock_async_cancel(dlock_async *async, uint64_t id)
{
    DLOCK_PUT_OFF_CANCEL;
    struct cancelling *cancelling;
    dlock_status st;

    dlock_error_clear();
    st = async_check(async);
    if (st != DLOCK_OK)
        return st;
    if (dlock_loop_is_here(async->loop)) {
        async_cancel_here(async, id);
        return DLOCK_OK;
    }
    cancelling = malloc(sizeof(*cancelling));
    if (cancelling == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory to cancel");
    *cancelling = (struct cancelling){.post = {.run = cancel_posted}, .async = async, .id = id};
    dlock_loop_post(async->loop, &cancelling->post);
    return DLOCK_OK;
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
    dlock_status st = async_check(async);

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

    async_free_spares(async);
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

    async_stop_acquires(async);
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

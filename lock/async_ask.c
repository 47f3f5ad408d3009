/* SPDX-License-Identifier: MIT */
/* async_ask.c -- the functions that make asynchronous calls, in any thread. */
#include <stdlib.h>
#include <string.h>

#include "base/os/thread.h"
#include "lock/async_inside.h"
#include "lock/name.h"
#include "lock/request.h"

/* ---- owners ---- */

dlock_async_owner *dlock_async_owner_new(dlock_async *async)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_async_owner *owner;

    dlock_error_clear();
    if (dlock_async_check(async) != DLOCK_OK)
        return NULL;
    owner = calloc(1, sizeof(*owner));
    if (owner == NULL) {
        (void)dlock_fail(DLOCK_NOMEM, "no memory for an owner");
        return NULL;
    }
    owner->async = async;
    dlock_async_make_owner(async, &owner->owner);
    dlock_mutex_lock(&async->mutex);
    HASH_ADD(hh, async->owners, owner.thread, sizeof(owner->owner.thread), owner);
    dlock_mutex_unlock(&async->mutex);
    return owner;
}

void dlock_async_owner_free(dlock_async_owner *owner)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_async *async;

    if (owner == NULL || dlock_async_check(owner->async) != DLOCK_OK)
        return;
    async = owner->async;
    dlock_mutex_lock(&async->mutex);
    HASH_DEL(async->owners, owner);
    dlock_mutex_unlock(&async->mutex);
    free(owner);
}

/* ---- calls ---- */

static dlock_status check_acquire(const dlock_async *async, const char *name,
                                  const dlock_request *request,
                                  const dlock_async_owner *owner, dlock_async_done *done)
{
    dlock_status st = dlock_async_check(async);

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
    call = dlock_async_call_new(async, DLOCK_ASYNC_ACQUIRE, done, arg);
    if (call == NULL)
        return DLOCK_NOMEM;
    call->request = copy_request(request);
    call->named = owner;
    memset(&call->lease, 0, sizeof(call->lease));
    strcpy(call->lease.name, name);
    if (id != NULL)
        *id = call->id;
    return dlock_async_call_make(call);
}

/* Make a call on a lease: release, renew or abandon. */
static dlock_status use(dlock_async *async, enum dlock_async_kind kind,
                        const dlock_lease *lease, dlock_async_done *done, void *arg)
{
    struct dlock_async_call *call;
    dlock_status st;

    dlock_error_clear();
    st = dlock_async_check(async);
    if (st == DLOCK_OK && lease == NULL)
        st = dlock_fail(DLOCK_INVALID, "no lease was given");
    if (st != DLOCK_OK)
        return st;
    call = dlock_async_call_new(async, kind, done, arg);
    if (call == NULL)
        return DLOCK_NOMEM;
    call->lease = *lease;
    return dlock_async_call_make(call);
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

    dlock_async_cancel_here(cancelling->async, cancelling->id);
    free(cancelling);
}

dlock_status dlock_async_cancel(dlock_async *async, uint64_t id)
{
    DLOCK_PUT_OFF_CANCEL;
    struct cancelling *cancelling;
    dlock_status st;

    dlock_error_clear();
    st = dlock_async_check(async);
    if (st != DLOCK_OK)
        return st;
    if (dlock_loop_is_here(async->loop)) {
        dlock_async_cancel_here(async, id);
        return DLOCK_OK;
    }
    cancelling = malloc(sizeof(*cancelling));
    if (cancelling == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory to cancel");
    *cancelling = (struct cancelling){.post = {.run = cancel_posted}, .async = async, .id = id};
    dlock_loop_post(async->loop, &cancelling->post);
    return DLOCK_OK;
}

/* SPDX-License-Identifier: MIT */
/* async_inside.h -- the struct of an asynchronous interface, and the struct of one of
 * its calls.
 *
 * Only for async.c, async_calls.c and async_ask.c.  A field that is neither atomic nor
 * under the mutex belongs to the thread that runs the loop. */
#ifndef DLOCK_ASYNC_INSIDE_H
#define DLOCK_ASYNC_INSIDE_H

#include <stdatomic.h>

#include "base/os/hash_table.h"
#include "base/os/loop.h"
#include "base/os/thread.h"
#include "lock/dlock_async.h"
#include "lock/status.h"
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
dlock_status dlock_async_check(const dlock_async *async);

/* Cancel every acquire under way, and from now on every acquire that begins. */
void dlock_async_stop(dlock_async *async);

/* Fill in *owner with a new owner that is not a thread. */
void dlock_async_make_owner(dlock_async *async, struct dlock_owner *owner);

/* Make a call, which the caller fills in and gives to dlock_async_call_make().  NULL:
 * no memory, and dlock_error() says so.  Any thread. */
struct dlock_async_call *dlock_async_call_new(dlock_async *async,
                                              enum dlock_async_kind kind,
                                              dlock_async_done *done, void *arg);

/* Give the call to the loop's thread, which begins it; in a completion the call begins
 * at once.  OK: the completion will get the answer, also if there is no memory for a
 * fiber.  NOMEM, only in a completion: no memory for a fiber, and the call is freed.
 * Any thread. */
dlock_status dlock_async_call_make(struct dlock_async_call *call);

/* Cancel the acquire with the number `id`, if it is under way.  The loop's thread
 * only. */
void dlock_async_cancel_here(dlock_async *async, uint64_t id);

/* Free the memory that is kept for calls to come.  No call is under way. */
void dlock_async_free_spares(dlock_async *async);

#endif /* DLOCK_ASYNC_INSIDE_H */

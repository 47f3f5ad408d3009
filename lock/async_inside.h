/* SPDX-License-Identifier: MIT */
/* async_inside.h -- the asynchronous interface of a system, and a call of it.
 *
 * Only for async.c, async_calls.c and async_ask.c.  Everything that is not
 * said to be shared belongs to the thread that runs the loop. */
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

/* In the `thread` of every owner who is no thread. */
#define DLOCK_ASYNC_OWNER (UINT64_C(1) << 63)

struct dlock_async_owner {
    dlock_async *async;
    struct dlock_owner owner;
    UT_hash_handle hh; /* in `owners`, by owner.thread */
};

struct dlock_async_call {
    struct dlock_post post; /* to begin it */
    struct dlock_job job;
    dlock_async *async;
    enum dlock_async_kind kind;
    uint64_t id;
    dlock_request request; /* of an acquire */
    dlock_lease lease;     /* an acquire: its name is asked for */
    dlock_async_done *done;
    void *arg;
    dlock_status status;
    bool is_cancelled;
    struct dlock_async_owner *named; /* NULL: an owner of its own */
    struct dlock_owner owner;
    struct dlock_caller caller;
    struct dlock_async_call *follower; /* of the same owner, which goes on after it */
    struct dlock_async_call *prev, *next;             /* of the same bucket, by owner */
    struct dlock_async_call *prev_by_id, *next_by_id; /* the same by id               */
};

enum { DLOCK_ASYNC_BUCKETS = 1024 };

struct dlock_async {
    dlock_system *sys;
    struct dlock_loop *loop;
    bool has_thread;
    struct dlock_thread thread;
    struct dlock_life *life; /* of all owners; ends with the close */
    _Atomic(const void *) poller; /* what only the polling thread has; NULL: none so far */
    atomic_size_t call_count;
    _Atomic uint64_t last_id;
    atomic_bool is_closing;
    struct dlock_post stop;
    bool is_stopping;
    int completion_count; /* in this poll */
    struct dlock_async_call *by_owner[DLOCK_ASYNC_BUCKETS]; /* that run  */
    struct dlock_async_call *by_id[DLOCK_ASYNC_BUCKETS];    /* or follow */
    struct dlock_async_call *spare; /* memory of calls */
    int spare_count;
    struct dlock_mutex mutex; /* of `owners` */
    struct dlock_async_owner *owners;
};

/* OK if the calling process may use it. */
dlock_status dlock_async_check(const dlock_async *async);

/* Every acquire under way is cancelled, and every one that begins. */
void dlock_async_stop(dlock_async *async);

/* A new owner that is no thread. */
void dlock_async_make_owner(dlock_async *async, struct dlock_owner *owner);

/* A call, to be filled in and then made.  NULL: no memory, which dlock_error() says.  Both
 * in any thread. */
struct dlock_async_call *dlock_async_call_new(dlock_async *async,
                                              enum dlock_async_kind kind,
                                              dlock_async_done *done, void *arg);

/* Have it begun, which from a completion happens at once.  OK; or NOMEM, and it is gone. */
dlock_status dlock_async_call_make(struct dlock_async_call *call);

/* Cancel the acquire of that id, if it is under way. */
void dlock_async_cancel_here(dlock_async *async, uint64_t id);

/* No call is under way: free the memory of calls. */
void dlock_async_free_spares(dlock_async *async);

#endif /* DLOCK_ASYNC_INSIDE_H */

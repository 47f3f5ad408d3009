/* SPDX-License-Identifier: MIT */
/* dlock_async.h -- locks without a thread that waits: an answer comes as a call of yours.
 *
 *     static void granted(dlock_status st, dlock_lease *lease, void *arg)
 *     {
 *         if (st == DLOCK_OK)
 *             work_then_release(arg, lease);
 *     }
 *
 *     dlock_async *async = NULL;
 *
 *     if (dlock_async_open(&async, sys, 0) != DLOCK_OK)
 *         die(dlock_error());
 *     st = dlock_async_acquire(async, "lock:order:42", NULL, NULL, granted, order, NULL);
 *     ... wait until dlock_async_fd(async) can be read, and each time:
 *     dlock_poll(async, 0);
 *
 * The same code asks the stores as for the blocking calls of dlock.h, and every answer means
 * what it means there.  As many calls may be under way as there is memory for: each has a
 * small stack of its own, and none has a thread.
 *
 * Variants    Those that keep their locks in Redis or in the process.  The pg and zk variants
 *             wait inside of client libraries that block a thread: dlock_async_open()
 *             answers UNSUPPORTED for them.
 * Ownership   dlock_async_open() makes an interface that the caller must dlock_async_close()
 *             before dlock_close().  Names, requests and leases are copied by each call, so
 *             they may be gone when it answers; only a request's `cancel` must stay until
 *             then.  The lease that a completion gets is valid during the completion: copy
 *             it to keep it.
 * Threads     One thread at a time runs an interface: its own, which
 *             DLOCK_ASYNC_THREAD starts, or the one that calls dlock_poll(), always the same.
 *             Completions run in that thread, one after another, and never inside of the
 *             call that they belong to.  All other functions may be called by any thread.
 *             Beside it there are the threads that the system has anyway: one that renews,
 *             and, once a waiter is told of releases, one that listens.
 * Completions May call everything here but dlock_poll() and dlock_async_close(); dlock_error()
 *             tells the detail of their status.  While a completion runs no other call goes
 *             on, so it must not block for long; a blocking dlock_acquire() in it for a lock
 *             that another call of the interface holds can only time out.
 * Owners      Each acquire has an owner of its own, so nothing is re-entered: a reentrant
 *             variant refuses the second acquire of a name like any other.  An owner that is
 *             to take a name several times is made by dlock_async_owner_new().
 * Order       Calls under the same owner, and those with the same lease, go on one after
 *             another, as they were made.  All others may overtake one another.
 * Leases      Those of an interface are released, renewed and abandoned through it, whichever
 *             thread asks: to the blocking calls they are another thread's, INVALID.
 *             dlock_lease_valid() and dlock_lease_left_ms() take them.  The system's
 *             watchdog renews them, also while nobody calls dlock_poll(), until they are
 *             released or the interface is closed.
 * Losses      Are told as for the blocking calls: by on_lost, in the watchdog's thread, and
 *             by dlock_lost_fd(), which fits into the same loop of descriptors.
 * Late polls  Answers that arrive while no thread calls dlock_poll() are read by the next call.
 *             A grant whose lease has run out by then is no grant, as in dlock_acquire_with();
 *             an answer that came in time is taken, however late that is.
 * Fork        A child must not use an interface of its parent: every call answers INVALID,
 *             and dlock_async_close() leaves it alone.
 * Host names  Are resolved by the C library when a connection is made, which blocks the
 *             thread that runs the interface: give an address where that matters.
 */
#ifndef DLOCK_ASYNC_H
#define DLOCK_ASYNC_H

#include "dlock.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- async_run: an interface, and who runs it ---- */

typedef struct dlock_async dlock_async; /* opaque */

/* For dlock_async_open(). */
enum {
    DLOCK_ASYNC_THREAD = 1u << 0, /* run it in a thread of its own, with all signals blocked */
};

/* Called once for each call that was answered OK when it was made.  `st` is what the blocking
 * call would have answered; `lease` is what an acquire was granted or what a renewal has
 * moved, valid during this call; where there is no lease to tell of its `hold` is 0. */
typedef void dlock_async_done(dlock_status st, dlock_lease *lease, void *arg);

/* Make the asynchronous interface of a system.
 *   OK           *out is it
 *   UNSUPPORTED  the variant's store blocks a thread: pg and zk
 *   INVALID      the system has one already, or belongs to the parent process; or flags that
 *                only a newer library knows
 *   NOMEM        no memory, no descriptor or no thread
 * On anything but OK *out is NULL. */
dlock_status dlock_async_open(dlock_async **out, dlock_system *sys,
                              unsigned flags) DLOCK_MUST_CHECK;

/* End it.  No other thread may be inside a call.  Every call under way is brought to its end
 * first, and its completion is called: an acquire that waits is cancelled, as by
 * dlock_async_cancel(); what was sent is waited for, up to its timeout.  Acquires that
 * completions make meanwhile are refused, releases are not.  A lock that is still held after that
 * stays held and is not renewed any more, as when a thread ends.
 *   OK       it is gone.  NULL is fine
 *   INVALID  nothing happened: called by a completion, or in a child, or by another thread
 *            than the one that calls dlock_poll() */
dlock_status dlock_async_close(dlock_async *async);

/* The descriptor that can be read when dlock_poll() has something to do: wait for it, by
 * whatever means, and do no more with it.  The descriptor stays the same until the close.  -1: the
 * interface runs in a thread of its own, or there is none. */
int dlock_async_fd(const dlock_async *async);

/* Go on with all calls, and run the completions of those that are answered.  Sleeps for up to
 * `wait_ms` until one has been; 0: does not sleep; negative: as long as it takes.
 * Answers how many completions were run; -1: called in a completion, in a child, in another
 * thread than before, or there is a thread of its own; dlock_error() tells.  A call may
 * leave work for the next, so that neighbours in the loop have their turn: the descriptor
 * then can still be read. */
int dlock_poll(dlock_async *async, int64_t wait_ms);

/* The number of calls under way: made, and their completion has not returned. */
size_t dlock_async_count(const dlock_async *async);

/* ---- async_calls: each answers at once whether it was taken ---- */

/* An owner who may take a name several times, where the variant is reentrant, and who may
 * read and write (rwlock).  Freed by the close at the latest.  NULL: no memory. */
typedef struct dlock_async_owner dlock_async_owner; /* opaque */
dlock_async_owner *dlock_async_owner_new(dlock_async *async);

/* No call under way may be the owner's.  Its locks stay held, and can be released.
 * NULL is fine. */
void dlock_async_owner_free(dlock_async_owner *owner);

/* Take the lock `name`, as dlock_acquire_with().
 *   request  NULL: one attempt for the system's lease
 *   owner    NULL: one of its own
 *   call     NULL, or where to write the number by which the acquire can be cancelled
 *   OK       `done` will be called
 *   INVALID  `done` is not called: no name that a lock can have, no `done`, a request that
 *            dlock_acquire_with() refuses, the interface is being closed, or belongs to the
 *            parent process
 *   UNSUPPORTED, NOMEM   the same: what is asked for the variant does not know, or there is
 *            no memory */
dlock_status dlock_async_acquire(dlock_async *async, const char *name,
                                 const dlock_request *request, dlock_async_owner *owner,
                                 dlock_async_done *done, void *arg,
                                 uint64_t *call) DLOCK_MUST_CHECK;

/* Cancel that acquire: its completion says CANCELLED, or what it came to if that was earlier.
 * A call that waits ends at once; a call whose request is on its way ends with the answer, and
 * what was granted is given back.
 *   OK       it will; or there is no such acquire under way, which may have just ended
 *   INVALID, NOMEM   nothing happens */
dlock_status dlock_async_cancel(dlock_async *async, uint64_t call);

/* Give a level back, as dlock_release(): `done` gets its answer, and may be NULL.  The
 * lease is spent once the call goes on.
 *   OK       `done` will be called
 *   INVALID  `done` is not called: no lease, or the interface belongs to the parent process
 *   NOMEM    the same: no memory */
dlock_status dlock_async_release(dlock_async *async, const dlock_lease *lease,
                                 dlock_async_done *done, void *arg);

/* Extend the lease, as dlock_renew(): the lease that `done` gets has the new deadline. */
dlock_status dlock_async_renew(dlock_async *async, const dlock_lease *lease,
                               dlock_async_done *done, void *arg) DLOCK_MUST_CHECK;

/* Let go without giving back, as dlock_abandon(); `done` may be NULL. */
dlock_status dlock_async_abandon(dlock_async *async, const dlock_lease *lease,
                                 dlock_async_done *done, void *arg);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* DLOCK_ASYNC_H */

/* SPDX-License-Identifier: MIT */
/* dlock_async.h -- locks without a thread that waits: the library calls a function of
 * the program with each answer.
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
 * The code that asks the stores is the code of the blocking calls of dlock.h, and every
 * answer has the same meaning.  The number of calls under way is limited by memory
 * only: each call has a small stack of its own, and none has a thread.
 *
 * Variants    Only variants that keep their locks in Redis or in the process.  The pg
 *             and zk variants and etcd wait inside client libraries that block a thread:
 *             dlock_async_open() answers UNSUPPORTED for them.
 * Ownership   dlock_async_open() makes an interface, and the caller closes it with
 *             dlock_async_close() before dlock_close().  Each call copies its name,
 *             request and lease, so the caller may free them as soon as the call
 *             returns.  Only the `cancel` of a request must live until the completion.
 *             The lease that a completion gets is valid during the completion: copy it
 *             to keep it.
 * Threads     One thread runs an interface: the thread that DLOCK_ASYNC_THREAD starts,
 *             or else the one thread of the program that calls dlock_poll().
 *             Completions run in that thread, one after another, and never inside the
 *             call that they belong to.  All other functions may be called by any
 *             thread.  The system has two threads of its own besides: the watchdog, and
 *             a thread that listens for releases once a call waits for one.
 * Completions May call every function here but dlock_poll() and dlock_async_close();
 *             dlock_error() has the reason of the status that the completion was given.
 *             While a completion runs, no other call of the interface goes on, so a
 *             completion must not block for long.  If a completion calls the blocking
 *             dlock_acquire() for a lock that another call of the interface holds, that
 *             acquire can only time out.
 * Owners      Each acquire has an owner of its own, so even a re-entrant variant
 *             refuses the second acquire of a name.  To acquire a name several times,
 *             make an owner with dlock_async_owner_new() and pass it to each acquire.
 * Order       Calls with the same owner, or with the same lease, are carried out one
 *             after another, in the order in which they were made.  All other calls may
 *             overtake one another.
 * Leases      A lease that an interface granted is released, renewed and abandoned
 *             through the interface, by any thread.  The blocking calls answer INVALID
 *             for such a lease, as for a lease of another thread, but
 *             dlock_lease_valid() and dlock_lease_left_ms() take it.  The system's
 *             watchdog renews the lease until it is released or the interface is
 *             closed, also while no thread calls dlock_poll().
 * Losses      Are reported as for the blocking calls: by on_lost, in the watchdog's
 *             thread, and by dlock_lost_fd(), whose descriptor the program's event loop
 *             can watch too.
 * Late polls  The next dlock_poll() reads the answers that arrived while no thread
 *             called it.  If the lease of a grant has ended by then, the acquire
 *             answers TIMEOUT, as in dlock_acquire_with().  Any other answer that
 *             arrived in time counts, however late it is read.
 * Fork        A child must not use an interface of its parent: every call answers INVALID,
 *             and dlock_async_close() leaves it alone.
 * Host names  Are resolved by the C library when a connection is made, and this blocks
 *             the thread that runs the interface.  Use an address instead of a name
 *             where that matters.
 */
#ifndef DLOCK_ASYNC_H
#define DLOCK_ASYNC_H

#include "dlock.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- async_run: an interface, and the thread that runs it ---- */

typedef struct dlock_async dlock_async; /* opaque */

/* For dlock_async_open(). */
enum {
    DLOCK_ASYNC_THREAD = 1u << 0, /* run it in a thread of its own, with all signals blocked */
};

/* The type of a completion.  The library calls it once for each call that answered OK
 * when it was made.  `st` is the answer that the blocking call would have had, and *lease
 * is as that call leaves it: its `hold` is 0 after an acquire that was not granted, and
 * after a release or an abandon that was carried out.  *lease is valid during the
 * completion. */
typedef void dlock_async_done(dlock_status st, dlock_lease *lease, void *arg);

/* Make the asynchronous interface of a system.
 *   OK           *out is the interface, which the caller closes with
 *                dlock_async_close()
 *   UNSUPPORTED  the variant's store blocks a thread: pg, zk and etcd
 *   INVALID      `out` or `sys` is NULL; the system has an interface already, or
 *                belongs to the parent process; or a flag is set that only a newer
 *                library knows
 *   NOMEM        no memory, no descriptor or no thread
 * On anything but OK *out is NULL, if there is one. */
dlock_status dlock_async_open(dlock_async **out, dlock_system *sys,
                              unsigned flags) DLOCK_MUST_CHECK;

/* Close the interface and free it.  No other thread may be inside a call.  First every
 * call under way ends, and its completion runs: an acquire that waits is cancelled, as
 * by dlock_async_cancel(), and the answer to a request that was sent is waited for, up
 * to its timeout.  An acquire that a completion makes meanwhile is refused; a release
 * is carried out.  A lock that is held after that stays held until its lease ends, and
 * the watchdog does not renew it any more.
 *   OK       the interface is closed; NULL is fine
 *   INVALID  nothing happened: the call came from a completion, from a child, or from
 *            another thread than the one that calls dlock_poll() */
dlock_status dlock_async_close(dlock_async *async);

/* The descriptor that becomes readable when dlock_poll() has work to do.  Only wait for
 * the descriptor, by poll() or epoll; do not read or close it.  The descriptor stays
 * the same until the close.  -1: the interface runs in a thread of its own, or `async`
 * is NULL.  Any thread. */
int dlock_async_fd(const dlock_async *async);

/* Carry on all calls of the interface, and run the completions of those that were
 * answered.  If none was answered yet, sleep for up to `wait_ms` until one is; 0: do
 * not sleep; negative: no limit.  Returns the number of completions that were run.  -1:
 * dlock_poll() was called in a completion, in a child, or in another thread than
 * before, or the interface has a thread of its own; dlock_error() says which.  If much
 * work is due, the call leaves a part for the next call, so that the other users of the
 * event loop get their turn: the descriptor then stays readable. */
int dlock_poll(dlock_async *async, int64_t wait_ms);

/* The number of calls under way: made, and their completion has not returned.  Any
 * thread. */
size_t dlock_async_count(const dlock_async *async);

/* ---- async: calls that return before the store has answered ---- */

/* Make an owner that can acquire a name several times, if the variant is re-entrant,
 * and can be reader and writer of one name (rwlock).  The caller frees it with
 * dlock_async_owner_free(); dlock_async_close() frees the owners that are left.  NULL:
 * no memory.  Any thread. */
typedef struct dlock_async_owner dlock_async_owner; /* opaque */
dlock_async_owner *dlock_async_owner_new(dlock_async *async);

/* Free an owner.  No call under way may use the owner.  Its locks stay held, and can be
 * released.  NULL is fine.  Any thread. */
void dlock_async_owner_free(dlock_async_owner *owner);

/* Take the lock `name`, as dlock_acquire_with().  Any thread.
 *   request  NULL: one attempt for the system's lease
 *   owner    NULL: the call gets an owner of its own
 *   call     NULL, or where to write the number by which the acquire can be cancelled
 *   OK       `done` will be called
 *   INVALID  `done` is not called: `name` cannot be the name of a lock, `done` is NULL,
 *            dlock_acquire_with() refuses such a request, or the interface is being
 *            closed or belongs to the parent process
 *   UNSUPPORTED, NOMEM   `done` is not called: the variant cannot do what the request
 *            asks for, or there is no memory */
dlock_status dlock_async_acquire(dlock_async *async, const char *name,
                                 const dlock_request *request, dlock_async_owner *owner,
                                 dlock_async_done *done, void *arg,
                                 uint64_t *call) DLOCK_MUST_CHECK;

/* Cancel the acquire with the number `call`.  Its completion gets CANCELLED, or the
 * earlier answer if the acquire had ended already.  An acquire that waits ends within
 * about 10 ms.  An acquire whose request was sent, or is sent in these 10 ms, ends when
 * the answer comes, and a grant is given back.  Any thread.
 *   OK       the acquire will end; or no acquire of that number is under way, because
 *            it has just ended
 *   INVALID, NOMEM   nothing happens */
dlock_status dlock_async_cancel(dlock_async *async, uint64_t call);

/* Give a level back, as dlock_release(): `done` gets the answer, and may be NULL.  The
 * lease is spent when the release is carried out.  Any thread.
 *   OK       `done` will be called
 *   INVALID  `done` is not called: `lease` is NULL, or the interface belongs to the
 *            parent process
 *   NOMEM    `done` is not called: no memory */
dlock_status dlock_async_release(dlock_async *async, const dlock_lease *lease,
                                 dlock_async_done *done, void *arg);

/* Extend the lease, as dlock_renew(): the lease that `done` gets has the new deadline.
 * Answers as dlock_async_release().  Any thread. */
dlock_status dlock_async_renew(dlock_async *async, const dlock_lease *lease,
                               dlock_async_done *done, void *arg) DLOCK_MUST_CHECK;

/* Give the lock up without releasing it, as dlock_abandon(); `done` may be NULL.
 * Answers as dlock_async_release().  Any thread. */
dlock_status dlock_async_abandon(dlock_async *async, const dlock_lease *lease,
                                 dlock_async_done *done, void *arg);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* DLOCK_ASYNC_H */

/* SPDX-License-Identifier: MIT */
/* dlock_later.h -- giving a lock back without waiting for the store.
 *
 * A part of dlock.h, which includes it: programs include dlock.h alone. */
#ifndef DLOCK_DLOCK_LATER_H
#define DLOCK_DLOCK_LATER_H

#ifndef DLOCK_H
#error "include dlock.h, of which this is a part"
#endif

/* ---- later: a release without waiting for the store ---- */

/* A release that no thread waits for is sent with the next request of any thread of the
 * system.  Without such a request a thread of the library sends the release after
 * DLOCK_LATER_MS, or as soon after that as the thread gets a processor. */
enum { DLOCK_LATER_MS = 1 };

/* Give the lock back like dlock_release(), but do not wait for the answer of the store:
 * the release is a debt of the system from now on.  If the connection is lost or the
 * server is away, the library sends the release again, until an answer comes or the
 * lease has certainly ended.  The lease has certainly ended lease_ms and
 * redis_timeout_ms after this call, because a renewal may have been under way.  A
 * release names its owner or token, so a release that arrives late or twice frees no
 * other owner's lock.
 *   OK        this lease no longer protects its holder, and the watchdog does not renew
 *             it.  The store frees the lock DLOCK_LATER_MS later, or when the store can
 *             be reached again, or at the end of the lease
 *   LOST      the hold was known to be lost; the release is sent all the same
 *   INVALID   as dlock_release()
 * The lease is spent afterwards, whatever the answer.  Only the metrics and the record
 * show the store's answer.  Only the thread that acquired the lock may call this, as
 * with dlock_release().
 *
 * While the connection lasts, the store executes an acquire of the same system, by any
 * thread, after the releases that are owed for its name.  Only an asynchronous acquire
 * may come before a release that was owed when the interface was made.  If the
 * connection was lost, the acquire first sends these releases again.  Until the store
 * has answered them, the store may still hold the lock for the owner that released it.
 *
 * In six cases the call is dlock_release(), waits, and has all answers of
 * dlock_release(): with a variant other than lua, reentrant, spin, fenced and fair; for
 * an inner level of a hold, whose owner keeps the outer level; for a hold that an
 * earlier master granted, which answers LOST or a failure; with replicas_acknowledge, since an
 * acquire then uses another connection and could overtake the release; while the system has an
 * asynchronous interface, for the same reason; and without memory for the debt.
 * dlock_metrics.debts counts the releases that did not wait.
 *
 * If neither an acquire nor the library's release after it is answered, the release of
 * an outermost level becomes a debt too, with the same five variants: the library sends
 * it again, so the lock is free soon after the store answers again.
 *
 * After fork() the debts stay the parent's, and the child sends none of them. */
dlock_status dlock_release_later(dlock_system *sys, dlock_lease *lease);

/* Send the requests that are owed now, and wait for no answer.  Call this before
 * telling another process that the lock is free: an acquire that the other process
 * begins afterwards then reaches the store after the releases, unless the network
 * reorders the two connections.  Bytes that the connection does not accept at once are
 * sent as soon as it accepts them.  Without a connection the releases are sent again as
 * dlock_release_later() says.  If `sys` is NULL or belongs to the parent process, the
 * call does nothing, and dlock_error() says so.  Any thread. */
void dlock_send_debts(dlock_system *sys);

/* Send the requests that are owed now, and wait until the store has answered all of
 * them, at most wait_ms; negative: for ever.  Returns the number of debts that remain:
 * dlock_metrics.debts less debts_paid and debts_given_up.  If `sys` is NULL or belongs
 * to the parent process, the call returns 0, and dlock_error() says so.  Any thread.
 *
 * dlock_close() does the same for DLOCK_CLOSE_PAYS_MS, and for the timeout of a request that
 * is under way then.  If debts remain, dlock_error() tells how many, and those locks
 * are free when their leases end.  The same is true of all debts of a process that ends
 * without dlock_close(). */
uint64_t dlock_pay_debts(dlock_system *sys, int64_t wait_ms);

enum { DLOCK_CLOSE_PAYS_MS = 2000 };

#endif /* DLOCK_DLOCK_LATER_H */

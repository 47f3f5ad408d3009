/* SPDX-License-Identifier: MIT */
/* dlock_later.h -- giving a lock back without waiting for the store.
 *
 * A part of dlock.h, which includes it: programs include dlock.h alone. */
#ifndef DLOCK_DLOCK_LATER_H
#define DLOCK_DLOCK_LATER_H

#ifndef DLOCK_H
#error "include dlock.h, of which this is a part"
#endif

/* ---- later: a release that nobody waits for ---- */

/* A release that nobody waits for leaves with the next request of any thread of the system,
 * and after so long at the latest, as soon as a thread of the library gets a processor. */
enum { DLOCK_LATER_MS = 1 };

/* Give the lock back like dlock_release(), but do not wait for the answer of the store: the
 * release is a debt of the system from now on.  A debt without an answer, since the connection
 * was lost or the server is away, is asked for again, until an answer comes or the lease has
 * ended for certain, which is lease_ms and redis_timeout_ms after this call: a renewal may
 * have been under way.  A release names its owner or token, so one that arrives late or twice
 * frees nobody else's lock.
 *   OK        nobody of this process holds the lock by this lease any more, and no watchdog
 *             renews it; the store knows so DLOCK_LATER_MS later, or when it can be reached
 *             again, or once the lease has ended
 *   LOST      the hold was known to be lost; the store is told all the same
 *   INVALID   as dlock_release()
 * The lease is spent afterwards, whatever the answer.  Only the metrics and the record tell the
 * store's answer.  The calling thread only, as dlock_release().
 *
 * An acquire of the same system, by any thread, is executed behind the debts of its name, if
 * the connection lasts.  After a loss of the connection it first pays those of its name; while
 * the store does not answer that, the lock may still be found held by nobody but the debt.
 *
 * The call waits, and answers all that dlock_release() does, where a release cannot be left
 * to itself: with every variant but lua, reentrant, spin, fenced and fair; for an inner level of
 * a hold, whose owner goes on; with replicas_acknowledge, since an acquire then has another
 * connection and could overtake the release; and without memory for the debt.
 * dlock_metrics.debts counts the releases that did not wait.
 *
 * A child by fork() owes nothing: the debts stay its parent's. */
dlock_status dlock_release_later(dlock_system *sys, dlock_lease *lease);

/* Send the requests that are owed now, and wait for no answer.  A program that tells another
 * process that the lock is free calls this before: an acquire which that process begins then
 * comes to the store behind the releases, unless the network lets it overtake them.  Bytes
 * that the connection does not take at once leave as soon as it does.  Without a connection the
 * debts are asked for again as dlock_release_later() says.  Nothing happens with a system of the
 * parent process, or NULL, and dlock_error() says so.  Any thread. */
void dlock_send_debts(dlock_system *sys);

/* Wait until the system owes nothing, at most wait_ms; negative: for ever.  The requests that
 * are owed are sent at once.  Answers how many debts remain: dlock_metrics.debts less
 * debts_paid and debts_given_up.  0 with a system of the parent process, or NULL, and
 * dlock_error() says so.  Any thread.
 *
 * dlock_close() does the same for DLOCK_CLOSE_PAYS_MS, and for the timeout of a request that
 * is under way then.  If debts remain, dlock_error() tells how many, and those locks are free
 * when their leases end.  So it is with all debts of a process that ends without it. */
uint64_t dlock_pay_debts(dlock_system *sys, int64_t wait_ms);

enum { DLOCK_CLOSE_PAYS_MS = 2000 };

#endif /* DLOCK_DLOCK_LATER_H */

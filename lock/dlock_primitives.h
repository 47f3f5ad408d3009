/* SPDX-License-Identifier: MIT */
/* dlock_primitives.h -- semaphores, permits that expire, countdown latches, in a Redis.
 *
 * The keys, channels and messages are Redisson's, so a C program and a Java program can
 * share each of them.
 *
 *     dlock_primitives *prims = NULL;
 *     dlock_permit permit;
 *
 *     if (dlock_primitives_open(&prims, "redis://127.0.0.1:6379", 2000) != DLOCK_OK)
 *         die(dlock_error());
 *     (void)dlock_permits_set(prims, "cashiers", 8);
 *     if (dlock_permits_acquire(prims, "cashiers", 0, 30000, &permit) == DLOCK_OK) {
 *         work();
 *         (void)dlock_permits_release(prims, "cashiers", &permit);
 *     }
 *     dlock_primitives_close(prims);
 *
 * Answers     As in dlock.h.  Besides the answers that a function lists, every function
 *             that answers a status may answer IO: the server could not be reached, and
 *             no request was sent, or a call that changes nothing had no answer;
 *             PROTOCOL: the server refused, or the key holds something else; UNKNOWN: a
 *             request was sent and no answer came, so the server may carry it out now,
 *             later or never; INVALID: an argument is NULL, a name is no name, or a
 *             number is out of range, and nothing was sent; NOMEM. dlock_error() has the
 *             reason.  The library never sends a request twice.
 * Names       A name is a key in Redis, of 1 to DLOCK_NAME_MAX bytes without control
 *             bytes.  Two primitives of different kinds must not have the same name.  In
 *             a Redis Cluster a name is INVALID if its braces put the keys of the
 *             primitive into several slots; for a latch that is every name with a }.
 * Ownership   dlock_primitives_open() makes a dlock_primitives, and the caller closes
 *             it with dlock_primitives_close().  Strings are read only during the call.
 * Threads     Any number of threads may use one dlock_primitives at once, for any
 *             names, unless a function says otherwise.
 * Waiting     A waiter subscribes to a channel and is woken by a message.  The waiter
 *             also asks by itself every few hundred ms, at random times.
 * Time        Durations are milliseconds.  The end of a permit is a time of the wall
 *             clock of the client that took it, as in Redisson.  If a client's clock is
 *             wrong, permits of other clients end early or late by the error of that
 *             clock.
 * Masters     An acquire and a renewal of a permit that the old master answered while
 *             another took over are asked again, so the answer is the new master's.  A
 *             waiter of a latch gets LOST if its latch is gone then.  Replication is
 *             asynchronous, so the new master may lack the newest changes.
 * Not locks   What locks have and primitives have not:
 *               on_lost, watchdog   a permit is an id that the program keeps, so the
 *                 and validity      library has no hold to renew or to call lost: a
 *                                   renewal or a release says LOST.  Permits of a
 *                                   semaphore and counts of a latch have no owner
 *               clean-up after      an acquire of a semaphore and a count of a latch
 *                 UNKNOWN           have no token by which the server could tell what
 *                                   to take back
 *               debts               nobody sends a release after the call; a permit ends
 *                                   with its lease
 *               cancel, retry       a wait ends by its wait_ms alone, and always waits
 *                                   for messages as `push` does
 *               replicas_acknowledge
 *                                   a grant that too few replicas have is to be taken
 *                                   back, and permits of a semaphore and counts of a
 *                                   latch have no token by which to take them back
 *               other metrics       the counters of losses, debts and hand-overs stay 0,
 *                                   and so does `hold`: there are no holds
 *               inspect, force      the calls that count say what the server has, and
 *                                   dlock_semaphore_add() and dlock_latch_delete()
 *                                   change it
 *               records of waits    a record has the call and its answer, and no order
 *                                   of waiters, because no order is promised
 *               every name          a latch is refused names with a } in a Redis
 *                                   Cluster, since Redisson's channel has further braces
 *               other stores        the form of the keys is Redisson's
 * Fork        A child must not use a dlock_primitives that its parent opened: every
 *             call that answers a status answers INVALID.
 */
#ifndef DLOCK_PRIMITIVES_H
#define DLOCK_PRIMITIVES_H

#include "dlock.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- primitives: one Redis for semaphores, permits and latches ---- */

enum { DLOCK_COUNT_MAX = 1000000000 }; /* the most permits, and the highest count */

typedef struct dlock_primitives dlock_primitives; /* opaque */

/* Connect to the Redis at `redis_url` (as in dlock_options).  `timeout_ms`, above 0,
 * limits each command, connecting included.
 *   OK        *out is for the caller to close
 *   INVALID, IO, PROTOCOL, NOMEM   *out is NULL; dlock_error() has the reason */
dlock_status dlock_primitives_open(dlock_primitives **out, const char *redis_url,
                                   int timeout_ms) DLOCK_MUST_CHECK;

/* Close the connections and free the memory.  NULL is fine.  No permit is given back.
 * No other thread may be inside a call. */
void dlock_primitives_close(dlock_primitives *prims);

/* Check that the server answers, and that the user may send what primitives send.
 *   OK        the server answered, and no right is missing
 *   PROTOCOL  the server refused; dlock_error() names the missing rights */
dlock_status dlock_primitives_check(dlock_primitives *prims) DLOCK_MUST_CHECK;

/* As dlock_metrics_read(), of all calls that change a primitive or wait for one.  `acquires` and
 * `wait` count acquires of semaphores and permits, and waits for latches. */
void dlock_primitives_metrics_read_sized(dlock_primitives *prims, dlock_metrics *out, size_t size);
static inline void dlock_primitives_metrics_read(dlock_primitives *prims, dlock_metrics *out)
{
    dlock_primitives_metrics_read_sized(prims, out, sizeof(*out));
}

/* Record every later call that changes a primitive, or waits for one, in a new file in
 * the directory `dir`, for `seckill check`.  The directory is made if its parent
 * exists.  Call this before any other thread uses `prims`, and once only.
 *   OK        recording has begun
 *   INVALID, IO, NOMEM   nothing is recorded; dlock_error() has the reason */
dlock_status dlock_primitives_record(dlock_primitives *prims,
                                     const char *dir) DLOCK_MUST_CHECK;

/* ---- semaphore: a number of permits without owners ----
 *
 * A permit has no owner and no lease, as in Redisson.  Permits that a process took are
 * lost when the process dies.  A release without an acquire adds a permit, also to a
 * semaphore that was never set.  Use permits that expire where that matters. */

/* Make a semaphore with `permits` permits, 1 to DLOCK_COUNT_MAX.
 *   OK     the semaphore is made
 *   BUSY   a semaphore of that name exists, and was not changed */
dlock_status dlock_semaphore_set(dlock_primitives *prims, const char *name,
                                 int permits) DLOCK_MUST_CHECK;

/* Take `permits` permits, all at once or none, and wait for them up to `wait_ms` (0:
 * one attempt; negative: for ever).  A semaphore that was never set has no permits.
 *   OK        the caller has the permits, and gives them back with
 *             dlock_semaphore_release()
 *   BUSY      wait_ms was 0, and there were too few; nothing was taken
 *   TIMEOUT   wait_ms passed; nothing was taken
 *   UNKNOWN   the permits may have been taken, and the store cannot tell.  The library
 *             does not give them back: if they were never taken, that would add
 *             permits.  If they were taken, they are missing until
 *             dlock_semaphore_add() */
dlock_status dlock_semaphore_acquire(dlock_primitives *prims, const char *name,
                                     int permits, int64_t wait_ms) DLOCK_MUST_CHECK;

/* Give `permits` permits back, 1 to DLOCK_COUNT_MAX.
 *   OK        the permits are back, and waiters were told
 *   UNKNOWN   the permits are back or not: a second call might give them back twice */
dlock_status dlock_semaphore_release(dlock_primitives *prims, const char *name,
                                     int permits);

/* Read how many permits can be taken now, into *permits, which may be negative.
 * Changes nothing. */
dlock_status dlock_semaphore_available(dlock_primitives *prims, const char *name,
                                       int64_t *permits) DLOCK_MUST_CHECK;

/* Take all permits that can be taken.
 *   OK        *permits is how many, perhaps 0
 *   UNKNOWN   the permits may have been taken */
dlock_status dlock_semaphore_drain(dlock_primitives *prims, const char *name,
                                   int64_t *permits) DLOCK_MUST_CHECK;

/* Add `permits` permits, or take away as many if the number is negative.
 *   OK        done; waiters were told if there are permits to take
 *   UNKNOWN   done or not: a second call might do it twice */
dlock_status dlock_semaphore_add(dlock_primitives *prims, const char *name,
                                 int permits) DLOCK_MUST_CHECK;

/* ---- permits: each has a name of its own, and an end ---- */

typedef struct dlock_permit {
    char id[DLOCK_TOKEN_LEN + 1]; /* 16 bytes in hex, as Redisson shows them */
} dlock_permit;

/* Make a semaphore with `permits` permits that expire.  Answers as
 * dlock_semaphore_set(). */
dlock_status dlock_permits_set(dlock_primitives *prims, const char *name,
                               int permits) DLOCK_MUST_CHECK;

/* Take one permit for `lease_ms`, at least DLOCK_LEASE_MIN_MS, and wait for the permit
 * up to `wait_ms` (0: one attempt; negative: for ever).  A permit whose lease has ended
 * can be taken by the next caller.
 *   OK        *permit is the caller's until lease_ms after the call, or until
 *             dlock_permits_release()
 *   BUSY      wait_ms was 0, and no permit was free
 *   TIMEOUT   wait_ms passed; or the grant came after its own lease had ended
 *   UNKNOWN   an attempt had no answer, and the library sent a release of its permit.
 *             If that had no answer either, the permit may be missing until its lease
 *             ends.  After a wait that is the last attempt, or an earlier one whose
 *             release failed again before each later attempt
 * *permit is written only on OK. */
dlock_status dlock_permits_acquire(dlock_primitives *prims, const char *name,
                                   int64_t wait_ms, int lease_ms,
                                   dlock_permit *permit) DLOCK_MUST_CHECK;

/* Give the permit back.
 *   OK        the permit was the caller's, and is free
 *   LOST      its lease had ended, or it was given back before; no other permit was
 *             touched
 *   UNKNOWN   the permit is free when its lease ends at the latest.  A second call does
 *             no harm */
dlock_status dlock_permits_release(dlock_primitives *prims, const char *name,
                                   const dlock_permit *permit);

/* Let the lease of the permit end `lease_ms` from now, whatever was left (set, not
 * add).
 *   OK        the lease has its new end
 *   LOST      the lease had ended, the permit was given back, or the answer came after
 *             the new lease had ended: stop working
 *   UNKNOWN, IO   the lease ends at the old time or at the new one */
dlock_status dlock_permits_renew(dlock_primitives *prims, const char *name,
                                 const dlock_permit *permit,
                                 int lease_ms) DLOCK_MUST_CHECK;

/* Read how many permits can be taken now, and how many are taken, into *permits.  A
 * permit whose lease has ended can be taken. */
dlock_status dlock_permits_available(dlock_primitives *prims, const char *name,
                                     int64_t *permits) DLOCK_MUST_CHECK;
dlock_status dlock_permits_acquired(dlock_primitives *prims, const char *name,
                                    int64_t *permits) DLOCK_MUST_CHECK;

/* ---- latch: closed until it has been counted down to 0 ---- */

/* Make a closed latch with the count `count`, 1 to DLOCK_COUNT_MAX.
 *   OK     the latch is made
 *   BUSY   a closed latch of that name exists, and was not changed */
dlock_status dlock_latch_set(dlock_primitives *prims, const char *name,
                             int count) DLOCK_MUST_CHECK;

/* Count the latch down by one.  At 0 the latch opens, all waiters are woken, and its
 * key is deleted.  A latch that is open, or was never set, stays as it is.
 *   OK        *left is the count that remains; `left` may be NULL
 *   UNKNOWN   counted or not: a second call might count twice */
dlock_status dlock_latch_count_down(dlock_primitives *prims, const char *name,
                                    int64_t *left);

/* Read the count that remains into *left.  0: the latch is open, or was never set. */
dlock_status dlock_latch_count(dlock_primitives *prims, const char *name,
                               int64_t *left) DLOCK_MUST_CHECK;

/* Wait up to `wait_ms` (0: one look; negative: for ever) until the latch is open.
 *   OK        the latch is open, or was never set.  A program must set a latch before a
 *             thread waits for it
 *   BUSY      wait_ms was 0, and the latch is closed
 *   TIMEOUT   wait_ms passed, and the latch is closed
 *   LOST      the latch was deleted while the caller waited, and did not open.  The
 *             server tells that by a message: a waiter that had no connection at that
 *             moment gets OK.  Or the latch is gone after a fail-over, without a
 *             message that it opened
 * If a latch opens and is set anew at once, a waiter that did not ask in between goes
 * on waiting. */
dlock_status dlock_latch_wait(dlock_primitives *prims, const char *name,
                              int64_t wait_ms) DLOCK_MUST_CHECK;

/* Delete the latch without opening it.
 *   OK     the latch is gone, and its waiters were told
 *   LOST   there was none */
dlock_status dlock_latch_delete(dlock_primitives *prims, const char *name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* DLOCK_PRIMITIVES_H */

/* SPDX-License-Identifier: MIT */
/* dlock_primitives.h -- semaphores, permits that expire, countdown latches, in a Redis.
 *
 * They stand on Redisson's own keys, channels and messages, so that this program and a
 * Java program share them.
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
 * Answers     As in dlock.h.  Every call may also answer IO (nothing left for the
 *             store), PROTOCOL (the store refused, or the key holds something else),
 *             INVALID (a NULL, a bad name, a number out of range; nothing was sent) and
 *             NOMEM; dlock_error() tells why.  UNKNOWN: the request left, no answer
 *             came, and it may have been executed or may still be.  No request is ever
 *             sent twice by the library.
 * Names       Keys in Redis, 1 to DLOCK_NAME_MAX bytes.  A semaphore, a semaphore of
 *             permits and a latch of the same name get in each other's way.
 * Ownership   dlock_primitives_open() makes what the caller must close.
 * Threads     Any number may use the same dlock_primitives, for any names.
 * Waiting     Waiters subscribe and are woken by a message; a look every few hundred
 *             ms, at random times, stands behind it.
 * Time        Durations are milliseconds.  When a permit ends is a time of the client's
 *             wall clock, since Redisson's are: clocks that differ end other people's
 *             permits early or late by as much.
 * Fork        A child must not use what its parent opened: every call answers INVALID.
 */
#ifndef DLOCK_PRIMITIVES_H
#define DLOCK_PRIMITIVES_H

#include "dlock.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- primitives: one Redis for semaphores, permits and latches ---- */

enum { DLOCK_COUNT_MAX = 1000000000 }; /* permits and counts are at most that many */

typedef struct dlock_primitives dlock_primitives; /* opaque */

/* Reach the Redis of a URL as in dlock_options; `timeout_ms` is for one command,
 * connect included.  OK, or INVALID, IO, PROTOCOL, NOMEM and *out is NULL. */
dlock_status dlock_primitives_open(dlock_primitives **out, const char *redis_url,
                                   int timeout_ms) DLOCK_MUST_CHECK;

/* Close the connections.  NULL is fine.  Gives nothing back.  No other thread may be
 * inside a call. */
void dlock_primitives_close(dlock_primitives *prims);

/* Record every call that changes or waits for something in a new file in DIR, which is made
 * if its parent is there: for `seckill check`.  Before any call.
 *   OK
 *   INVALID, IO, NOMEM   nothing is recorded; dlock_error() tells why */
dlock_status dlock_primitives_record(dlock_primitives *prims,
                                     const char *dir) DLOCK_MUST_CHECK;

/* ---- semaphore: a number of permits that nobody in particular holds ----
 *
 * There is no owner and no lease.  A process that dies with permits takes them along
 * for ever; who gives back more than it took makes permits out of nothing; and so does
 * a release of a semaphore that was never set.  All that is Redisson's shape.  Where it
 * matters, use permits that expire. */

/* Make a semaphore of `permits`.
 *   OK     made
 *   BUSY   there is one already, and it stays as it is */
dlock_status dlock_semaphore_set(dlock_primitives *prims, const char *name,
                                 int permits) DLOCK_MUST_CHECK;

/* Take `permits` at once, or none, waiting up to `wait_ms` (0: one attempt; negative:
 * for ever).  One that was never set has none.
 *   OK        they are yours to give back
 *   BUSY      wait_ms was 0 and there were too few
 *   TIMEOUT   wait_ms passed
 *   UNKNOWN   they may have been taken, and nobody can find out: they are nobody's.
 *             Nothing is done about it, since giving back what was not taken would let
 *             in one too many.  At worst these permits, and no more, are gone for good;
 *             dlock_semaphore_add() brings them back by hand */
dlock_status dlock_semaphore_acquire(dlock_primitives *prims, const char *name,
                                     int permits, int64_t wait_ms) DLOCK_MUST_CHECK;

/* Give `permits` back.
 *   OK        done, and waiters were told
 *   UNKNOWN   done or not: to try again might give back twice */
dlock_status dlock_semaphore_release(dlock_primitives *prims, const char *name,
                                     int permits);

/* How many are there to take?  *permits may be negative. */
dlock_status dlock_semaphore_available(dlock_primitives *prims, const char *name,
                                       int64_t *permits) DLOCK_MUST_CHECK;

/* Take all there are; *permits says how many that were, maybe 0. */
dlock_status dlock_semaphore_drain(dlock_primitives *prims, const char *name,
                                   int64_t *permits) DLOCK_MUST_CHECK;

/* Make `permits` more, or fewer if it is negative. */
dlock_status dlock_semaphore_add(dlock_primitives *prims, const char *name,
                                 int permits) DLOCK_MUST_CHECK;

/* ---- permits: each has a name of its own, and an end ---- */

typedef struct dlock_permit {
    char id[DLOCK_TOKEN_LEN + 1]; /* 16 bytes in hex, as Redisson shows them */
} dlock_permit;

/* As dlock_semaphore_set(). */
dlock_status dlock_permits_set(dlock_primitives *prims, const char *name,
                               int permits) DLOCK_MUST_CHECK;

/* Take one permit for `lease_ms`, at least DLOCK_LEASE_MIN_MS, waiting as
 * dlock_semaphore_acquire() does.  One whose time is over is free for who asks next.
 *   OK        *permit is yours until its end
 *   BUSY, TIMEOUT   also if the grant came when its own lease had run out already
 *   UNKNOWN   as dlock_acquire(): a release of it was sent; if it too went unanswered,
 *             the permit may be missing until its end
 * *permit is written only on OK. */
dlock_status dlock_permits_acquire(dlock_primitives *prims, const char *name,
                                   int64_t wait_ms, int lease_ms,
                                   dlock_permit *permit) DLOCK_MUST_CHECK;

/* Give it back.
 *   OK        it was yours and is free
 *   LOST      its time was over, or it was given back before; nobody else's was touched
 *   UNKNOWN   it is free at its end at the latest.  To ask again does no harm */
dlock_status dlock_permits_release(dlock_primitives *prims, const char *name,
                                   const dlock_permit *permit);

/* Let it end `lease_ms` from now (set, not add).
 *   OK
 *   LOST      its time was over, or it was given back: stop working; also if the answer
 *             came when the new lease had run out already
 *   UNKNOWN, IO   it ends at the old time or at the new */
dlock_status dlock_permits_renew(dlock_primitives *prims, const char *name,
                                 const dlock_permit *permit,
                                 int lease_ms) DLOCK_MUST_CHECK;

/* How many are there to take, and how many are taken?  Those whose time is over are
 * free. */
dlock_status dlock_permits_available(dlock_primitives *prims, const char *name,
                                     int64_t *permits) DLOCK_MUST_CHECK;
dlock_status dlock_permits_acquired(dlock_primitives *prims, const char *name,
                                    int64_t *permits) DLOCK_MUST_CHECK;

/* ---- latch: closed until it has been counted down to 0 ---- */

/* Make a latch of `count`, closed.
 *   OK     made
 *   BUSY   there is one that is not open yet, and it stays as it is */
dlock_status dlock_latch_set(dlock_primitives *prims, const char *name,
                             int count) DLOCK_MUST_CHECK;

/* Count down by one; *left (may be NULL) is what remains.  At 0 it opens, all waiters
 * are woken, and nothing of it remains.  One that is open or was never set stays so.
 *   UNKNOWN   counted or not: to try again might count twice */
dlock_status dlock_latch_count_down(dlock_primitives *prims, const char *name,
                                    int64_t *left);

/* The counts that remain; 0: the latch is open, or was never set. */
dlock_status dlock_latch_count(dlock_primitives *prims, const char *name,
                               int64_t *left) DLOCK_MUST_CHECK;

/* Wait until it is open.
 *   OK        it is, or was never set, so have everything set it before anybody waits
 *   BUSY      wait_ms was 0 and it is closed
 *   TIMEOUT   wait_ms passed
 *   LOST      it was deleted while this waited; it did not open.  Only who hears the
 *             message knows that: who was cut off from the store just then takes it for
 *             open
 * A latch that is set anew right after it opened may keep waiters that did not look in
 * between. */
dlock_status dlock_latch_wait(dlock_primitives *prims, const char *name,
                              int64_t wait_ms) DLOCK_MUST_CHECK;

/* Remove it without opening it.
 *   OK
 *   LOST   there was none */
dlock_status dlock_latch_delete(dlock_primitives *prims, const char *name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* DLOCK_PRIMITIVES_H */

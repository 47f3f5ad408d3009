/* SPDX-License-Identifier: MIT */
/* dlock_lease.h -- the lease of a held lock: its deadline, its renewal, its release.
 *
 * A part of dlock.h, which includes it: programs include dlock.h alone. */
#ifndef DLOCK_DLOCK_LEASE_H
#define DLOCK_DLOCK_LEASE_H

#ifndef DLOCK_H
#error "include dlock.h, of which this is a part"
#endif

/* ---- lease: its deadline, its renewal, its release ---- */

enum {
    DLOCK_NAME_MAX = 200,  /* bytes of a lock's name, without the NUL             */
    DLOCK_OWNER_MAX = 63,  /* "uuid:number"                                       */
    DLOCK_TOKEN_LEN = 32,  /* 128 random bits in hex, new for every grant         */
    DLOCK_LEASE_MIN_MS = 10,
};

/* The proof that a thread holds a lock.  Read the fields, and never write them.  A copy
 * of the struct is a copy of the proof, and no second lock. */
struct dlock_lease {
    char name[DLOCK_NAME_MAX + 1];
    char owner[DLOCK_OWNER_MAX + 1];
    char token[DLOCK_TOKEN_LEN + 1];
    uint64_t fence;      /* 0 unless the variant has DLOCK_CAP_FENCED               */
    int64_t deadline_ns; /* as granted, or as dlock_renew() set it; the watchdog moves
                          * the deadline without writing here.  INT64_MAX: no lease */
    uint64_t hold;       /* the key of this hold in the library's table of holds    */
    bool shared;         /* held with other readers                                 */
    uint64_t reserved[4]; /* for fields to come, so that no lease ever grows        */
};

/* Extend the lease: it ends its own lease_ms from now, whatever time was left (set, not
 * add).  Only the thread that acquired the lock may call this.  Asks the store, and
 * waits for its timeout at most (a quarter more, if nodes of a Redis Cluster redirect).
 *   OK           lease->deadline_ns is the new deadline
 *   LOST         the caller does not hold the lock any more, or the answer came after
 *                the new lease had ended: stop writing.  The lease still has to be
 *                released
 *   UNKNOWN, IO, PROTOCOL   the store may have moved the end or not; the old deadline
 *                           counts
 *   UNSUPPORTED  the variant lacks DLOCK_CAP_RENEW
 *   INVALID      the lease was never granted, is spent, or is another thread's */
dlock_status dlock_renew(dlock_system *sys, dlock_lease *lease) DLOCK_MUST_CHECK;

/* Give the lock back, or one level of it if its owner acquired it again.  Only the
 * thread that acquired the lock may call this.
 *   OK        this level is given back; after the last level the lock is free
 *   LOST      the lease had ended, the lock was freed by force, or another Redis became
 *             the master.  The release has freed no other owner's lock, unless the
 *             variant lacks DLOCK_CAP_OWNED: naive deletes the key of any owner, and
 *             owner deletes it if the key got another owner after the check
 *   UNKNOWN   a request had no answer.  The lock is free when its lease ends at the
 *             latest; dlock_error() says if the lock is known to be free already
 *   IO, PROTOCOL   the store could not be reached or refused for now (IO), or refused for
 *             good (PROTOCOL).  The lock is free when its lease ends
 *   INVALID   the lease was never granted, is spent, or is another thread's; nothing
 *             changed
 * After every answer but INVALID the lease is spent.
 *
 * Each request has the timeout of its store, and the caller cannot set another.  If the
 * variant has leases, and the store could not be reached, refused for now or did not
 * answer, the library repeats the release with pauses: for two seconds, for ten with a
 * Redis that can fail over (Sentinels, a Redis Cluster), or for the length of the lease
 * if that is less.  With naive, setnx and getset the library does not repeat a release
 * that had no answer, because a second DEL could free another owner's lock. */
dlock_status dlock_release(dlock_system *sys, dlock_lease *lease);

/* Give the lock up without releasing it: the watchdog does not renew the lock any more,
 * and the lock is free when its lease ends.  For a holder that cannot say whether its
 * work has ended, such as after an unanswered COMMIT.  Asks no store.  Only the thread
 * that acquired the lock may call this.
 *   OK        no owner gets the lock until its lease ends.  That is at most its
 *             lease_ms from now, or from the arrival of a renewal that was under way
 *   INVALID   the lease was never granted, is spent, or is another thread's
 * A variant without DLOCK_CAP_EXPIRES has no lease, so the call releases the lock, and
 * answers as dlock_release().  After every answer but INVALID the lease is spent.  If
 * the lease was one level of several, all levels are given up: the release of another
 * level then answers LOST and touches nothing. */
dlock_status dlock_abandon(dlock_system *sys, dlock_lease *lease);

/* Does this lease still protect its holder?  Asks no store.  Any thread.  False if
 *   - the deadline has passed.  The deadline is the moment at which the last successful
 *     request was sent, plus the lease, less an allowance for clocks that drift apart;
 *   - a renewal was refused, or the lease is spent;
 *   - another Redis than the one that granted the lease has become the master, as
 *     Sentinels or the nodes of a Redis Cluster say;
 *   - the lock has no lease, and the session that holds it may have ended. */
bool dlock_lease_valid(const dlock_system *sys, const dlock_lease *lease);

/* The milliseconds until dlock_lease_valid() becomes false, rounded up.  0: the lease
 * is not valid.  INT64_MAX: the lock has no lease.  Asks no store.  Any thread. */
int64_t dlock_lease_left_ms(const dlock_system *sys, const dlock_lease *lease);

/* An eventfd that becomes readable when holds were lost, for a program with an event
 * loop instead of on_lost.  A read takes 8 bytes: the number of holds lost since the
 * last read.  A read without a loss fails with EAGAIN.  The descriptor becomes readable
 * at the moment at which on_lost is called, also for locks that were acquired before
 * the first call of dlock_lost_fd().  Every call answers the same descriptor; the
 * system owns it, and dlock_close() closes it.  Only wait for the descriptor and read
 * it.  -1: no memory, no thread or no descriptor is left, or the system is the
 * parent's; dlock_error() says which.  Any thread. */
int dlock_lost_fd(dlock_system *sys);

/* ---- trace: for which request a lock is held ---- */

/* The limit of a trace's id, in bytes without the NUL. */
enum { DLOCK_TRACE_MAX = 64 };

/* Write into the record (dlock_options.record_dir) that the hold of this lease serves the
 * trace `trace`, such as the 32 hex digits of a W3C trace id.  `seckill check` then names the
 * trace beside each call of the hold, and the logs of the program have the same id.  A hold that
 * serves several traces gets one call for each.  The library does nothing else with the id.
 * Asks no store.  Any thread.
 *   OK        the trace is in the record.  Or the system has no record, and the call
 *             did nothing; or the record has no more room, and its count of dropped
 *             records grew by one
 *   INVALID   the id is NULL, empty, longer than DLOCK_TRACE_MAX, or has another byte than
 *             A-Z a-z 0-9 . _ : - ; or the lease was never granted, or is spent.  Nothing
 *             was recorded.  Or the system belongs to the parent of a forked child.
 *             Without a record the call checks `sys` alone */
dlock_status dlock_trace(dlock_system *sys, const dlock_lease *lease, const char *trace);

#endif /* DLOCK_DLOCK_LEASE_H */

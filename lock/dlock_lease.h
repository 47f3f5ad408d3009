/* SPDX-License-Identifier: MIT */
/* dlock_lease.h -- what is held, for how long, and giving it back.
 *
 * A part of dlock.h, which includes it: programs include dlock.h alone. */
#ifndef DLOCK_DLOCK_LEASE_H
#define DLOCK_DLOCK_LEASE_H

#ifndef DLOCK_H
#error "include dlock.h, of which this is a part"
#endif

/* ---- lease: what is held, for how long, and giving it back ---- */

enum {
    DLOCK_NAME_MAX = 200,  /* bytes of a lock's name, without the NUL             */
    DLOCK_OWNER_MAX = 63,  /* "uuid:number"                                       */
    DLOCK_TOKEN_LEN = 32,  /* 128 random bits in hex, new for every grant         */
    DLOCK_LEASE_MIN_MS = 10,
};

/* Proof of ownership.  Read it; never write it.  Copying it copies the proof, not the
 * lock. */
struct dlock_lease {
    char name[DLOCK_NAME_MAX + 1];
    char owner[DLOCK_OWNER_MAX + 1];
    char token[DLOCK_TOKEN_LEN + 1];
    uint64_t fence;      /* 0 unless the variant has DLOCK_CAP_FENCED               */
    int64_t deadline_ns; /* as granted; the watchdog may have moved it since.
                          * INT64_MAX: this variant's locks never expire            */
    uint64_t hold;       /* the library's own key to what it knows of this hold     */
    bool shared;         /* held with other readers                                 */
    uint64_t reserved[4]; /* for fields to come, so that no lease ever grows        */
};

/* Extend the lease to its own lease_ms from now (set, not add).
 *   OK           the deadline moved forward
 *   LOST         you no longer hold it; stop writing
 *   UNKNOWN, IO  it may or may not have moved; the old deadline still counts
 *   UNSUPPORTED  the variant lacks DLOCK_CAP_RENEW */
dlock_status dlock_renew(dlock_system *sys, dlock_lease *lease) DLOCK_MUST_CHECK;

/* Give the lock back (one level of it, if it was acquired again by its owner).
 *   OK        it was yours and this level is returned
 *   LOST      it had expired or was taken over; nothing of anyone else's was touched,
 *             unless the variant is one that frees whoever's lock it finds (naive,
 *             and owner between its check and its delete)
 *   UNKNOWN, IO, PROTOCOL   it frees itself when the lease ends; or, which dlock_error()
 *             tells, it is free already, and only the first request went unanswered
 *   INVALID   the lease was never granted, was already released, or is another thread's
 * The lease is spent afterwards, whatever the answer.  Its own timeout applies; no
 * deadline of the caller's.  A lock with a lease is asked for again while its store cannot be
 * reached or does not answer, for two seconds or as long as the lease, if that is less. */
dlock_status dlock_release(dlock_system *sys, dlock_lease *lease);

/* Let go of the lock without giving it back: it is not renewed any more, and frees
 * itself when its lease ends.  For a holder who cannot say whether its work is over.
 * Asks no store.
 *   OK        nobody has the lock until its lease ends: at most its own lease_ms
 *             from now, or from when a renewal arrives that was already under way
 *   INVALID   as dlock_release()
 * A variant without DLOCK_CAP_EXPIRES releases instead, and answers that.  The lease is
 * spent afterwards.  If it was one level of several, all are let go: releasing the
 * others answers LOST and touches nothing. */
dlock_status dlock_abandon(dlock_system *sys, dlock_lease *lease);

/* Does this lease still protect its holder?  Asks no store: false once the deadline,
 * counted from when the last successful request was sent, less drift, has passed, or once
 * a renewal was refused; and without a deadline, once the session that holds the lock may
 * have ended. */
bool dlock_lease_valid(const dlock_system *sys, const dlock_lease *lease);

/* Milliseconds until then; 0 if not valid; INT64_MAX if it never expires. */
int64_t dlock_lease_left_ms(const dlock_system *sys, const dlock_lease *lease);

/* An eventfd that can be read when holds were lost, for who has a loop instead of a
 * callback: each read takes 8 bytes, the number of holds lost since the last read, and
 * without any answers EAGAIN.  It tells as early as on_lost does, of holds from before
 * the call too.  The system's, the same for every call, closed by dlock_close(); wait for
 * it and read it, no more.  -1: no memory, no thread, no descriptor; dlock_error()
 * tells.  Any thread. */
int dlock_lost_fd(dlock_system *sys);

#endif /* DLOCK_DLOCK_LEASE_H */

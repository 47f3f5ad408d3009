/* SPDX-License-Identifier: MIT */
/* dlock_inspect.h -- looking at a lock from outside.
 *
 * A part of dlock.h, which includes it: programs include dlock.h alone. */
#ifndef DLOCK_DLOCK_INSPECT_H
#define DLOCK_DLOCK_INSPECT_H

#ifndef DLOCK_H
#error "include dlock.h, of which this is a part"
#endif

/* ---- inspect: looking at a lock from outside ---- */

/* The state of a lock at one moment, as its store knows it. */
typedef struct dlock_info {
    bool locked;
    bool shared;        /* held by readers                                           */
    int hold_count;     /* levels that the holder has; -1: not known                 */
    int reader_count;   /* owners that read; 0 if the lock is not shared             */
    int waiter_count;   /* waiters that the store sees: the threads in a queue or in
                         * the store, or one for each system that listens for the
                         * release; -1: not known                                    */
    int64_t left_ms;    /* until the lock ends by itself; INT64_MAX: never, or with a
                         * session; -1: not known                                    */
    uint64_t fence;     /* of the holder; 0: the variant has none                    */
    char owner[DLOCK_OWNER_MAX + 1]; /* of one holder, as the store has it:
                         * "uuid:number", a token or a session; "": not stored       */
    char next_owner[DLOCK_OWNER_MAX + 1]; /* of a lock with a queue in Redis: the owner
                         * whose turn is next; "": nobody waits, or no such queue     */
    int64_t next_left_ms; /* how long that turn is kept for an owner that does not ask
                         * again                                                      */
    bool next_is_gone;  /* no client listens for that turn, because its waiter has died
                         * or is about to listen.  A Redisson waiter that died keeps
                         * everybody out for next_left_ms; dlock_force_release() takes
                         * the turn away                                              */
} dlock_info;

/* The function that dlock_inspect() calls: `size` is sizeof(dlock_info) where the
 * program was built. */
dlock_status dlock_inspect_sized(dlock_system *sys, const char *name, dlock_info *out,
                                 size_t size) DLOCK_MUST_CHECK;

/* Ask the store for the state of the lock `name`, whoever holds it.  Changes nothing.
 * Any thread.
 *   OK           *out is the state of a moment ago: another owner may hold the lock by
 *                now
 *   UNSUPPORTED  the variant cannot tell
 *   IO           the store could not be reached, or did not answer
 *   PROTOCOL     the store refused, or has something under this name that is no lock of
 *                this variant
 *   INVALID      the name is no name, an argument is missing, or the system is the
 *                parent's
 * *out says something only on OK. */
DLOCK_MUST_CHECK static inline dlock_status
dlock_inspect(dlock_system *sys, const char *name, dlock_info *out)
{
    return dlock_inspect_sized(sys, name, out, sizeof(*out));
}

/* Free the lock `name`, whoever holds it, with all its levels and readers, and tell a
 * waiter.  For operators: the holder goes on working until its next renewal, or its
 * release, answers LOST.  If the lock is free, the turns of waiters that are gone
 * (dlock_info.next_is_gone) are taken away.  Any thread.
 *   OK           the lock was held, or such turns were there; the lock is free
 *   LOST         the lock was free, and there was no such turn; nothing changed
 *   UNSUPPORTED  the variant cannot do that
 *   UNKNOWN      no answer came, or a session that was told to end has not ended yet:
 *                the lock may be free
 *   IO           the store could not be reached; nothing changed
 *   PROTOCOL     the store refused: PostgreSQL, for example, to end a session of another role
 *   INVALID      the name is no name, or the system is the parent's */
dlock_status dlock_force_release(dlock_system *sys, const char *name) DLOCK_MUST_CHECK;

#endif /* DLOCK_DLOCK_INSPECT_H */

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

/* The store's knowledge of a lock at one moment. */
typedef struct dlock_info {
    bool locked;
    bool shared;        /* by readers                                                */
    int hold_count;     /* levels that the holder has; -1: not known                 */
    int reader_count;   /* owners that read; 0 if it is not shared                   */
    int waiter_count;   /* who waits for it, as far as the store sees: threads in a
                         * queue or in the store, or one for each system that listens
                         * for its release; -1: not known                            */
    int64_t left_ms;    /* until it ends by itself; INT64_MAX: never, or with a session;
                         * -1: not known                                             */
    uint64_t fence;     /* of the holder; 0 if there are none                        */
    char owner[DLOCK_OWNER_MAX + 1]; /* of one holder, as written in the store: "uuid:
                         * number", a token, a session; "" if the store is not told  */
    char next_owner[DLOCK_OWNER_MAX + 1]; /* of a lock with a queue in Redis: whose turn
                         * is next; "" if nobody waits, or there is no such queue        */
    int64_t next_left_ms; /* how long that turn is kept for it if it does not ask again  */
    bool next_is_gone;  /* no client listens for that turn: its waiter has died, or is
                         * about to listen.  A waiter of Redisson's that died keeps the
                         * lock from everybody for next_left_ms; dlock_force_release()
                         * takes the turn away                                           */
} dlock_info;

/* dlock_inspect() calls this: `size` is sizeof(dlock_info) where the program was built.
 * */
dlock_status dlock_inspect_sized(dlock_system *sys, const char *name, dlock_info *out,
                                 size_t size) DLOCK_MUST_CHECK;

/* Look at the lock `name`, whoever holds it.
 *   OK           *out is what it was a moment ago: another may hold it by now
 *   UNSUPPORTED  the variant cannot tell
 *   IO, PROTOCOL (also: what is there is no lock of this variant), INVALID */
DLOCK_MUST_CHECK static inline dlock_status
dlock_inspect(dlock_system *sys, const char *name, dlock_info *out)
{
    return dlock_inspect_sized(sys, name, out, sizeof(*out));
}

/* Free the lock `name`, whoever holds it, with all its levels and readers; one that waits
 * is told.  For an operator: the holder goes on working until its next renewal, or its
 * release, answers LOST.  Where nobody holds it, the turns of waiters that are gone (see
 * dlock_info.next_is_gone) are taken away.
 *   OK           it was held, or such turns were there, and is free
 *   LOST         nobody held it
 *   UNSUPPORTED  the variant cannot do that
 *   UNKNOWN      no answer, or a session that was told to end has not ended yet: it may be
 *                free
 *   IO, PROTOCOL (a store refused, such as to end another role's session), INVALID */
dlock_status dlock_force_release(dlock_system *sys, const char *name) DLOCK_MUST_CHECK;

#endif /* DLOCK_DLOCK_INSPECT_H */

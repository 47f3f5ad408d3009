/* SPDX-License-Identifier: MIT */
/* holds.h -- the table of what this process holds.
 *
 * Every granted lease has a slot.  The slot of a thread's first lease on a name is the
 * `root` of the hold: it keeps the deadline that all levels of re-entry share, and
 * lives until the last of them is released, in whatever order that happens.  A thread's
 * holds of a name as a reader and as a writer are two, under one number.
 *
 * A slot's memory is never given back before the table is closed, so that a lease can
 * be asked for its validity without a lock: its id has to match, before and after.
 *
 * Threads     Any.  A slot that was begun and not yet granted, or is being released,
 *             belongs to the thread that does so; everything else is under the mutex of
 *             the slot's shard.
 */
#ifndef DLOCK_HOLDS_H
#define DLOCK_HOLDS_H

#include "lock/hold.h"

/* Reserve a slot for an acquire of `name` by the calling thread.  If the thread holds
 * the name already, as `shared` says, and that lease is valid, the slot's root is that
 * hold, otherwise itself.  A hold that is past its deadline is given up, and so is the
 * number it was taken under.  NULL: no memory. */
struct dlock_hold *dlock_holds_begin(struct dlock_holds *holds, const char *name,
                                     bool shared);

/* A root's number is the thread's of now, or that of its hold of the other kind. */
void dlock_holds_renumber(struct dlock_hold *hold);

/* The store may know the hold's number as a holder without our leave: an unanswered
 * release of it is on its way, or it was abandoned.  So nothing new is taken under it:
 * the calling thread, whose hold it is, gets another number, and its hold of the other
 * kind keeps the old one to itself. */
void dlock_holds_part(struct dlock_holds *holds, struct dlock_hold *hold);

/* The acquire was refused: give the slot back. */
void dlock_holds_abandon(struct dlock_holds *holds, struct dlock_hold *hold);

/* The store no longer knows the outer levels: they are lost, and the hold is its own
 * root from now on, under a new number. */
void dlock_holds_split(struct dlock_holds *holds, struct dlock_hold *hold);

/* The acquire was granted until `deadline_ns`, for facts.lease_ms.  `watched`: it is to
 * be renewed at renew_at_ns.  Answers the id for the lease. */
uint64_t dlock_holds_grant(struct dlock_holds *holds, struct dlock_hold *hold,
                           int64_t deadline_ns, int64_t renew_at_ns, bool watched);

/* Begin to release the lease `id`, which from now on is spent, and not renewed any more
 * if it was the last level.  NULL: no such lease, or another thread's.  *level is the
 * level to return. */
struct dlock_hold *dlock_holds_release(struct dlock_holds *holds, uint64_t id,
                                       int *level);

/* Spend the lease `id` as above, and give up its root with every level: lost without
 * anybody being told, not renewed any more, not found by name.  NULL: as above. */
struct dlock_hold *dlock_holds_forget(struct dlock_holds *holds, uint64_t id);

/* That release was answered, or not; or the root was forgotten. */
void dlock_holds_finish(struct dlock_holds *holds, struct dlock_hold *hold);

/* The root of the lease `id` if it is the calling thread's, otherwise NULL. */
struct dlock_hold *dlock_holds_find(struct dlock_holds *holds, uint64_t id);

/* A renewal of the root was granted.  False, and no change: it is lost or released
 * meanwhile. */
bool dlock_holds_renewed(struct dlock_holds *holds, struct dlock_hold *root,
                         uint64_t serial, int64_t deadline_ns, int64_t renew_at_ns);

/* A renewal failed: try again then. */
void dlock_holds_retry_at(struct dlock_holds *holds, struct dlock_hold *root,
                          uint64_t serial, int64_t renew_at_ns);

/* The store says that the root is no longer ours.  `untold`: on_lost has to be called for it. */
void dlock_holds_lose(struct dlock_holds *holds, struct dlock_hold *root,
                      uint64_t serial, bool untold);

/* Is the root still held? */
bool dlock_holds_is_held(struct dlock_holds *holds, const struct dlock_hold *root,
                         uint64_t serial);

/* Can its owner do nothing more with that use of the slot: is it lost, past its deadline,
 * or free again?  A hold that is begun, or being released, is not over. */
bool dlock_holds_is_over(struct dlock_holds *holds, const struct dlock_hold *root,
                         uint64_t serial);

/* The worth of a lease: its deadline; 0 if lost or released; INT64_MAX if it never
 * expires.  Takes no lock. */
int64_t dlock_holds_deadline_ns(const struct dlock_holds *holds, uint64_t id);

/* Copy what a claim says of the root of the lease `id`.  False: it is lost or released. */
bool dlock_holds_look(struct dlock_holds *holds, uint64_t id,
                      struct dlock_hold_facts *out);

/* Call `visit` for every root that is held, or lost and untold, with its shard locked.
 * `visit` may change the root, and must not call back into the table. */
void dlock_holds_visit(struct dlock_holds *holds,
                       void (*visit)(struct dlock_hold *root, void *arg), void *arg);

/* For `visit`: the root is lost, for that reason if it was not lost before. */
void dlock_hold_mark_lost(struct dlock_hold *root, bool untold, enum dlock_loss loss);

#endif /* DLOCK_HOLDS_H */

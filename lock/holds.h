/* SPDX-License-Identifier: MIT */
/* holds.h -- the table of the holds of one system.
 *
 * Every granted lease has a slot.  The slot of a thread's first lease on a name is the
 * `root` of the hold: it keeps the deadline that all levels of re-entry share, and
 * lives until the last of them is released, in whatever order that happens.  A thread
 * that has a name as a reader and as a writer has two holds, under one owner number.
 *
 * The memory of a slot is freed only when the table is closed.  So dlock_lease_valid()
 * can read a slot without a mutex: it compares the slot's id with the lease's id before
 * and after the read.
 *
 * Threads     Any.  A slot of an acquire that is under way, or of a level that is being
 *             released, belongs to the thread of that call.  Every other slot is under
 *             the mutex of its shard.  A function with a parameter `serial` (struct
 *             dlock_hold) changes nothing if the slot has another serial by now,
 *             because then another hold uses the slot.
 */
#ifndef DLOCK_HOLDS_H
#define DLOCK_HOLDS_H

#include "lock/hold.h"

/* Reserve a slot for an acquire of `name` by the calling thread.  If the thread holds
 * the name already, in the same kind (`shared`), and that lease is valid, the slot's
 * root is that hold.  Otherwise the slot is its own root.  A hold past its deadline is
 * given up, and the thread's number with it.  NULL: no memory. */
struct dlock_hold *dlock_holds_begin(struct dlock_holds *holds, const char *name,
                                     bool shared);

/* Give a root the present number of the thread, or the number of the thread's hold of
 * the other kind. */
void dlock_holds_renumber(struct dlock_hold *hold);

/* Retire the number of the hold, which the calling thread owns.  Needed when the store
 * may still hold the lock under this number: a release is unanswered, or the hold was
 * abandoned.  The thread gets another number for later acquires, and its hold of the
 * other kind is then the only user of the old number. */
void dlock_holds_retire_number(struct dlock_holds *holds, struct dlock_hold *hold);

/* The acquire was refused: give the slot back. */
void dlock_holds_abandon(struct dlock_holds *holds, struct dlock_hold *hold);

/* The store does not know the outer levels any more: mark them as lost, and make the
 * hold its own root, under a new number. */
void dlock_holds_split(struct dlock_holds *holds, struct dlock_hold *hold);

/* The acquire was granted until `deadline_ns`, for facts.lease_ms.  `watched`: the
 * watchdog renews the hold at renew_at_ns.  Returns the id for the lease. */
uint64_t dlock_holds_grant(struct dlock_holds *holds, struct dlock_hold *hold,
                           int64_t deadline_ns, int64_t renew_at_ns, bool watched);

/* Begin to release the lease `id`.  From now on the lease is spent; if it was the last
 * level, the watchdog does not renew the hold any more.  *level is the level to give
 * back.  NULL: there is no such lease, or it belongs to another thread. */
struct dlock_hold *dlock_holds_release(struct dlock_holds *holds, uint64_t id,
                                       int *level);

/* Spend the lease `id` as above, and give up its root with every level: the root counts
 * as lost, on_lost is not called, the watchdog does not renew it, and a search by name
 * does not find it.  NULL: as above. */
struct dlock_hold *dlock_holds_forget(struct dlock_holds *holds, uint64_t id);

/* End what dlock_holds_release() or dlock_holds_forget() began, whatever the store
 * answered. */
void dlock_holds_finish(struct dlock_holds *holds, struct dlock_hold *hold);

/* The root of the lease `id` if it is the calling thread's, otherwise NULL. */
struct dlock_hold *dlock_holds_find(struct dlock_holds *holds, uint64_t id);

/* A renewal of the root was granted.  False, and no change: the root was lost or
 * released meanwhile. */
bool dlock_holds_renewed(struct dlock_holds *holds, struct dlock_hold *root,
                         uint64_t serial, int64_t deadline_ns, int64_t renew_at_ns);

/* A renewal of the root failed: the watchdog tries again at renew_at_ns. */
void dlock_holds_retry_at(struct dlock_holds *holds, struct dlock_hold *root,
                          uint64_t serial, int64_t renew_at_ns);

/* The store answered that this owner does not hold the root any more: mark it as lost.
 * `untold`: on_lost has to be called for it. */
void dlock_holds_lose(struct dlock_holds *holds, struct dlock_hold *root,
                      uint64_t serial, bool untold);

/* Is the root still held? */
bool dlock_holds_is_held(struct dlock_holds *holds, const struct dlock_hold *root,
                         uint64_t serial);

/* Has the hold ended for its owner: is it lost, past its deadline, or is the slot free
 * or used anew?  A hold whose acquire or release is under way has not ended. */
bool dlock_holds_is_over(struct dlock_holds *holds, const struct dlock_hold *root,
                         uint64_t serial);

/* The deadline of the lease `id`; 0: lost or released; INT64_MAX: it never expires.
 * Locks no mutex. */
int64_t dlock_holds_deadline_ns(const struct dlock_holds *holds, uint64_t id);

/* Copy the facts of the root of the lease `id` into *out.  False: the root is lost or
 * released, and *out must not be used. */
bool dlock_holds_look(struct dlock_holds *holds, uint64_t id,
                      struct dlock_hold_facts *out);

/* Call `visit` for every root that is held, or lost and untold, with its shard locked.
 * `visit` may change the root, and must not call back into the table. */
void dlock_holds_visit(struct dlock_holds *holds,
                       void (*visit)(struct dlock_hold *root, void *arg), void *arg);

/* Call `visit` for the roots that are due at now_ns, as above; within a shard what has
 * been due for the longest time comes first.  After false the visits end, and the other
 * roots stay due.  `visit` leaves no root due that it answers true for.  Returns when the
 * next root is due; INT64_MAX: none.  Only the watchdog's thread calls this. */
int64_t dlock_holds_due(struct dlock_holds *holds, enum dlock_due_kind kind, int64_t now_ns,
                        bool (*visit)(struct dlock_hold *root, void *arg), void *arg);

/* For `visit`: mark the root as lost, for the reason `loss` if it was not lost
 * before. */
void dlock_hold_mark_lost(struct dlock_hold *root, bool untold, enum dlock_loss loss);

#endif /* DLOCK_HOLDS_H */

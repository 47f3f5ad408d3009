/* SPDX-License-Identifier: MIT */
/* debts.h -- the debts of a system: releases that no thread waits for, until the store
 * has answered each.  They are the releases of dlock_release_later(), and the releases of
 * attempts that failed without an answer.
 *
 * The thread that releases queues the request.  The thread that reads the store's
 * answer settles the debt.  The system starts a thread of its own with the first debt,
 * the payer: it sends requests that have been queued for DLOCK_LATER_MS, reads answers
 * that no other thread has read, and repeats requests that failed.
 *
 * No later acquire uses the owner that a debt names (dlock_holds_retire_number()), so the
 * release can be sent again at any time without harm.
 *
 * Threads     Any; stop and free only when no other thread is inside a call. */
#ifndef DLOCK_DEBTS_H
#define DLOCK_DEBTS_H

#include "lock/system.h"

/* Queue the release of the only level of a hold as a debt.  `call`: the number of its
 * record, which ends with the store's answer; 0: not recorded.  `is_counted`: the loss
 * of the hold is in the metrics already.  False: no memory or no thread, and nothing
 * was queued. */
bool dlock_debts_owe(dlock_system *sys, const struct dlock_hold_facts *facts, uint64_t call,
                     bool is_counted);

/* Make a debt of the release of an attempt that was not answered and that the store may
 * have granted, or may still grant when the request arrives.  No later acquire may use
 * the owner of `facts`.  Without memory or a thread nothing is done, and the lock ends
 * with its lease. */
void dlock_debts_owe_attempt(dlock_system *sys, const struct dlock_hold_facts *facts);

/* Send the failed releases of the lock `name` once more, if there are any.  An acquire
 * of `name` calls this first. */
void dlock_debts_pay_name(dlock_system *sys, const char *name);

/* Wait at most wait_ms until all debts are paid, and end the payer.  Returns the number
 * of debts that remain. dlock_debts_free() frees the debts, and comes after the store
 * is closed: until then the store may still end posts. */
uint64_t dlock_debts_stop(dlock_system *sys, int64_t wait_ms);
void dlock_debts_free(dlock_system *sys);

#endif /* DLOCK_DEBTS_H */

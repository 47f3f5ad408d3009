/* SPDX-License-Identifier: MIT */
/* debts.h -- the releases of a system that nobody waits for, until each has an answer.
 *
 * A debt is queued with the store, and told of by the thread that reads its answer.  A thread
 * of the system's own, the payer, begins with the first debt: it sends what has been queued
 * for DLOCK_LATER_MS, has answers read that nobody read, and repeats what failed.
 *
 * A debt names an owner that nobody acquires under any more (dlock_holds_part()), so it can
 * be asked for again at any time.
 *
 * Threads     Any, but for stop and free. */
#ifndef DLOCK_DEBTS_H
#define DLOCK_DEBTS_H

#include "lock/system.h"

/* Owe the store the release of the only level of a hold.  `call`: its record, which is ended
 * with the answer; 0: none.  `is_counted`: its loss is in the metrics.  False: there is no
 * memory or no thread, and nothing is owed. */
bool dlock_debts_owe(dlock_system *sys, const struct dlock_hold_facts *facts, uint64_t call,
                     bool is_counted);

/* Before `name` is asked for: ask once more for the releases of it that failed, if there are
 * any. */
void dlock_debts_pay_name(dlock_system *sys, const char *name);

/* Pay for at most wait_ms, and end the payer; free() comes after the store is closed.
 * stop() answers how many remain. */
uint64_t dlock_debts_stop(dlock_system *sys, int64_t wait_ms);
void dlock_debts_free(dlock_system *sys);

#endif /* DLOCK_DEBTS_H */

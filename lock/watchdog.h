/* SPDX-License-Identifier: MIT */
/* watchdog.h -- the thread that renews what a system holds and notices what it lost. */
#ifndef DLOCK_WATCHDOG_H
#define DLOCK_WATCHDOG_H

#include "lock/system.h"

/* Start the thread: it renews holds that are watched, and looks at the deadlines of all.
 * NULL: no memory or no thread. */
struct dlock_watchdog *dlock_watchdog_start(dlock_system *sys);

/* Stop and free it.  NULL is fine. */
void dlock_watchdog_stop(struct dlock_watchdog *dog);

/* Something is due at `at_ns`: wake no later.  Costs one load if that was so anyway. */
void dlock_watchdog_expect(struct dlock_watchdog *dog, int64_t at_ns);

#endif /* DLOCK_WATCHDOG_H */

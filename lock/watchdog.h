/* SPDX-License-Identifier: MIT */
/* watchdog.h -- the thread that renews the holds of a system and finds those that were
 * lost. */
#ifndef DLOCK_WATCHDOG_H
#define DLOCK_WATCHDOG_H

#include "lock/system.h"

/* Start the thread.  It renews the holds that are watched, and checks the deadlines of
 * all holds.  NULL: no memory or no thread. */
struct dlock_watchdog *dlock_watchdog_start(dlock_system *sys);

/* Stop the thread and free it.  NULL is fine. */
void dlock_watchdog_stop(struct dlock_watchdog *watchdog);

/* Make the watchdog wake up at `at_ns` or earlier.  Costs one load if it does so
 * anyway. */
void dlock_watchdog_expect(struct dlock_watchdog *watchdog, int64_t at_ns);

#endif /* DLOCK_WATCHDOG_H */

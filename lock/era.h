/* SPDX-License-Identifier: MIT */
/* era.h -- a store whose address comes to mean another server, as after a fail-over.
 *
 * The server of now may not know what the server before has granted.  So each hold keeps the era
 * in which it was asked for, and is lost once the store is in another one.  Whoever asks the
 * core anything looks first: a thread that gets a lock of the new server has marked the holds of
 * the old server before its acquire returns.
 *
 * Threads     Any. */
#ifndef DLOCK_ERA_H
#define DLOCK_ERA_H

#include "lock/system.h"

/* The number of changes of the store's servers so far, from 1 on; 0: its address means one server.
 * The second is the era of the server that keeps the lock `name`, which is what a hold remembers. */
uint64_t dlock_era(const dlock_system *sys);
uint64_t dlock_era_of(const dlock_system *sys, const char *name);

/* If the era has changed since the last look, mark the holds of earlier eras as lost, of which
 * the watchdog tells.  True: it has.  Costs two loads if not. */
bool dlock_era_look(const dlock_system *sys);

/* Is the era over in which this was granted? */
bool dlock_era_is_over(const dlock_system *sys, const struct dlock_hold_facts *facts);

#endif /* DLOCK_ERA_H */

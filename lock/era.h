/* SPDX-License-Identifier: MIT */
/* era.h -- a store whose address can come to mean another server, as after a fail-over.
 *
 * An era lasts for as long as the address means one server.  The new server may not know what the
 * old server granted.  So each hold keeps the era in which it was asked for, and is lost once the
 * store is in another era.  A renewal, a release and dlock_lease_valid() compare the era before
 * they do anything else, and an acquire compares it after the answer: before an acquire returns a
 * lock of the new server, its thread has marked the holds of the old server as lost.
 *
 * Threads     Any. */
#ifndef DLOCK_ERA_H
#define DLOCK_ERA_H

#include "lock/system.h"

/* dlock_era() is 1 plus the number of times that another server took over an address of
 * the store. dlock_era_of() is the era of the server that keeps the lock `name`; a hold
 * keeps this number.  Both are 0 if the address always means one server. */
uint64_t dlock_era(const dlock_system *sys);
uint64_t dlock_era_of(const dlock_system *sys, const char *name);

/* If the era has changed since the last look, mark the holds of earlier eras as lost; the watchdog
 * then tells their holders.  True: the era has changed.  If not, the call costs two loads. */
bool dlock_era_look(const dlock_system *sys);

/* Has another server taken over since the hold of `facts` was asked for? */
bool dlock_era_is_over(const dlock_system *sys, const struct dlock_hold_facts *facts);

#endif /* DLOCK_ERA_H */

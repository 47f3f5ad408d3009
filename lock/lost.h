/* SPDX-License-Identifier: MIT */
/* lost.h -- telling of holds that were lost. */
#ifndef DLOCK_LOST_H
#define DLOCK_LOST_H

#include "lock/hold.h"
#include "lock/system.h"

/* Count a hold that was lost, with the reason.  Any thread. */
void dlock_lost_count(dlock_system *sys, enum dlock_loss loss);

/* Count them, each with its reason, and tell whoever wants to know.  The watchdog's thread. */
void dlock_lost_tell(dlock_system *sys, const dlock_lease *leases,
                     const enum dlock_loss *losses, size_t count);

/* Close the event if there is one. */
void dlock_lost_close(dlock_system *sys);

#endif /* DLOCK_LOST_H */

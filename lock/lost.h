/* SPDX-License-Identifier: MIT */
/* lost.h -- counting lost holds, and reporting them to the program. */
#ifndef DLOCK_LOST_H
#define DLOCK_LOST_H

#include "lock/hold.h"
#include "lock/system.h"

/* Count a lost hold in the metrics, by its reason.  Any thread. */
void dlock_lost_count(dlock_system *sys, enum dlock_loss loss);

/* Count `count` lost holds, each by its reason, call on_lost for each, and make the
 * descriptor of dlock_lost_fd() readable.  The watchdog's thread only. */
void dlock_lost_tell(dlock_system *sys, const dlock_lease *leases,
                     const enum dlock_loss *losses, size_t count);

/* Close the descriptor of dlock_lost_fd(), if there is one.  Only when the system is
 * closed. */
void dlock_lost_close(dlock_system *sys);

#endif /* DLOCK_LOST_H */

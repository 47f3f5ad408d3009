/* SPDX-License-Identifier: MIT */
/* renew.h -- the renewal of a lease, for its owner and for the watchdog. */
#ifndef DLOCK_RENEW_H
#define DLOCK_RENEW_H

#include "lock/system.h"

/* Call the slot `renew` of the variant, and count the renewal in the metrics.  Answers
 * as the slot. */
dlock_status dlock_renew_claim(dlock_system *sys, const dlock_claim *claim);

#endif /* DLOCK_RENEW_H */

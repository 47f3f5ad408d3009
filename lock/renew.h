/* SPDX-License-Identifier: MIT */
/* renew.h -- the renewal of a lease, which its owner and the watchdog ask for. */
#ifndef DLOCK_RENEW_H
#define DLOCK_RENEW_H

#include "lock/system.h"

/* The variant's renew, counted. */
dlock_status dlock_renew_claim(dlock_system *sys, const dlock_claim *claim);

#endif /* DLOCK_RENEW_H */

/* SPDX-License-Identifier: MIT */
/* renew.h -- the renewal of a lease, for its owner and for the watchdog. */
#ifndef DLOCK_RENEW_H
#define DLOCK_RENEW_H

#include "lock/system.h"

/* Call the slot `renew` of the variant, or `renew_all` for several claims, at most
 * DLOCK_RENEW_ALL_MAX; and count the renewals in the metrics.  Answers as the slots. */
void dlock_renew_claims(dlock_system *sys, const dlock_claim *claims, size_t count,
                        dlock_status *statuses);

#endif /* DLOCK_RENEW_H */

/* SPDX-License-Identifier: MIT */
/* payer.h -- the thread that sees to it that debts leave in time and are answered, and asks
 * again for those that failed.
 *
 * Threads     One starts it and stops it. */
#ifndef DLOCK_PAYER_H
#define DLOCK_PAYER_H

#include "lock/debt.h"

/* False: there is no thread. */
bool dlock_payer_start(struct dlock_debts *debts);

/* After the request that is under way. */
void dlock_payer_stop(struct dlock_debts *debts);

#endif /* DLOCK_PAYER_H */

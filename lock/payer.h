/* SPDX-License-Identifier: MIT */
/* payer.h -- the payer: the thread that sends queued debts in time, reads their
 * answers, and repeats the requests that failed.
 *
 * Threads     start and stop are not called at the same time. */
#ifndef DLOCK_PAYER_H
#define DLOCK_PAYER_H

#include "lock/debt.h"

/* Start the payer.  False: no thread could be started. */
bool dlock_payer_start(struct dlock_debts *debts);

/* Stop the payer and wait for its end, after the request that is under way. */
void dlock_payer_stop(struct dlock_debts *debts);

#endif /* DLOCK_PAYER_H */

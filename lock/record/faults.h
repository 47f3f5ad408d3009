/* SPDX-License-Identifier: MIT */
/* faults.h -- records the faults of this process, in the file of the first of its
 * systems that records.
 *
 * Threads     Any. */
#ifndef DLOCK_RECORD_FAULTS_H
#define DLOCK_RECORD_FAULTS_H

#include "lock/record/recorder.h"

/* Record the faults of this process with `rec` from now on, unless another recorder
 * does so already. */
void dlock_record_faults_to(dlock_recorder *rec);

/* Record no more faults with `rec`, which is about to be closed.  NULL is fine. */
void dlock_record_no_faults_to(dlock_recorder *rec);

/* Record a fault of this process; without a recorder the call does nothing. */
void dlock_record_fault(const char *what, dlock_fault_phase phase,
                        dlock_assumption assumption);

#endif /* DLOCK_RECORD_FAULTS_H */

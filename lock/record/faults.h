/* SPDX-License-Identifier: MIT */
/* faults.h -- the faults of this process, in the file of the first of its systems that
 * records.
 *
 * Threads     Any. */
#ifndef DLOCK_RECORD_FAULTS_H
#define DLOCK_RECORD_FAULTS_H

#include "lock/record/recorder.h"

/* Faults are recorded there from now on, unless they are recorded elsewhere already. */
void dlock_record_faults_to(dlock_recorder *rec);

/* The recorder is about to be closed.  NULL is fine. */
void dlock_record_no_faults_to(dlock_recorder *rec);

/* A fault in this process; nothing if nothing is recorded. */
void dlock_record_fault(const char *what, dlock_fault_phase phase,
                        dlock_assumption assumption);

#endif /* DLOCK_RECORD_FAULTS_H */

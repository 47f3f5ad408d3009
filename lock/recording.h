/* SPDX-License-Identifier: MIT */
/* recording.h -- how the core tells the recorder of its calls.  Without a recorder each
 * costs one branch. */
#ifndef DLOCK_RECORDING_H
#define DLOCK_RECORDING_H

#include "lock/recorder.h"
#include "lock/system.h"

/* Open the recorder that the options ask for, if they do.  OK, or as
 * dlock_recorder_open(). */
dlock_status dlock_recording_open(dlock_system *sys);
void dlock_recording_close(dlock_system *sys);

/* Before anything is sent for a call.  Answers what dlock_recording_end() needs. */
uint64_t dlock_recording_begin(const dlock_system *sys, dlock_event_kind kind,
                               const dlock_claim *claim, int64_t wait_ms);

/* Before the caller learns the answer.  `sent_ns`: when the last request was sent, from
 * which the lease counts if the answer is OK; 0: there is no lease. */
void dlock_recording_end(const dlock_system *sys, uint64_t call, dlock_status st,
                         const dlock_claim *claim, int64_t sent_ns);

/* LOST, WAIT or WAKE of the owner of the claim. */
void dlock_recording_mark(const dlock_system *sys, dlock_event_kind kind,
                          const dlock_claim *claim, uint32_t detail);

/* A fault in this process, in the file of the first of its systems that records.
 * `phase`: a dlock_fault_phase. */
void dlock_recording_fault(const char *what, dlock_fault_phase phase,
                           dlock_assumption assumption);

#endif /* DLOCK_RECORDING_H */

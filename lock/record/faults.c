/* SPDX-License-Identifier: MIT */
/* faults.c -- records the faults of this process as events. */
#include "lock/record/faults.h"

#include "base/os/fork.h"
#include "lock/process.h"

void dlock_record_faults_to(dlock_recorder *rec)
{
    dlock_recorder *none = NULL;

    atomic_compare_exchange_strong(&dlock_process_here()->fault_recorder, &none, rec);
}

void dlock_record_no_faults_to(dlock_recorder *rec)
{
    if (rec != NULL)
        atomic_compare_exchange_strong(&dlock_process_here()->fault_recorder, &rec, NULL);
}

void dlock_record_fault(const char *what, dlock_fault_phase phase,
                        dlock_assumption assumption)
{
    dlock_event event = {.kind = DLOCK_EVENT_FAULT,
                         .name = what,
                         .detail = phase,
                         .level = (int)assumption,
                         .owner = dlock_fork_process_id()};

    dlock_recorder_note(atomic_load(&dlock_process_here()->fault_recorder), &event);
}

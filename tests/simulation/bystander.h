/* SPDX-License-Identifier: MIT */
/* bystander.h -- calls that a thread makes beside its rounds: it inspects a lock, frees a lock by
 * force, checks the stores, reads the counters, sends and pays debts, forks a child. */
#ifndef SIMULATION_BYSTANDER_H
#define SIMULATION_BYSTANDER_H

#include "tests/simulation/workload.h"

/* Sometimes make one of these calls. `held`: a valid lease of the thread; NULL: it has none. */
void bystander_play(struct process *process, const dlock_lease *held);

/* After all threads of the process have ended: pay the debts, and check that the counters agree. */
void bystander_end(struct process *process);

#endif /* SIMULATION_BYSTANDER_H */

/* SPDX-License-Identifier: MIT */
/* bystander.h -- calls that a thread makes beside its rounds: it looks at a lock, frees one by
 * force, checks the stores, reads the counters, sends and pays what is owed, forks a child. */
#ifndef SIMULATION_BYSTANDER_H
#define SIMULATION_BYSTANDER_H

#include "tests/simulation/workload.h"

/* Sometimes one of these.  `held`: a lease of the thread, which is valid; NULL: none. */
void bystander_play(struct process *process, const dlock_lease *held);

/* All threads of the process have ended: what is owed is paid, and the counters agree. */
void bystander_end(struct process *process);

#endif /* SIMULATION_BYSTANDER_H */

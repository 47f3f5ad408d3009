/* SPDX-License-Identifier: MIT */
/* oracle.h -- judges the grants of the workload, by dlock_lease_valid() and by the data of the
 * servers.
 *
 * The oracle looks at each grant, renewal and release, and a few times in each tenth of a second.
 *
 *   overlap  two leases of one name are valid at one instant, and not both are readers'
 *   fence    a new holder's fence is not above all that were handed out before it asked
 *   unheld   a lease is valid, and the server does not hold the lock for its owner
 *   asleep   in calm, a thread waits for a lock that has been free for ORACLE_FREE_MS */
#ifndef SIMULATION_ORACLE_H
#define SIMULATION_ORACLE_H

#include "tests/simulation/workload.h"

enum { ORACLE_HOLDS_MAX = 128, ORACLE_FREE_MS = 250 };

/* A hold of a lock, or a wait for a lock. */
struct oracle_hold {
    bool is_used;
    struct process *process;
    struct task *task;
    int name;
    bool is_forced; /* the lock was freed by force meanwhile */
    dlock_lease lease;
};

void oracle_begin(void);

/* Note that the running thread asks for the name from now on, and may wait. */
struct oracle_hold *oracle_ask(struct process *process, int name);

/* Note the answer: granted, or not. */
void oracle_granted(struct oracle_hold *hold, const dlock_lease *lease);
void oracle_refused(struct oracle_hold *hold);

/* Look now: a lease was renewed, or is about to be released. */
void oracle_look(void);

/* Note that the hold is about to be released. */
void oracle_leave(struct oracle_hold *hold);

/* A release by force goes on from the first call to the second. Threads that hold the lock or ask
 * for it in this time are not judged. */
void oracle_begin_force(int name);
void oracle_end_force(int name);
unsigned oracle_count_forces(int name); /* calls of oracle_begin_force() so far */
bool oracle_is_forced(const dlock_lease *lease);

/* Note that the hold is about to be abandoned: its lease still keeps all others out. */
void oracle_abandon(struct oracle_hold *hold);

/* Forget all holds and waits of a killed process. */
void oracle_forget(const struct process *process);

/* Is the lease valid, by the clock of its process now? */
bool oracle_is_valid(const struct process *process, const dlock_lease *lease);

#endif /* SIMULATION_ORACLE_H */

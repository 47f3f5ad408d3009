/* SPDX-License-Identifier: MIT */
/* oracle.h -- judges what the workload is granted, by the library's own word for the validity of a
 * lease and by a look at the servers.
 *
 * It looks at each grant, renewal and release, and a few times each tenth of a second.
 *
 *   overlap  two leases of one name are valid at one instant, and not both are readers'
 *   fence    a new holder's fence is not above all that were handed out before it asked
 *   unheld   a lease is valid, and the server does not hold the lock for its owner
 *   asleep   in calm, a thread waits for a lock that has been free for ORACLE_FREE_MS */
#ifndef SIMULATION_ORACLE_H
#define SIMULATION_ORACLE_H

#include "tests/simulation/workload.h"

enum { ORACLE_HOLDS_MAX = 128, ORACLE_FREE_MS = 250 };

/* Somebody holds a lock, or waits for it. */
struct oracle_hold {
    bool is_used;
    struct process *process;
    struct task *task;
    int name;
    bool is_forced; /* the lock was freed by force meanwhile */
    dlock_lease lease;
};

void oracle_begin(void);

/* The running thread asks for the name from now on, and may wait. */
struct oracle_hold *oracle_ask(struct process *process, int name);

/* The same, when it has its answer: granted, or not. */
void oracle_granted(struct oracle_hold *hold, const dlock_lease *lease);
void oracle_refused(struct oracle_hold *hold);

/* Look now: something was renewed, or is about to be released. */
void oracle_look(void);

/* It is about to be released. */
void oracle_leave(struct oracle_hold *hold);

/* The lock is being freed by force, from a begin to its end: whoever holds it or asks for it
 * then is not judged. */
void oracle_begin_force(int name);
void oracle_end_force(int name);
unsigned oracle_count_forces(int name); /* that have begun */
bool oracle_is_forced(const dlock_lease *lease);

/* It is about to be abandoned: its lease still keeps all others out. */
void oracle_abandon(struct oracle_hold *hold);

/* Nothing of that process counts any more. */
void oracle_forget(const struct process *process);

/* Is the lease valid, as its process sees it now? */
bool oracle_is_valid(const struct process *process, const dlock_lease *lease);

#endif /* SIMULATION_ORACLE_H */

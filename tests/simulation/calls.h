/* SPDX-License-Identifier: MIT */
/* calls.h -- the calls of a thread for its locks: blocking ones, or asynchronous ones whose
 * completion the thread waits for.
 *
 * An asynchronous interface is run by a thread of its own or by a task that polls, as chance says.
 *
 *   twice    an asynchronous call was answered twice, or not until the interface was closed
 *   asleep   in calm, an acquire went on for long after it was cancelled */
#ifndef SIMULATION_CALLS_H
#define SIMULATION_CALLS_H

#include "tests/simulation/workload.h"

/* Who asks, in a round. */
struct asker {
    struct process *process;
    bool is_async;
    dlock_async_owner *owner; /* NULL: each acquire has one of its own */
};

/* Open and close the interface of a process, if chance wants one. */
void calls_open(struct process *process);
void calls_close(struct process *process);

struct asker calls_begin(struct process *process);
void calls_end(struct asker *asker);

/* May the asker take a name again that it holds? */
bool calls_may_nest(const struct asker *asker);

/* As the functions of dlock.h. */
dlock_status calls_acquire(const struct asker *asker, const char *name,
                           const dlock_request *request, dlock_lease *lease);
dlock_status calls_renew(const struct asker *asker, dlock_lease *lease);
dlock_status calls_release(const struct asker *asker, dlock_lease *lease);
dlock_status calls_abandon(const struct asker *asker, dlock_lease *lease);

#endif /* SIMULATION_CALLS_H */

/* SPDX-License-Identifier: MIT */
/* calls.h -- the calls of a thread for its locks: blocking ones, or asynchronous ones whose
 * completion the thread waits for.
 *
 * Chance decides whether a thread of its own or a polling task runs an asynchronous interface.
 *
 *   twice    an asynchronous call was answered twice, or not until the interface was closed
 *   asleep   in calm, an acquire went on for long after it was cancelled */
#ifndef SIMULATION_CALLS_H
#define SIMULATION_CALLS_H

#include "tests/simulation/workload.h"

/* The owner of the calls of a round. */
struct asker {
    struct process *process;
    bool is_async;
    dlock_async_owner *owner; /* NULL: each acquire has an owner of its own */
};

/* Open and close the asynchronous interface of a process, if chance draws one. */
void calls_open(struct process *process);
void calls_close(struct process *process);

struct asker calls_begin(struct process *process);
void calls_end(struct asker *asker);

/* May the owner acquire a name again that it holds? */
bool calls_may_nest(const struct asker *asker);

/* The same as the functions of dlock.h. */
dlock_status calls_acquire(const struct asker *asker, const char *name,
                           const dlock_request *request, dlock_lease *lease);
dlock_status calls_renew(const struct asker *asker, dlock_lease *lease);
dlock_status calls_release(const struct asker *asker, dlock_lease *lease);
dlock_status calls_abandon(const struct asker *asker, dlock_lease *lease);

#endif /* SIMULATION_CALLS_H */

/* SPDX-License-Identifier: MIT */
/* acknowledged.h -- a write that counts once replicas have it.
 *
 * Redis answers a write before its replicas have it.  WAIT N asks how many of them have
 * everything that the same connection has written so far, and is answered as soon as there are N,
 * or when its time is over.  Redis reads nothing more from a connection that waits so.  Therefore
 * a write that is to be acknowledged does not go over the connection that all threads share: it
 * has, with its WAIT behind it, a connection of its own, which serves one write after another.
 *
 * WAIT says nothing of what a replica does later: docs/explanation/leases.md.
 *
 * Threads     Any, and fibers. */
#ifndef BASE_REDIS_ACKNOWLEDGED_H
#define BASE_REDIS_ACKNOWLEDGED_H

#include "base/redis/script.h"

/* A command or a script, and whether its answer says that it has written what is to be kept. */
struct redis_write {
    const struct redis_command *command; /* NULL: the script */
    const struct redis_script_call *script;
    bool (*is_done)(const struct redis_answer *answer);
};

/* Ask the server of `link` for the write.  If the answer says that it is done, and the link needs
 * replicas (redis_link_need_replicas()), wait until so many have it, for the link's timeout at
 * most.
 *
 * The answer is that of the command.  If too few replicas have acknowledged, or the server did
 * not answer WAIT, it is UNKNOWN, with how many of how many and in which time: the write stands at
 * the server, and may be lost with it. */
void redis_write_exchange(struct redis_link *link, const struct redis_write *write,
                          int64_t give_up_ns, struct redis_answer *answer);

extern _Thread_local uint64_t redis_unacknowledged_writes;

/* The number of writes of the calling thread or fiber that too few replicas have acknowledged,
 * since its start. */
static inline uint64_t *redis_unacknowledged_here(void)
{
    struct dlock_fiber *fiber = dlock_fiber_here();

    return fiber != NULL ? &fiber->tallies[1] : &redis_unacknowledged_writes;
}

#endif /* BASE_REDIS_ACKNOWLEDGED_H */

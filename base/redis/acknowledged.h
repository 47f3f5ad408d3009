/* SPDX-License-Identifier: MIT */
/* acknowledged.h -- a write that counts only when replicas have it.
 *
 * Redis answers a write before its replicas have it.  WAIT N asks for the number of
 * replicas that have everything that the same connection has written so far.  Redis
 * answers as soon as the number is N, or when the timeout has passed, and until then
 * reads no further command from this connection.  Therefore such a write does not use
 * the connection that all threads share: the write and its WAIT use another connection,
 * which serves one write after another.
 *
 * WAIT does not tell what a replica does later: docs/explanation/leases.md.
 *
 * Threads     Any, and fibers. */
#ifndef BASE_REDIS_ACKNOWLEDGED_H
#define BASE_REDIS_ACKNOWLEDGED_H

#include "base/redis/script.h"

/* A command or a script, and a function that tells from its answer if it has written
 * something. */
struct redis_write {
    const struct redis_command *command; /* NULL: the script */
    const struct redis_script_call *script;
    bool (*is_done)(const struct redis_answer *answer);
};

/* Send the write to the server of `link`.  If is_done() says that it has written, and
 * the link needs replicas (redis_link_need_replicas()), wait until that number of
 * replicas has the write, at most for the link's timeout.
 *
 * *answer is the answer to the write.  If too few replicas have acknowledged, or the
 * server did not answer WAIT, the outcome is UNKNOWN, and the text has the numbers and
 * the time.  In that case the server has the write, but it may be lost if the server is
 * lost. */
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

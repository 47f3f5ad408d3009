/* SPDX-License-Identifier: MIT */
/* redis_inspect.h -- inspecting locks in Redis, and freeing them by force.
 *
 * These scripts are rare, so each is sent as text and not loaded first.
 *
 * Threads     Any. */
#ifndef DLOCK_REDIS_INSPECT_H
#define DLOCK_REDIS_INSPECT_H

#include "lock/stores/redis_nodes.h"
#include "lock/stores/redis_single.h"

/* Run a script whose answer has the form of info.h, or is nil for a free lock.  OK, or
 * a failure. */
dlock_status redis_inspect_by(struct redis_link *link,
                              const struct redis_script_call *call, dlock_info *out);

/* Slots of variants whose lock is a string and whose state is the link. */
dlock_status redis_string_inspect(void *link, const char *name, dlock_info *out);
dlock_status redis_string_force(void *link, const char *name);

/* The names of one holder on several nodes. */
enum redis_owner {
    REDIS_OWNER_OF_ALL,
    REDIS_OWNER_OF_EACH, /* the holder may have another name on each node */
};

/* Run the script on every node.  The lock is held if one owner has it on a majority of
 * all nodes; left_ms is the time until the owner loses that majority.  With
 * REDIS_OWNER_OF_EACH the lock is also held if every node that answers has some holder:
 * the owner is then that of the first node, and left_ms the shortest.  If fewer than a
 * majority answered, the answer is that of redis_nodes_failed(). */
dlock_status redis_nodes_inspect(struct redis_nodes *nodes,
                                 const struct redis_script_call *call,
                                 enum redis_owner owner, dlock_info *out);

/* Free the lock on every node, by a question whose yes is 1.  If at least nodes->quorum
 * nodes answered: OK, or LOST if no node held the lock.  Otherwise a failure. */
dlock_status redis_nodes_force(struct redis_nodes *nodes,
                               const struct redis_question *question);

/* The calls of string_inspect.lua and string_force.lua for the lock `name`. */
struct redis_script_call redis_string_call(const char *name);
struct redis_script_call redis_string_force_call(const char *name);

#endif /* DLOCK_REDIS_INSPECT_H */

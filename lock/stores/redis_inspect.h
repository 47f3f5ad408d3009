/* SPDX-License-Identifier: MIT */
/* redis_inspect.h -- looking at locks in Redis, and freeing them by force.
 *
 * The scripts are sent by their text: nobody looks often.
 *
 * Threads     Any. */
#ifndef DLOCK_REDIS_INSPECT_H
#define DLOCK_REDIS_INSPECT_H

#include "lock/stores/redis_nodes.h"
#include "lock/stores/redis_single.h"

/* Run a script that answers as dlock_info_read() takes it, or nil for a free lock. */
dlock_status redis_inspect_by(struct redis_link *link,
                              const struct redis_script_call *call, dlock_info *out);

/* Slots of variants whose lock is a string and whose state is the link. */
dlock_status redis_string_inspect(void *link, const char *name, dlock_info *out);
dlock_status redis_string_force(void *link, const char *name);

/* Whether one holder has the same name on all nodes. */
enum redis_owner {
    REDIS_OWNER_OF_ALL,
    REDIS_OWNER_OF_EACH, /* or another on each */
};

/* The same script on every node: held is what one owner has on a majority of all, whose
 * end is the earliest that leaves it one.  With REDIS_OWNER_OF_EACH also what is held on
 * every node that answers, by whomever: the owner is then that of the first, the end the
 * earliest.  Fewer than a majority answered: as redis_nodes_failed(). */
dlock_status redis_nodes_inspect(struct redis_nodes *nodes,
                                 const struct redis_script_call *call,
                                 enum redis_owner owner, dlock_info *out);

/* Free it on every node, by a question that 1 is the yes to.  OK, or LOST if it was held
 * on none, once as many as are the nodes' quorum have answered; otherwise a failure. */
dlock_status redis_nodes_force(struct redis_nodes *nodes,
                               const struct redis_question *question);

/* The call of string_inspect.lua. */
struct redis_script_call redis_string_call(const char *name);

#endif /* DLOCK_REDIS_INSPECT_H */

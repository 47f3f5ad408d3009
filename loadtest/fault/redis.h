/* SPDX-License-Identifier: MIT */
/* redis.h -- steps that several faults share, for a Redis server. */
#ifndef LOADTEST_FAULT_REDIS_H
#define LOADTEST_FAULT_REDIS_H

#include "loadtest/fault/server_fault.h"
#include "loadtest/probe/redis_connection.h"

enum { FAULT_ID_MAX = 64 };

/* One life of a Redis server, from its start to its end. */
struct redis_life {
    char run_id[FAULT_ID_MAX];
    int64_t keys;
};

/* A new connection to the scene's server, which has answered.  It is closed by the next
 * call, or when the step of the fault is over; a fault that keeps it sets scene->side
 * to NULL, and closes it.  NULL: the reason is on stderr. */
struct redis_side *fault_redis_open(struct fault_scene *scene);

/* Say what the server answered to `what`, and answer false. */
bool fault_redis_complain(const struct fault_scene *scene,
                          const struct redis_side *side, const char *what);

/* Is the lock's key there, as it has to be?  True without a key. */
bool fault_redis_needs_key(const struct fault_scene *scene, struct redis_side *side);

/* Read the run_id of the server and its number of keys.  False: it did not answer, or it does not
 * have the lock's key although the fault needs it. */
bool fault_redis_look(struct fault_scene *scene, struct redis_life *life);

/* Save all data, and let the server answer no more writes.  So every answered write is found again
 * after a start.  Answers the number of keys; -1: it failed. */
int64_t fault_redis_save(struct fault_scene *scene);

/* Start the server with the saved data, wait for it, and remove the file.  The server must have
 * loaded `keys` keys, expired ones included.  `run_id` is that of the started server. */
bool fault_redis_start(struct fault_scene *scene, int64_t keys,
                       char run_id[FAULT_ID_MAX]);

/* Remove what was saved, so that a start finds nothing. */
bool fault_redis_forget(const struct fault_scene *scene);

#endif /* LOADTEST_FAULT_REDIS_H */

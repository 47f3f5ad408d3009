/* SPDX-License-Identifier: MIT */
/* redis.h -- what several faults do to a Redis server. */
#ifndef LOADTEST_FAULT_REDIS_H
#define LOADTEST_FAULT_REDIS_H

#include "loadtest/fault/server_fault.h"
#include "loadtest/probe/redis_connection.h"

enum { FAULT_ID_MAX = 64 };

/* A connection to the scene's server that has answered.  NULL: said on stderr why. */
struct redis_side *fault_redis_open(const struct fault_scene *scene);

/* Say what the server answered to `what`, and answer false. */
bool fault_redis_complain(const struct fault_scene *scene,
                          const struct redis_side *side, const char *what);

/* Is the lock's key there, as it has to be?  True without a key. */
bool fault_redis_needs_key(const struct fault_scene *scene, struct redis_side *side);

/* Save everything, after which no more writes are answered: whoever is told that
 * something was written will find it again after a start. */
bool fault_redis_save(const struct fault_scene *scene, struct redis_side *side);

/* SIGKILL; it is gone when this returns. */
bool fault_redis_kill(const struct fault_scene *scene);

/* Start it and wait, with the data that was saved, which is then removed.  Its run_id,
 * and how many keys it found, expired ones too, in *keys (may be NULL). */
bool fault_redis_start(struct fault_scene *scene, char run_id[FAULT_ID_MAX],
                       int64_t *keys);

/* Remove what was saved, so that a start finds nothing. */
bool fault_redis_forget(const struct fault_scene *scene);

#endif /* LOADTEST_FAULT_REDIS_H */

/* SPDX-License-Identifier: MIT */
/* replica.h -- a replica that does not have the lock, and takes the place of its master.  The
 * replica is the lab's spare server until then. */
#ifndef LOADTEST_FAULT_REPLICA_H
#define LOADTEST_FAULT_REPLICA_H

#include "loadtest/fault/redis.h"

/* How long fault_replica_is_behind() waits for a client to take the lock. */
enum { FAULT_TAKEN_MS = 10000 };

/* Start a replica with the data of the master but without the key, and cut it off: the replica then
 * follows a port on which no server listens.  If the key is held all the time, its copy is left to
 * end with its lease of at most 60 s.  False: the reason is said, and this call leaves no
 * replica running; another fault may use the lab's spare server. */
bool fault_replica_start(struct fault_scene *scene, char run_id[FAULT_ID_MAX]);

/* Wait until the master has the key, which the replica cannot get any more. */
bool fault_replica_is_behind(struct fault_scene *scene);

/* Make it a master, on the port of its own master, which has to be free. */
bool fault_replica_promote(const struct fault_scene *scene);

/* Make the replica the scene's server from now on; *before is the server until then.  The
 * lab has no spare any more.  False if the server on the port is not that of `run_id`. */
bool fault_replica_take_over(struct fault_scene *scene, const char *run_id,
                             struct child *before);

#endif /* LOADTEST_FAULT_REPLICA_H */

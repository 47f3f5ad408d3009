/* SPDX-License-Identifier: MIT */
/* replica.h -- a replica that has not heard of the lock, and takes its master's
 * place.  The replica is the lab's spare server until then. */
#ifndef LOADTEST_FAULT_REPLICA_H
#define LOADTEST_FAULT_REPLICA_H

#include "loadtest/fault/redis.h"

/* Start one that has everything the master had, but not the key, and cut it off: it
 * follows a port where nobody listens.  False: said why, and none runs that this call has
 * started; the lab's spare server may be another fault's. */
bool fault_replica_start(struct fault_scene *scene, char run_id[FAULT_ID_MAX]);

/* Wait until the master has the key.  Then the replica has neither that nor a way to
 * learn of it. */
bool fault_replica_is_behind(struct fault_scene *scene);

/* Make it a master, on the port of its own master, which has to be free. */
bool fault_replica_promote(const struct fault_scene *scene);

/* Make the replica the scene's server from now on; *before is the server until then.  The
 * lab has no spare any more.  False if the server on the port is not that of `run_id`. */
bool fault_replica_take_over(struct fault_scene *scene, const char *run_id,
                             struct child *before);

#endif /* LOADTEST_FAULT_REPLICA_H */

/* SPDX-License-Identifier: MIT */
/* lab.h -- starts a PostgreSQL, a ZooKeeper and an etcd for this program alone, so that a law may
 * kill them.
 *
 * `seckill lab` starts each server for the first law that needs it. The servers end with this
 * program, also if it crashes. Their data survives lab_kill(). Only one case at a time uses the
 * server of a store. */
#ifndef CONFORMANCE_LAB_H
#define CONFORMANCE_LAB_H

#include "lock/dlock.h"

/* Prepare the labs, one for each store; the children of this process share them. */
void lab_begin(void);

/* Point `opts` to the server that its variant needs, and start that server unless it runs. */
void lab_use(dlock_options *opts);

/* Kill that server with SIGKILL; and start it again on the same port, and wait until it answers. */
void lab_kill(void);
void lab_restart(void);

/* Start the server again if a law left it killed. Threads may still be waiting for it. */
void lab_mend(void);

/* End the servers and remove their data. */
void lab_end(void);

#endif /* CONFORMANCE_LAB_H */

/* SPDX-License-Identifier: MIT */
/* lab.h -- starts a PostgreSQL, a ZooKeeper and an etcd only for the laws, so that a
 * law may kill them.
 *
 * They are started for the first law that needs them, with `seckill lab`, and run until
 * the process has ended, however it ends.  Their data outlives a kill. */
#ifndef CONFORMANCE_LAB_H
#define CONFORMANCE_LAB_H

#include "lock/dlock.h"

/* Point `opts` to the server that their variant needs, and start it unless it runs. */
void lab_use(dlock_options *opts);

/* Kill that server, as a loss of power would; and start it again, on the same port, and
 * wait until it answers. */
void lab_kill(void);
void lab_restart(void);

/* Start a server that a law left killed.  Threads may still be waiting for it. */
void lab_mend(void);

/* End the servers and remove their data. */
void lab_end(void);

#endif /* CONFORMANCE_LAB_H */

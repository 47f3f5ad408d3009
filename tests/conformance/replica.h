/* SPDX-License-Identifier: MIT */
/* replica.h -- a replica of the Redis server that a law has started. */
#ifndef CONFORMANCE_REPLICA_H
#define CONFORMANCE_REPLICA_H

/* Start a replica of the first server that servers_start() started, and wait until the replica has
 * a copy and receives new writes. */
void replica_start(void);

/* Send a signal to the replica: SIGSTOP, SIGCONT. */
void replica_signal(int signal_number);

/* How many keys of that name has the replica? */
long long replica_count_keys(const char *name);

/* Stop the replica; do nothing if there is none. */
void replica_stop(void);

#endif /* CONFORMANCE_REPLICA_H */

/* SPDX-License-Identifier: MIT */
/* tasks.h -- workers without threads. */
#ifndef LOADTEST_PEERS_OURS_TASKS_H
#define LOADTEST_PEERS_OURS_TASKS_H

#include "loadtest/peers/ours/worker.h"

/* Run so many workers by asynchronous calls from the calling thread until the deadline, and
 * to the end of the pairs that are then under way. */
void tasks_run(struct slice *slice, struct worker *workers, int in_flight);

#endif /* LOADTEST_PEERS_OURS_TASKS_H */

/* SPDX-License-Identifier: MIT */
/* faults.h -- the faults of servers in a performance. */
#ifndef LOADTEST_SCENARIO_SERVERS_FAULTS_H
#define LOADTEST_SCENARIO_SERVERS_FAULTS_H

#include "loadtest/scenario/stage.h"

/* Undo every fault of servers.  False: a server is not as it was before; stderr names it. */
bool stage_disarm_servers(struct stage *s);

#endif /* LOADTEST_SCENARIO_SERVERS_FAULTS_H */

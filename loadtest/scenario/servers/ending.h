/* SPDX-License-Identifier: MIT */
/* ending.h -- what is undone at the end of a performance. */
#ifndef LOADTEST_SCENARIO_SERVERS_ENDING_H
#define LOADTEST_SCENARIO_SERVERS_ENDING_H

#include "loadtest/scenario/stage.h"

/* Undo every fault of servers.  False: a server is not as it was before; stderr names it. */
bool stage_disarm_servers(struct stage *s);

/* Stop the service, if there is one.  False: it did not stop as it should. */
bool stage_end_service(struct stage *s);

#endif /* LOADTEST_SCENARIO_SERVERS_ENDING_H */

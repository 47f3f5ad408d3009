/* SPDX-License-Identifier: MIT */
/* wires.h -- the wires of the participants: a proxy for each server that they talk to. */
#ifndef LOADTEST_SCENARIO_SERVERS_WIRES_H
#define LOADTEST_SCENARIO_SERVERS_WIRES_H

#include "loadtest/scenario/stage.h"

/* Open the proxies of a process, after all processes were forked, and fill in the URLs of its part.
 * STAGE_NOBODY: a process of the background load, whose messages are not a part of the story. */
enum { STAGE_NOBODY = -1 };
void stage_open_wires(struct stage *s, struct stage_process *p, int actor);
void stage_close_wires(struct stage_process *p);

#endif /* LOADTEST_SCENARIO_SERVERS_WIRES_H */

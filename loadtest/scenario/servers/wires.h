/* SPDX-License-Identifier: MIT */
/* wires.h -- the wires of the participants: a proxy for each server that they talk to. */
#ifndef LOADTEST_SCENARIO_SERVERS_WIRES_H
#define LOADTEST_SCENARIO_SERVERS_WIRES_H

#include "loadtest/scenario/stage.h"

/* The proxies of a process, after all processes were forked; fills in part's URLs.
 * STAGE_NOBODY: those of the background load, whose talk is not the story. */
enum { STAGE_NOBODY = -1 };
void stage_open_wires(struct stage *s, struct stage_process *p, int actor);
void stage_close_wires(struct stage_process *p);

#endif /* LOADTEST_SCENARIO_SERVERS_WIRES_H */

/* SPDX-License-Identifier: MIT */
/* load.h -- the load beside a story: processes with systems of their own, of
 * the same variant and on the same servers, that take and release other names from
 * before the story begins until after its faults are over.
 *
 * Their calls are recorded in files of their own and judged by the same checker.  The
 * verdict has to be clean, unless a fault of a server explains why it is not. */
#ifndef LOADTEST_SCENARIO_BACKGROUND_LOAD_H
#define LOADTEST_SCENARIO_BACKGROUND_LOAD_H

#include "loadtest/scenario/stage.h"

/* Begins with no background load if the stage is not varied. */
/* Fork them.  No thread may have been started yet. */
void background_fork(struct stage *s);
/* Open their wires, and wait until each of their threads has held a lock once. */
void background_open(struct stage *s);
/* Wait until they have held enough, which after a fault is not longer than some seconds,
 * and end them.  May be called again. */
void background_end(struct stage *s);
/* Read what they did, and add it to the result.  False: nobody can tell, and the
 * result's `why` says the reason. */
bool background_check(struct stage *s);
void background_free(struct stage *s);

#endif /* LOADTEST_SCENARIO_BACKGROUND_LOAD_H */

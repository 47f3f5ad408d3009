/* SPDX-License-Identifier: MIT */
/* load.h -- the background load of a story: processes with lock systems of their own, of the same
 * variant and on the same servers.  They acquire and release other names from before the story
 * begins until after its faults are over.
 *
 * Their calls are recorded in separate files and judged by the same checker.  Every violation
 * must be explained by a fault of a server. */
#ifndef LOADTEST_SCENARIO_BACKGROUND_LOAD_H
#define LOADTEST_SCENARIO_BACKGROUND_LOAD_H

#include "loadtest/scenario/stage.h"

/* Fork the processes; none if the stage is not varied.  No thread may have been started yet. */
void background_fork(struct stage *s);
/* Open the wires of the processes, and wait until each of their threads has held a lock once. */
void background_open(struct stage *s);
/* Wait until the background load has held enough locks, but some seconds at most, and end its
 * processes.  May be called again. */
void background_end(struct stage *s);
/* Judge the records of the background load, and add the counts to the result.  False: no verdict is
 * possible, and the result's `why` has the reason. */
bool background_check(struct stage *s);
void background_free(struct stage *s);

#endif /* LOADTEST_SCENARIO_BACKGROUND_LOAD_H */

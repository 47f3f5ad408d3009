/* SPDX-License-Identifier: MIT */
/* process.h -- the process of a participant, as the performance sees it. */
#ifndef LOADTEST_SCENARIO_PARTICIPANTS_PROCESS_H
#define LOADTEST_SCENARIO_PARTICIPANTS_PROCESS_H

#include "loadtest/scenario/stage.h"

/* Fork the process of an actor.  No thread may have been started yet. */
void stage_fork(struct stage *s, struct stage_process *p);
/* Send an order to the process, and wait for an answer: of a thread, or of the main thread. */
void process_tell(struct stage *s, struct stage_process *p,
                  const struct actor_order *order);
const struct actor_answer *process_await(struct stage *s, const struct actor *a,
                                          enum actor_action what);
/* Has the answer of the actor's thread come?  Reads answers that are there, and does not wait. */
bool process_has_answered(struct stage *s, const struct actor *a);
/* End the process.  A busy process reads no orders, so it is killed.  Without a process nothing
 * happens. */
void process_end(struct stage_process *p, bool is_busy);
/* End all processes.  A process that is busy or cannot get the order END is killed. */
void stage_end_processes(struct stage *s);

#endif /* LOADTEST_SCENARIO_PARTICIPANTS_PROCESS_H */

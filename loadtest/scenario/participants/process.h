/* SPDX-License-Identifier: MIT */
/* process.h -- the process of a participant, as the performance sees it. */
#ifndef LOADTEST_SCENARIO_PARTICIPANTS_PROCESS_H
#define LOADTEST_SCENARIO_PARTICIPANTS_PROCESS_H

#include "loadtest/scenario/stage.h"

/* Fork the process of an actor.  No thread may have been started yet. */
void stage_fork(struct stage *s, struct stage_process *p);
/* Tell it, and take its answer: of a thread, or of its main thread. */
void process_tell(struct stage *s, struct stage_process *p,
                  const struct actor_order *order);
const struct actor_answer *process_await(struct stage *s, const struct actor *a,
                                          enum actor_action what);
/* Has the answer of the actor's thread come?  Takes what is there, does not wait. */
bool process_has_answered(struct stage *s, const struct actor *a);
/* End one; a busy one does not listen, and is killed.  Without a process: nothing. */
void process_end(struct stage_process *p, bool is_busy);
/* End them all: those that can are told to, the others are killed. */
void stage_end_processes(struct stage *s);

#endif /* LOADTEST_SCENARIO_PARTICIPANTS_PROCESS_H */

/* SPDX-License-Identifier: MIT */
/* actor.h -- sends orders to participants. */
#ifndef LOADTEST_SCENARIO_PARTICIPANTS_ACTOR_H
#define LOADTEST_SCENARIO_PARTICIPANTS_ACTOR_H

#include "loadtest/scenario/stage.h"

/* Send the order to the actor and wait for its answer, without a line of the story. */
const struct actor_answer *actor_act(struct actor *a, const struct actor_order *what);

#endif /* LOADTEST_SCENARIO_PARTICIPANTS_ACTOR_H */

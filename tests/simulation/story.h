/* SPDX-License-Identifier: MIT */
/* story.h -- circumstances that seeds have found, played on purpose: each is the test of a bug
 * that is mended. */
#ifndef SIMULATION_STORY_H
#define SIMULATION_STORY_H

#include <stdbool.h>

/* Play all, as TAP.  True: every one has come to its good end. */
bool stories_play(void);

#endif /* SIMULATION_STORY_H */

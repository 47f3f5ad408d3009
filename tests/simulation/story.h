/* SPDX-License-Identifier: MIT */
/* story.h -- worlds that are set up on purpose, each as a seed once found it: the test of a bug
 * that was fixed. */
#ifndef SIMULATION_STORY_H
#define SIMULATION_STORY_H

#include <stdbool.h>

/* Play all stories, and print TAP. Returns true if each has the verdict FINE. */
bool stories_play(void);

#endif /* SIMULATION_STORY_H */

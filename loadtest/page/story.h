/* SPDX-License-Identifier: MIT */
/* story.h -- performances of scenarios as one HTML file to step through. */
#ifndef LOADTEST_PAGE_STORY_H
#define LOADTEST_PAGE_STORY_H

#include "loadtest/scenario/stage.h"

extern const struct scenario_pages story_pages;

#endif /* LOADTEST_PAGE_STORY_H */

/* SPDX-License-Identifier: MIT */
/* pages.h -- the functions of page/ that write pages.  This directory cannot call page/ directly,
 * so the command passes the functions. */
#ifndef LOADTEST_SCENARIO_PAGES_H
#define LOADTEST_SCENARIO_PAGES_H

#include <stdbool.h>
#include <stddef.h>

struct stage;

#define STORY_ZH_FILE "story.zh.txt"

/* The functions.  False: the reason is on stderr. */
struct scenario_pages {
    /* Write a performance as a part of a page, into page.part among its files, and its Chinese
     * story as on a terminal, into story.zh.txt. */
    bool (*write_part)(const struct stage *s);
    /* Write the page at `path` from `count` parts.  `name` is the name of the scenario, or
     * "all". */
    bool (*write_page)(const char *path, const char *name, char *const *parts,
                       size_t count);
};

#endif /* LOADTEST_SCENARIO_PAGES_H */

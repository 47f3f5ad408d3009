/* SPDX-License-Identifier: MIT */
/* pages.h -- the functions that write pages, which the rooms above hand down. */
#ifndef LOADTEST_SCENARIO_PAGES_H
#define LOADTEST_SCENARIO_PAGES_H

#include <stdbool.h>
#include <stddef.h>

struct stage;

#define STORY_ZH_FILE "story.zh.txt"

/* Writes pages; the rooms above this one have it.  False: said on stderr why. */
struct scenario_pages {
    /* A performance as a part of a page, in page.part among its files; and told in Chinese
     * as on a terminal, in story.zh.txt. */
    bool (*write_part)(const struct stage *s);
    /* The page at `path` from `count` parts, of the scenario (or of all) named `name`. */
    bool (*write_page)(const char *path, const char *name, char *const *parts,
                       size_t count);
};

#endif /* LOADTEST_SCENARIO_PAGES_H */

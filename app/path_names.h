/* SPDX-License-Identifier: MIT */
/* path_names.h -- the names of the order paths, for the settings. */
#ifndef APP_PATH_NAMES_H
#define APP_PATH_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The name of the `i`th, NULL past the last: what a setting may choose from. */
const char *order_path_name_at(size_t i);

/* Does one thread of that path commit the orders of others?  False too if there is no path of
 * that name. */
bool order_path_commits_for_others(const char *name);

#endif /* APP_PATH_NAMES_H */

/* SPDX-License-Identifier: MIT */
/* path_names.h -- the names of the order paths, for the settings. */
#ifndef APP_PATH_NAMES_H
#define APP_PATH_NAMES_H

#include <stddef.h>

/* The name of the `i`th, NULL past the last: what a setting may choose from. */
const char *order_path_name_at(size_t i);

#endif /* APP_PATH_NAMES_H */

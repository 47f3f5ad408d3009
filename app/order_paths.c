/* SPDX-License-Identifier: MIT */
/* order_paths.c -- the register of order paths. */
#include "app/order_path.h"

#include <string.h>

#define ORDER_PATH(id, commits_for_others) extern const struct order_path order_path_##id;
#include "db/order_paths.def"
#undef ORDER_PATH

static const struct order_path *const PATHS[] = {
#define ORDER_PATH(id, commits_for_others) &order_path_##id,
#include "db/order_paths.def"
#undef ORDER_PATH
};

enum { PATH_COUNT = sizeof(PATHS) / sizeof(PATHS[0]) };

const struct order_path *order_path_find(const char *name)
{
    for (size_t i = 0; i < PATH_COUNT; i++)
        if (strcmp(PATHS[i]->name, name) == 0)
            return PATHS[i];
    return NULL;
}

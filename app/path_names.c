/* SPDX-License-Identifier: MIT */
/* path_names.c -- the names of the order paths, made from paths.def alone. */
#include "app/path_names.h"

#include <string.h>

const char *order_path_name_at(size_t i)
{
    static const char *const NAMES[] = {
#define PATH(id, commits_for_others) #id,
#include "app/paths.def"
#undef PATH
    };

    return i < sizeof(NAMES) / sizeof(NAMES[0]) ? NAMES[i] : NULL;
}

bool order_path_commits_for_others(const char *name)
{
#define PATH(id, commits_for_others)                                                   \
    if (strcmp(name, #id) == 0)                                                        \
        return commits_for_others;
#include "app/paths.def"
#undef PATH
    return false;
}

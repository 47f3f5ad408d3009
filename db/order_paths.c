/* SPDX-License-Identifier: MIT */
/* order_paths.c -- the list of order_paths.def. */
#include "db/order_paths.h"

#include <string.h>

static const struct {
    const char *name;
    bool commits_for_others;
} PATHS[] = {
#define ORDER_PATH(id, commits_for_others) {#id, commits_for_others},
#include "db/order_paths.def"
#undef ORDER_PATH
};

const char *order_path_name_at(size_t i)
{
    return i < ORDER_PATHS ? PATHS[i].name : NULL;
}

bool order_path_id_find(const char *name, enum order_path_id *out)
{
    for (size_t i = 0; i < ORDER_PATHS; i++) {
        if (strcmp(PATHS[i].name, name) != 0)
            continue;
        *out = (enum order_path_id)i;
        return true;
    }
    return false;
}

bool order_path_commits_for_others(const char *name)
{
    enum order_path_id id;

    return order_path_id_find(name, &id) && PATHS[id].commits_for_others;
}

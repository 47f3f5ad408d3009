/* SPDX-License-Identifier: MIT */
/* path_names.c -- the names of the order paths, made from paths.def alone. */
#include "app/path_names.h"

const char *order_path_name_at(size_t i)
{
    static const char *const NAMES[] = {
#define PATH(id) #id,
#include "app/paths.def"
#undef PATH
    };

    return i < sizeof(NAMES) / sizeof(NAMES[0]) ? NAMES[i] : NULL;
}

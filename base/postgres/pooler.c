/* SPDX-License-Identifier: MIT */
/* pooler.c -- the kinds of poolers by their names. */
#include "base/postgres/pooler.h"

#include <string.h>

static const char *const NAMES[] = {
#define X(id, name) name,
    POSTGRES_POOLERS(X)
#undef X
};

enum { COUNT = sizeof(NAMES) / sizeof(NAMES[0]) };

const char *postgres_pooler_name_at(size_t index)
{
    return index < COUNT ? NAMES[index] : NULL;
}

bool postgres_pooler_read(const char *name, enum postgres_pooler *out)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (strcmp(NAMES[i], name) != 0)
            continue;
        *out = (enum postgres_pooler)i;
        return true;
    }
    return false;
}

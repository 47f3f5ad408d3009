/* SPDX-License-Identifier: MIT */
/* guards.c -- the registers of guards. */
#include "db/guard.h"

#include <string.h>

static const struct stock_guard *const GUARDS[] = {
#define GUARD(id) &guard_##id,
#include "db/guards.def"
#undef GUARD
};

static const char *const DUPLICATE_GUARDS[] = {
#define X(id, name) name,
    DUPLICATE_GUARDS(X)
#undef X
};

enum {
    STOCK_GUARDS = sizeof(GUARDS) / sizeof(GUARDS[0]),
    DUPLICATE_GUARDS_KNOWN = sizeof(DUPLICATE_GUARDS) / sizeof(DUPLICATE_GUARDS[0]),
};

const struct stock_guard *guard_at(size_t i)
{
    return i < STOCK_GUARDS ? GUARDS[i] : NULL;
}

const struct stock_guard *guard_find(const char *name)
{
    for (size_t i = 0; i < STOCK_GUARDS; i++)
        if (strcmp(GUARDS[i]->name, name) == 0)
            return GUARDS[i];
    return NULL;
}

const char *guard_name_at(size_t i)
{
    return i < STOCK_GUARDS ? GUARDS[i]->name : NULL;
}

bool duplicate_guard_find(const char *name, enum duplicate_guard *out)
{
    size_t i = 0;

    while (i < DUPLICATE_GUARDS_KNOWN && strcmp(DUPLICATE_GUARDS[i], name) != 0)
        i++;
    *out = (enum duplicate_guard)i;
    return i < DUPLICATE_GUARDS_KNOWN;
}

const char *duplicate_guard_name_at(size_t i)
{
    return i < DUPLICATE_GUARDS_KNOWN ? DUPLICATE_GUARDS[i] : NULL;
}

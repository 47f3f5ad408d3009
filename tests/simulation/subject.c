/* SPDX-License-Identifier: MIT */
/* subject.c -- the list of the subjects. */
#include "tests/simulation/subject.h"

#include <stdio.h>
#include <string.h>

static const char *const variants[] = {"setnx", "naive", "owner", "watch", "getset",
                                       "lua",   "reentrant", "spin", "fenced", "fair",
                                       "rwlock", "multi", "redlock"};

static const struct primitive {
    dlock_variant_info info;
    const struct doings *doings;
} primitives[] = {
    {{.name = "semaphore", .store = "redis"}, &workload_semaphore},
    {{.name = "permits", .store = "redis"}, &workload_permits},
    {{.name = "latch", .store = "redis"}, &workload_latch},
};

enum {
    VARIANT_COUNT = sizeof(variants) / sizeof(variants[0]),
    PRIMITIVE_COUNT = sizeof(primitives) / sizeof(primitives[0]),
};

const char *subject_names(void)
{
    static char names[256];

    if (names[0] == '\0')
        for (size_t i = 0, len = 0; i < subject_count(); i++)
            len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
                                    i > 0 ? "," : "", subject_at(i)->name);
    return names;
}

size_t subject_count(void)
{
    return VARIANT_COUNT + PRIMITIVE_COUNT;
}

const dlock_variant_info *subject_at(size_t index)
{
    return index < VARIANT_COUNT ? dlock_variant_find(variants[index])
                                 : &primitives[index - VARIANT_COUNT].info;
}

const dlock_variant_info *subject_find(const char *name)
{
    for (size_t i = 0; i < subject_count(); i++)
        if (strcmp(subject_at(i)->name, name) == 0)
            return subject_at(i);
    return NULL;
}

bool subject_is_lock(const dlock_variant_info *subject)
{
    return subject == dlock_variant_find(subject->name);
}

const struct doings *subject_doings(const dlock_variant_info *subject)
{
    for (size_t i = 0; i < PRIMITIVE_COUNT; i++)
        if (&primitives[i].info == subject)
            return primitives[i].doings;
    return &workload_locks;
}

/* SPDX-License-Identifier: MIT */
/* lock_build.c -- loading a build of the lock library. */
#include "loadtest/bench/lock_build.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Write the address of a function into the pointer at `function`.  C does not convert a pointer to
 * data into a pointer to a function. */
static bool find(void *library, const char *path, const char *name, void *function)
{
    void *at = dlsym(library, name);

    memcpy(function, &at, sizeof at);
    if (at == NULL)
        fprintf(stderr, "seckill: %s has no %s: it is no build of the lock library\n",
                path, name);
    return at != NULL;
}

bool lock_build_load(struct lock_build *out, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        fprintf(stderr, "seckill: %s cannot be loaded: %s\n", path, dlerror());
        return false;
    }
    return true
#define X(name) &&find(library, path, "dlock_" #name, &out->name)
        LOCK_BUILD_FUNCTIONS(X)
#undef X
        ;
}

/* SPDX-License-Identifier: MIT */
/* lock_build.h -- a build of libdlock.so, loaded beside others.  Each build has its own state,
 * as in a process of its own.
 */
#ifndef LOADTEST_BENCH_LOCK_BUILD_H
#define LOADTEST_BENCH_LOCK_BUILD_H

#include <stdbool.h>

#include "lock/dlock.h"

/* The functions of dlock.h that the measurements call. */
#define LOCK_BUILD_FUNCTIONS(X)                                                        \
    X(open)                                                                            \
    X(close)                                                                           \
    X(acquire)                                                                         \
    X(release)                                                                         \
    X(error)

struct lock_build {
#define X(name) __typeof__(dlock_##name) *name;
    LOCK_BUILD_FUNCTIONS(X)
#undef X
};

/* Load the library of that path; the library stays loaded until the process ends.  The library must
 * be of the version of this program.  This is not checked, because both are built from one tree.
 * False: the reason is on stderr. */
bool lock_build_load(struct lock_build *out, const char *path);

#endif /* LOADTEST_BENCH_LOCK_BUILD_H */

/* SPDX-License-Identifier: MIT */
/* run_directory.h -- the directories of runs: OUT/<time>/, and OUT/latest, a link to the newest. */
#ifndef LOADTEST_KIT_RUN_DIRECTORY_H
#define LOADTEST_KIT_RUN_DIRECTORY_H

#include <stdbool.h>

#include "loadtest/kit/files.h"

/* Make a new directory and point `latest` to it.  False: stderr says why.  A file, a directory
 * or a link at `latest` that no run has made stays; then stderr says that `latest` was not set. */
bool runs_make(char out[FILES_PATH_MAX], const char *base);
/* The same with something before the time, such as "matrix-". */
bool runs_make_named(char out[FILES_PATH_MAX], const char *base, const char *before);

/* Remove the directory that this process made last, with all in it, because the run has no result,
 * and point `latest` to the run before it; if that run is gone, remove `latest`.  A directory with
 * a lab-N/state.json stays, and stderr says how to end the lab. */
void runs_take_back(const char *dir);
/* Has a run of this process a directory that was not taken back? */
bool runs_are_kept(void);

/* Say on stderr that `program` cannot read the run at `path`, for the reason that errno has, and
 * where runs are. */
void runs_say_unreadable(const char *program, const char *path);

/* Is `path` the directory of many runs, as `seckill compare` leaves it?  Then say on stderr that
 * `program` takes one of them, and name one if there is one. */
bool runs_refuse_many(const char *program, const char *path);

#endif /* LOADTEST_KIT_RUN_DIRECTORY_H */

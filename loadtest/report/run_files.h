/* SPDX-License-Identifier: MIT */
/* run_files.h -- the files of a run as JSON, with the problems that were found in them. */
#ifndef LOADTEST_REPORT_RUN_FILES_H
#define LOADTEST_REPORT_RUN_FILES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "loadtest/kit/files.h"

/* The defects of a run's files, in the order of their harm.
 * OTHER: another format than this program's; DAMAGED and MISSING: of one file. */
enum data_problem_kind { DATA_NONE_THERE, DATA_DAMAGED, DATA_MISSING, DATA_OTHER };

enum { DATA_PROBLEMS_MAX = 16, DATA_TEXT_MAX = 512 };

struct data_problem {
    enum data_problem_kind kind;
    char text[DATA_TEXT_MAX]; /* which file, and where in it                          */
};

struct run_data {
    json_t *json; /* an object as of run_data.h; owned                                  */
    char dir[FILES_PATH_MAX];
    struct data_problem problems[DATA_PROBLEMS_MAX];
    size_t problem_count;
};

/* A file of a run as JSON; NULL if it is not there, or damaged, which `data` is told.  The
 * caller owns it. */
json_t *run_data_file(const char *dir, const char *name, struct run_data *data);

void run_data_add_problem(struct run_data *data, enum data_problem_kind kind,
                          const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* ---- values; of another kind or missing: "", 0, false, NULL ---- */

const char *json_text(const json_t *object, const char *key);
double json_double(const json_t *object, const char *key);
int64_t json_whole(const json_t *object, const char *key);

#endif /* LOADTEST_REPORT_RUN_FILES_H */

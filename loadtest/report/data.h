/* SPDX-License-Identifier: MIT */
/* data.h -- the data of a run, read from its directory: from data.json, or from the other files
 * if there is no data.json.
 *
 * No content of a file makes these functions fail: a value of the wrong kind counts as missing,
 * and a defect of a file is kept as a problem, in words.
 */
#ifndef LOADTEST_REPORT_DATA_H
#define LOADTEST_REPORT_DATA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text/exit_codes.h"
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

/* ---- a run ---- */

/* Read the run in `path`: its directory, or a file in it.  EXIT_VALID: all is there.
 * EXIT_UNKNOWN: there are problems, and out->json has what is there nevertheless.
 * EXIT_USAGE: nothing is at `path`; the reason is on stderr. */
enum exit_code run_data_read(struct run_data *out, const char *path);

/* Has the directory no file of a run that could be read? */
bool run_data_is_none(const struct run_data *data);

/* The same as run_data_read() from the text of a data.json, without a directory. */
enum exit_code run_data_parse(struct run_data *out, const char *text, size_t size);

/* A zeroed struct is fine. */
void run_data_free(struct run_data *data);

/* Write data.json for the run in `dir`.  False: the reason is on stderr. */
bool run_data_write(const char *dir, const char *kind, enum exit_code status);

/* ---- one sale under load: the files of its directory ---- */

/* Has the verdict of an audit the stock, the orders and the checks from which the audit concluded
 * it?  Without them a verdict is a word. */
bool sale_has_evidence(const json_t *verdict);

#endif /* LOADTEST_REPORT_DATA_H */

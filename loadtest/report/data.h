/* SPDX-License-Identifier: MIT */
/* data.h -- the data of a run, read from its directory: from data.json, or from the other files
 * if there is no data.json.
 *
 * No content of a file makes these functions fail: a value of the wrong kind counts as missing,
 * and a defect of a file is kept as a problem, in words.
 */
#ifndef LOADTEST_REPORT_DATA_H
#define LOADTEST_REPORT_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/exit_codes.h"
#include "loadtest/report/run_files.h"

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

#endif /* LOADTEST_REPORT_DATA_H */

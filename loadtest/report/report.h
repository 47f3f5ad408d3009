/* SPDX-License-Identifier: MIT */
/* report.h -- a run, or two runs, as one HTML file that needs no network, no other file and no
 * script; it prints on A4.
 *
 * Every text is there in English and Chinese, and the reader sees one.  Names that a user chose
 * are shown as text, whatever bytes they have.  The data is in the file, as JSON.
 */
#ifndef LOADTEST_REPORT_REPORT_H
#define LOADTEST_REPORT_REPORT_H

#include "loadtest/report/data.h"

/* Write the report of `a`, or of both if `b` is not NULL, to the file `path`, as
 * base/text/output_file.h does, or to standard output if `path` is NULL.  EXIT_VALID: written, and
 * all data was there.  EXIT_UNKNOWN: written; the page says what is missing, and so does stderr.
 * EXIT_CANNOT_WRITE: the reason is on stderr. */
enum exit_code report_write(const char *path, const struct run_data *a, const struct run_data *b);

/* Print the problems of a run's files on stderr, one line each. */
void report_tell_problems(const struct run_data *data);

/* The page on `out`. */
void report_print(FILE *out, const struct run_data *a, const struct run_data *b);

#endif /* LOADTEST_REPORT_REPORT_H */

/* SPDX-License-Identifier: MIT */
/* run_report.h -- the end of every command that leaves a run: its data and its report. */
#ifndef LOADTEST_COMMAND_RUN_REPORT_H
#define LOADTEST_COMMAND_RUN_REPORT_H

#include <stdio.h>

#include "base/text/exit_codes.h"

/* Write data.json and report.html into the run's directory `dir`, and print on `say` where the
 * report is.  Answers `status`, the exit status of the command so far; EXIT_CANNOT_WRITE if
 * `status` is EXIT_VALID and a file cannot be written, which is said on stderr. */
enum exit_code run_report(FILE *say, const char *dir, const char *kind, enum exit_code status);

#endif /* LOADTEST_COMMAND_RUN_REPORT_H */

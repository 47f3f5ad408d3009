/* SPDX-License-Identifier: MIT */
/* gather.h -- the results of a run from the files that its command left. */
#ifndef LOADTEST_REPORT_GATHER_H
#define LOADTEST_REPORT_GATHER_H

#include <stdbool.h>

#include "loadtest/report/run_files.h"

/* "results" of the run in `dir`, from the files that the command left there; an empty object if
 * there are none.  Damaged files are added to the problems of `data`, which may be NULL.
 * *kind is the command's name, static; "" if the files do not tell.  The caller owns it. */
json_t *run_data_gather(const char *dir, const char **kind, struct run_data *data);

/* Has "results" the data of a run, of any command? */
bool run_data_has_results(const json_t *results);

#endif /* LOADTEST_REPORT_GATHER_H */

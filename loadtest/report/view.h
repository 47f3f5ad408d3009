/* SPDX-License-Identifier: MIT */
/* view.h -- the cells of a run, from the data of each kind of run. */
#ifndef LOADTEST_REPORT_VIEW_H
#define LOADTEST_REPORT_VIEW_H

#include "loadtest/report/cells.h"
#include "loadtest/report/run_files.h"

/* The cells of the run; the data must outlive them.  The caller frees them with
 * view_free(). */
void view_make(struct view *view, const struct run_data *data);

/* The sale of a run that `dir` names; NULL: there is none. */
const json_t *view_sale(const struct run_data *data, const char *dir);

/* Is it a load of a service that was not started here?  Then only the answers are known. */
bool view_is_remote(const struct run_data *data);

/* The settings of seckilld that a run kept, an array as of service_settings.h, and the name of
 * the sale that they are of; NULL: the run kept none. */
const json_t *view_service(const struct run_data *data, const char **dir);

#endif /* LOADTEST_REPORT_VIEW_H */

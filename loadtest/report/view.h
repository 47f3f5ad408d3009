/* SPDX-License-Identifier: MIT */
/* view.h -- the verdicts and speeds of a run of any kind, as cells of a table, by which two runs
 * can be compared. */
#ifndef LOADTEST_REPORT_VIEW_H
#define LOADTEST_REPORT_VIEW_H

#include "loadtest/report/data.h"

enum cell_mark {
    CELL_MARK_NOT_DONE,
    CELL_MARK_MEASURED, /* only a speed, and nothing to judge                           */
    CELL_MARK_SOUND,    /* also: a performance as expected, a target that was reached    */
    CELL_MARK_BROKEN,
    CELL_MARK_WRONG,    /* a finding that no lock explains, such as a phantom answer    */
    CELL_MARK_UNKNOWN,
};

enum { VIEW_VALUES_MAX = 25 };

/* A figure that each of `count` runs measured once, sorted. */
struct view_values {
    double at[VIEW_VALUES_MAX];
    int count;
};

double values_median(const struct view_values *values);
double values_least(const struct view_values *values);
double values_most(const struct view_values *values);

/* Names are lent by the data. */
struct view_cell {
    const char *group, *column, *row; /* experiment, hazard, lock; "" where there is none */
    enum cell_mark mark;
    const char *outcome;  /* of a performance, in its own words; "" otherwise           */
    /* The outcome that the run's own data gives the cell.  All false: the cell is as expected, or
     * its kind has no such outcome.  The mark is that of the worst run, and may look better or
     * worse. */
    bool is_unexpected, has_no_expectation, is_unknown, is_not_done;
    int64_t excess;       /* units beyond the stock, or second orders of a user          */
    bool is_per_user;
    int done, bad;        /* runs, and how many of them were not sound                   */
    struct view_values speed, p99_ms;
    const char *dir;      /* of the sale that is drawn for it: a key of "runs"; "" none   */
    int64_t clients;      /* clients or threads of a measurement; 0: it has no number     */
};

struct view {
    struct view_cell *cells; /* as the data has them                                    */
    size_t count;
    const char *kind;
};

/* A zeroed view is fine. */
void view_free(struct view *view);

/* The cell of `other` with the experiment, hazard, lock and number of clients of `cell` of
 * `view`.  If each of the two runs is of one lock, the locks may differ, since such runs compare
 * two locks.  NULL: there is none. */
const struct view_cell *view_partner(const struct view *view, const struct view_cell *cell,
                                     const struct view *other);

/* The number of cells with the mark; the number of cells that are not as expected. */
size_t view_count(const struct view *view, enum cell_mark mark);
size_t view_unexpected(const struct view *view);

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

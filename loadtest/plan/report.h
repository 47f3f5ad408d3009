/* SPDX-License-Identifier: MIT */
/* report.h -- a plan for people and for programs.
 *
 * Threads     Any; a stream belongs to one thread.
 */
#ifndef LOADTEST_PLAN_REPORT_H
#define LOADTEST_PLAN_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "loadtest/plan/rates.h"

/* A plan, and what it was computed from. */
struct plan_report {
    struct plan_sale sale;
    struct rates_read read;
    struct plan plan;
    int64_t database_connections; /* of each replica to each partition */
};

/* Print the inputs with their origins, each formula with its numbers, and what it comes to. */
void plan_print(FILE *out, const struct plan_report *report);

/* The same for programs.  The caller owns it. */
json_t *plan_to_json(const struct plan_report *report);

/* Print measured points beside what the first PLAN_POINTS_LEARNED of them predict. */
void plan_print_points(FILE *out, const struct plan_point *points, int count);

#endif /* LOADTEST_PLAN_REPORT_H */

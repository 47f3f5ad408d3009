/* SPDX-License-Identifier: MIT */
/* service_plan.h -- how seckilld processes are to be started, and the command line of each. */
#ifndef LOADTEST_SALE_SERVICE_PLAN_H
#define LOADTEST_SALE_SERVICE_PLAN_H

#include <stdbool.h>

#include "loadtest/kit/files.h"
#include "loadtest/lab/lab.h"

struct service_plan {
    const struct lab *lab;
    const char *dir;          /* where seckilld-<i>.log goes                        */
    const char *const *flags; /* for every process, NULL at the end                 */
    int count;                /* of processes                                       */
    int first;                /* how many others there are before these: their names
                               * and logs go on from there                          */
    int workers;              /* --workers of each; 0: its default                  */
    int database_connections; /* --database-connections of each; 0: its default     */
    bool allow_faults;
    const char *record_dir;   /* of the locks; NULL: no record                      */
    const char *const *variables; /* for each process one that its environment has in
                               * another way, "NAME=value"; NULL: none              */
    char *why;                /* WHY_MAX bytes for why they could not be
                               * started; NULL: that goes to stderr                 */
};

enum { SERVICE_WORDS_MAX = 48 };

/* argv points into the struct itself and into the plan, and ends with NULL. */
struct service_words {
    char program[FILES_PATH_MAX], record[FILES_PATH_MAX];
    char workers[32], database[48], process[32];
    const char *argv[SERVICE_WORDS_MAX + 2]; /* there is room for a word more           */
};

/* The words of the process number `index`, from 0.  The plan must outlive *w, which must not be
 * copied. */
void service_words_make(struct service_words *w, const struct service_plan *plan, int index);

#endif /* LOADTEST_SALE_SERVICE_PLAN_H */

/* SPDX-License-Identifier: MIT */
/* service_plan.h -- the plan of seckilld processes, and the command line of each. */
#ifndef LOADTEST_SALE_SERVICE_PLAN_H
#define LOADTEST_SALE_SERVICE_PLAN_H

#include <stdbool.h>

#include "loadtest/kit/files.h"
#include "loadtest/lab/lab.h"

struct service_plan {
    const struct lab *lab;
    const char *dir;          /* the directory for seckilld-<i>.log                 */
    const char *const *flags; /* for every process, NULL at the end                 */
    int count;                /* of processes                                       */
    int first;                /* the number of processes that were started before
                               * these; names and logs count on from there          */
    int workers;              /* --workers of each; 0: its default                  */
    int database_connections; /* --database-connections of each; 0: its default     */
    bool allow_faults;
    bool is_behind_front;     /* a front on this machine sends the requests          */
    const char *record_dir;   /* of the locks; NULL: no record                      */
    const char *const *variables; /* "NAME=value": for each process a variable that its
                               * environment has with this value; NULL: none        */
    char *why;                /* WHY_MAX bytes for the reason of a failed start;
                               * NULL: the reason goes to stderr                    */
};

enum { SERVICE_WORDS_MAX = 48 };

/* argv points into the struct itself and into the plan, and ends with NULL. */
struct service_words {
    char program[FILES_PATH_MAX], record[FILES_PATH_MAX];
    char workers[32], database[48], process[32];
    const char *argv[SERVICE_WORDS_MAX + 2]; /* has room for one more word              */
};

/* The words of the process number `index`, from 0.  The plan must outlive *w, which must not be
 * copied. */
void service_words_make(struct service_words *w, const struct service_plan *plan, int index);

#endif /* LOADTEST_SALE_SERVICE_PLAN_H */

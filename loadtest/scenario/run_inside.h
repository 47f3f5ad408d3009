/* SPDX-License-Identifier: MIT */
/* run_inside.h -- the performances of one run, within scenario_run.c, which plays
 * them, and scenario_report.c, which says how they went. */
#ifndef LOADTEST_SCENARIO_RUN_INSIDE_H
#define LOADTEST_SCENARIO_RUN_INSIDE_H

#include "loadtest/kit/child.h"
#include "loadtest/lab/lab.h"
#include "loadtest/scenario/run.h"

struct performance {
    const struct scenario_cast *cast;
    struct scenario_result *result; /* shared with the process                        */
    struct child child;
    char dir[FILES_PATH_MAX];
    int64_t until_ns;
    bool is_done;
    struct scenario_variation vary;
    int place;  /* which of the labs it is in                                      */
};

/* A lab, and how many may perform in it at a time. */
struct place {
    struct lab lab;
    char dir[FILES_PATH_MAX]; /* of those that are made for this run                  */
    int running, room;
};

struct troupe {
    const struct scenario_run *run;
    struct performance *all;
    size_t count;
    unsigned number;  /* in the names of this run                                     */
    bool is_measured; /* all of them are the same measurement                         */
    int64_t begin_ns, told_ns; /* when it began, when it was last said how far it is  */
};

/* The lock and, where there is one, the guard: "lua+fence". */
void performance_lock(const struct performance *p, char *out, size_t size);

/* How long a measurement takes. */
int64_t troupe_length_ms(const struct troupe *t);

/* On stderr, now and then: how far a measurement is. */
void troupe_tell_news(struct troupe *t);
/* A line on stdout for one that has ended, if there are several or it is measured. */
void troupe_tell_end(const struct troupe *t, const struct performance *p);
/* The stories of those that did not come out as expected, and how many there are. */
void troupe_sum_up(const struct troupe *t);

/* The table of a measurement, and the page.  False: said on stderr why. */
bool troupe_write_table(const struct troupe *t);
bool troupe_write_page(const struct troupe *t);

#endif /* LOADTEST_SCENARIO_RUN_INSIDE_H */

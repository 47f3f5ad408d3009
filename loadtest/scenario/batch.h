/* SPDX-License-Identifier: MIT */
/* batch.h -- the performances of one command, while they last. */
#ifndef LOADTEST_SCENARIO_BATCH_H
#define LOADTEST_SCENARIO_BATCH_H

#include "loadtest/kit/child.h"
#include "loadtest/lab/lab.h"
#include "loadtest/scenario/plan.h"

/* A lab, and how many may perform in it at a time. */
struct place {
    struct lab lab;
    char dir[FILES_PATH_MAX]; /* of those that are made for this run                  */
    struct lab_keeper keeper; /* removes the lab in `dir` if this process is killed   */
    int running, room;
};

struct performance {
    const struct scenario_setup *setup;
    struct scenario_result *result; /* shared with the process                        */
    struct child child;
    char dir[FILES_PATH_MAX];
    int64_t until_ns;
    bool is_done;
    bool was_cut; /* an interrupt has ended it without an outcome                     */
    struct scenario_variation vary;
    struct place *place; /* where it is                                               */
};

struct batch {
    const struct scenario_run *run;
    struct performance *all;
    size_t count;
    size_t cut_count; /* beside `count`: those without an outcome because of an interrupt */
    unsigned number;  /* in the names of this run                                     */
    bool is_measured; /* all of them are the same measurement                         */
};

#endif /* LOADTEST_SCENARIO_BATCH_H */

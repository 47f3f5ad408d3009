/* SPDX-License-Identifier: MIT */
/* plan.h -- the settings for performing scenarios, and the listener that is told of their ends. */
#ifndef LOADTEST_SCENARIO_PLAN_H
#define LOADTEST_SCENARIO_PLAN_H

#include "loadtest/live/series.h"
#include "loadtest/scenario/result.h"
#include "loadtest/scenario/pages.h"
#include "loadtest/scenario/variation.h"

struct scenario_run {
    const char *dir;     /* of the lab that is used if it is up                       */
    const char *out;     /* where the files of this run go: a directory that is there */
    const char *html;    /* NULL: no page of all performances together                */
    const struct scenario_pages *pages;
    bool is_chinese, shows_wire;
    int jobs;            /* the number of performances at a time that inject no faults into
                          * servers; 0: 3, or 12 for measurements                     */
    int64_t duration_ms; /* of measurements; 0: each has its own                     */
    uint64_t seed;
    int labs;            /* the number of all other performances at a time, each in its own
                          * lab; 0: 1                                                 */
    struct series *series; /* shows the progress; lent; NULL: nothing is shown        */
    const struct scenario_listener *listener; /* NULL: the terminal                   */
};

/* A listener gets the results in place of the terminal, and decides which performances may still
 * begin. */
struct scenario_listener {
    /* Answer the variation of the `i`th performance, which then has a background load, and write
     * its name among the files. */
    struct scenario_variation (*vary)(void *arg, size_t i, char *name, size_t size);
    bool (*may_begin)(void *arg);
    /* The `i`th performance has ended, and its files are in `dir`.  This function tells the series.
     * Not called for a performance that an interrupt has ended. */
    void (*on_end)(void *arg, size_t i, const struct scenario_result *result,
                   const char *dir);
    void *arg;
};

#endif /* LOADTEST_SCENARIO_PLAN_H */

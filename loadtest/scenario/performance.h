/* SPDX-License-Identifier: MIT */
/* performance.h -- a scenario performed once, from its first process to its verdict. */
#ifndef LOADTEST_SCENARIO_PERFORMANCE_H
#define LOADTEST_SCENARIO_PERFORMANCE_H

#include "loadtest/scenario/stage.h"

/* Perform it: in a process of its own, which this call is the whole life of.  Writes
 * what there is to stdout, and page.part in `dir`. */
struct stage_options {
    struct lab *lab;
    const char *dir;
    const struct scenario_pages *pages;
    bool is_chinese, shows_wire;
    struct scenario_variation vary; /* zeroed: as it is written, without a background load */
    unsigned number;    /* makes names different from those of other performances     */
    int64_t duration_ms; /* of a measurement; 0: the scenario's                       */
    uint64_t seed;
};
enum exit_code stage_perform(const struct scenario_setup *setup,
                             const struct stage_options *options,
                             struct scenario_result *result);

#endif /* LOADTEST_SCENARIO_PERFORMANCE_H */

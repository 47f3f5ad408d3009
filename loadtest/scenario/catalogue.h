/* SPDX-License-Identifier: MIT */
/* catalogue.h -- the scenarios, by number and by name, and the performances of each. */
#ifndef LOADTEST_SCENARIO_CATALOGUE_H
#define LOADTEST_SCENARIO_CATALOGUE_H

#include "loadtest/scenario/result.h"

/* The scenarios in the order of scenarios.def; NULL past the last, or if there is none
 * of that name. */
const struct scenario *scenario_at(size_t i);
const struct scenario *scenario_find(const char *name);

/* Every performance of a scenario: one for each lock that is spoken of (and in `locks`,
 * unless that is NULL) and each guard that it is expected under (and is `guard`, unless
 * that is NULL).  The caller frees *out. */
size_t scenario_setups(const struct scenario *scenario, const char *locks,
                         const struct stock_guard *guard, struct scenario_setup **out);

#endif /* LOADTEST_SCENARIO_CATALOGUE_H */

/* SPDX-License-Identifier: MIT */
/* place.h -- the labs that performances need, and whether a lab is fit for the next one. */
#ifndef LOADTEST_SCENARIO_PLACE_H
#define LOADTEST_SCENARIO_PLACE_H

#include "loadtest/scenario/batch.h"

/* Is the performance one of those that need a lab of their own (`own`), or of those that share a
 * lab? */
bool place_is_meant(const struct performance *p, bool own);

/* The topologies that all of these performances need together. */
lab_topologies place_needs(const struct batch *t, bool own);

/* Prepare the lab for the next performance: keep the lab if all its servers are up and its
 * topologies stand, otherwise make it anew.  False: that failed. */
bool place_restore(const struct batch *t, struct place *place);

#endif /* LOADTEST_SCENARIO_PLACE_H */

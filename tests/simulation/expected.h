/* SPDX-License-Identifier: MIT */
/* expected.h -- what must come of each variant in each class: the table expected.def. */
#ifndef SIMULATION_EXPECTED_H
#define SIMULATION_EXPECTED_H

#include "tests/simulation/batch.h"

/* Must no seed of the batch come to this verdict? */
bool expected_is_wrong(const struct batch *batch, enum verdict verdict);

/* Did the batch come out as expected?  If not, `why` says in which way. */
bool expected_is(const struct batch *batch, const struct outcome *outcome, char *why,
                 size_t why_size);

#endif /* SIMULATION_EXPECTED_H */

/* SPDX-License-Identifier: MIT */
/* expected.h -- the expected verdict of each subject in each class: the rows SIMULATED
 * of the project's expectations.def. */
#ifndef SIMULATION_EXPECTED_H
#define SIMULATION_EXPECTED_H

#include "tests/simulation/batch.h"

/* Check the rows before all else: do they name classes, subjects and verdicts that exist? If not,
 * print the names that do not exist on stderr. */
bool expected_check(void);

/* Must no seed of the batch end with this verdict? */
bool expected_is_wrong(const struct batch *batch, enum verdict verdict);

/* Did the batch come out as expected?  If not, `why` says in which way. */
bool expected_is(const struct batch *batch, const struct outcome *outcome, char *why,
                 size_t why_size);

#endif /* SIMULATION_EXPECTED_H */

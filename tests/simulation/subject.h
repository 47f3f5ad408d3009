/* SPDX-License-Identifier: MIT */
/* subject.h -- the subjects of a simulation: variants of the catalogue, and primitives
 * and sales, whose rows are here. */
#ifndef SIMULATION_SUBJECT_H
#define SIMULATION_SUBJECT_H

#include "tests/simulation/workload.h"

/* The names of all, with commas between. */
const char *subject_names(void);

size_t subject_count(void);
const dlock_variant_info *subject_at(size_t index); /* below the count */

/* NULL: there is no such subject. */
const dlock_variant_info *subject_find(const char *name);

/* Is it a lock of the catalogue? */
bool subject_is_lock(const dlock_variant_info *subject);

/* What a workload does with it. */
const struct doings *subject_doings(const dlock_variant_info *subject);

#endif /* SIMULATION_SUBJECT_H */

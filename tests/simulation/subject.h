/* SPDX-License-Identifier: MIT */
/* subject.h -- the subjects of a simulation: variants of the catalogue, and primitives. */
#ifndef SIMULATION_SUBJECT_H
#define SIMULATION_SUBJECT_H

#include "tests/simulation/workload.h"

/* The names of all subjects, separated by commas. */
const char *subject_names(void);

size_t subject_count(void);
const dlock_variant_info *subject_at(size_t index); /* below the count */

/* NULL: there is no such subject. */
const dlock_variant_info *subject_find(const char *name);

/* Is the subject a lock of the catalogue? */
bool subject_is_lock(const dlock_variant_info *subject);

/* The functions of a workload with this subject. */
const struct doings *subject_doings(const dlock_variant_info *subject);

#endif /* SIMULATION_SUBJECT_H */

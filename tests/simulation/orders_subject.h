/* SPDX-License-Identifier: MIT */
/* orders_subject.h -- the sales that can be simulated. Each has a name that can be given in place
 * of a variant: `each`, `combined`, `stream`, and the same with `-bare`. */
#ifndef SIMULATION_ORDERS_SUBJECT_H
#define SIMULATION_ORDERS_SUBJECT_H

#include "tests/simulation/workload.h"

size_t orders_subject_count(void);
const dlock_variant_info *orders_subject_at(size_t index); /* below the count */

/* Is the subject a sale? */
bool orders_is_subject(const dlock_variant_info *subject);

/* Plan the processes, the sale and the faults of this play. */
void orders_begin(const struct play *play);

#endif /* SIMULATION_ORDERS_SUBJECT_H */

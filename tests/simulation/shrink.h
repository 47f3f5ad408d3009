/* SPDX-License-Identifier: MIT */
/* shrink.h -- the smallest world that ends with the verdict of a seed. */
#ifndef SIMULATION_SHRINK_H
#define SIMULATION_SHRINK_H

#include "tests/simulation/workload.h"
#include "tests/simulation/smaller.h"

/* `whole` came of the play.  Play it again with less of everything, until no size can become less
 * by one and the verdict stays.  `*less` is the smallest world, and `*account` its outcome.
 * False: none is smaller, or the verdict is FINE or HANG, of which each play would take a
 * minute. */
bool shrink(const struct play *play, const struct account *whole, struct smaller *less,
            struct account *account);

#endif /* SIMULATION_SHRINK_H */

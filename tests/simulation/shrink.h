/* SPDX-License-Identifier: MIT */
/* shrink.h -- searches for the smallest world that ends with the verdict of a seed. */
#ifndef SIMULATION_SHRINK_H
#define SIMULATION_SHRINK_H

#include "tests/simulation/workload.h"
#include "tests/simulation/smaller.h"

/* `whole` is the account of the play. Play it again with smaller sizes, until no size can be
 * smaller by one with the same verdict. `*less` is the smallest world, and `*account` its account.
 * Returns false if no smaller world has the verdict, or if the verdict is FINE, or HANG, with which
 * each play would take a minute. */
bool shrink(const struct play *play, const struct account *whole, struct smaller *less,
            struct account *account);

#endif /* SIMULATION_SHRINK_H */

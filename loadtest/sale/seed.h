/* SPDX-License-Identifier: MIT */
/* seed.h -- users with tokens. */
#ifndef LOADTEST_SALE_SEED_H
#define LOADTEST_SALE_SEED_H

#include <stdbool.h>
#include <stdint.h>

struct lab;

/* See to it that the lab's tokens file has at least `count` users, whose tokens are good
 * for 12 hours at least: a file whose tokens are not is written anew, with tokens that are
 * good for 48 hours.  False: said on stderr why. */
bool seed_ensure(const struct lab *lab, int64_t count);

#endif /* LOADTEST_SALE_SEED_H */

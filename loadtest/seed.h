/* SPDX-License-Identifier: MIT */
/* seed.h -- users with tokens. */
#ifndef LOADTEST_SEED_H
#define LOADTEST_SEED_H

#include <stdbool.h>
#include <stdint.h>

/* Write "<user> <token>" for the users 1 to `count`, by the key in `key_path`.
 * False: said on stderr why. */
bool seed_tokens(const char *path, const char *key_path, int64_t count);

struct lab;

/* See to it that the lab's tokens file has at least `count` users. */
bool seed_ensure(const struct lab *lab, int64_t count);

#endif /* LOADTEST_SEED_H */

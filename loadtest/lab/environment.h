/* SPDX-License-Identifier: MIT */
/* environment.h -- the environment that the laboratory gives to what it starts. */
#ifndef LOADTEST_LAB_ENVIRONMENT_H
#define LOADTEST_LAB_ENVIRONMENT_H

#include "loadtest/lab/lab.h"

/* Make an environment of three parts: the variables of the lab (NULL: no lab); `extra`
 * ("NAME=value", NULL at the end; may be NULL), which wins; and the variables of this process
 * except those of seckill, because a SECKILL_LOCK in the user's shell must not change a run.
 * Free it with environment_free(). */
char **environment_make(const struct lab *lab, const char *const *extra);

void environment_free(char **environment);

#endif /* LOADTEST_LAB_ENVIRONMENT_H */

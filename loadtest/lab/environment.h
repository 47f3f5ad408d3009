/* SPDX-License-Identifier: MIT */
/* environment.h -- the environment that the laboratory gives to what it starts. */
#ifndef LOADTEST_LAB_ENVIRONMENT_H
#define LOADTEST_LAB_ENVIRONMENT_H

#include "loadtest/lab/lab.h"

/* The lab's variables (NULL: no lab), `extra` ("NAME=value", NULL at the end; may be NULL), which
 * wins, and of our own environment what is not about seckill: a SECKILL_LOCK in the user's shell
 * must not change what a run is about.  Free it with environment_free(). */
char **environment_make(const struct lab *lab, const char *const *extra);

void environment_free(char **environment);

#endif /* LOADTEST_LAB_ENVIRONMENT_H */

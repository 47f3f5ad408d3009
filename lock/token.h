/* SPDX-License-Identifier: MIT */
/* token.h -- the random value that tells two grants apart in a store. */
#ifndef DLOCK_TOKEN_H
#define DLOCK_TOKEN_H

#include "lock/dlock.h"

/* Write a new token: DLOCK_TOKEN_LEN lower-case hex digits and a NUL. */
void dlock_token_make(char out[DLOCK_TOKEN_LEN + 1]);

#endif /* DLOCK_TOKEN_H */

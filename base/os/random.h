/* SPDX-License-Identifier: MIT */
/* random.h -- random bytes and numbers, from the kernel's generator. */
#ifndef DLOCK_RANDOM_H
#define DLOCK_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Fill `out` with byte_count random bytes, at most 64.  Any thread, as all functions
 * here. */
void dlock_random_bytes(void *out, size_t byte_count);

enum { DLOCK_UUID_LEN = 36 };

/* A random UUID (version 4) as text, in lower case, with a NUL. */
void dlock_random_uuid(char out[DLOCK_UUID_LEN + 1]);

/* A number from 0 to bound - 1; bound is above 0.  Only for jitter: the numbers are not
 * equally likely. */
uint32_t dlock_random_below(uint32_t bound);

#endif /* DLOCK_RANDOM_H */

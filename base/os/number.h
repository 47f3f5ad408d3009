/* SPDX-License-Identifier: MIT */
/* number.h -- parses whole numbers, as stores write them. */
#ifndef DLOCK_NUMBER_H
#define DLOCK_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Read the `len` bytes of `text` as one whole number from `least` to `most`, written as
 * stores write it: decimal digits, perhaps with '-' before them, without a '+' and
 * without leading zeros.  False: the bytes are no such number, and *out is not changed.
 * Any thread. */
bool dlock_number_read(const char *text, size_t len, int64_t least, int64_t most,
                       int64_t *out);

#endif /* DLOCK_NUMBER_H */

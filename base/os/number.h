/* SPDX-License-Identifier: MIT */
/* number.h -- parses whole numbers, as stores write them, and bytes, as URLs write them. */
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

/* Read the byte at `*text`, which may be %xx, and go behind it; `end` is the end of the text, and
 * not reached yet.  -1: a % without two hex digits, and *text is not changed. */
int dlock_number_byte(const char **text, const char *end);

#endif /* DLOCK_NUMBER_H */

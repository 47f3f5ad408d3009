/* SPDX-License-Identifier: MIT */
/* sized.h -- structs of the public header that are as long as the caller's dlock.h says. */
#ifndef DLOCK_SIZED_H
#define DLOCK_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Does a struct of `size` bytes, of which this library knows `known`, hold nothing but
 * zeros in the rest?  Then a newer program asks for nothing new. */
static inline bool dlock_is_blank(const void *given, size_t known, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)given;

    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* Give a caller whose struct has `size` bytes as much of ours as fits, and zeros beyond. */
static inline void dlock_hand_out(void *to, size_t size, const void *from, size_t known)
{
    memcpy(to, from, size < known ? size : known);
    if (size > known)
        memset((unsigned char *)to + known, 0, size - known);
}

#endif /* DLOCK_SIZED_H */

/* SPDX-License-Identifier: MIT */
/* sized.h -- structs of the public header whose size is that of the caller's
 * dlock.h. */
#ifndef DLOCK_SIZED_H
#define DLOCK_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* This library knows the first `known` bytes of a struct of `size` bytes.  Are all
 * bytes after them zero, so that a newer program sets no field that this library
 * lacks? */
static inline bool dlock_is_blank(const void *given, size_t known, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)given;

    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* Copy a struct of `known` bytes to a caller whose struct has `size` bytes: as many
 * bytes as fit, and zeros after them. */
static inline void dlock_hand_out(void *to, size_t size, const void *from, size_t known)
{
    memcpy(to, from, size < known ? size : known);
    if (size > known)
        memset((unsigned char *)to + known, 0, size - known);
}

#endif /* DLOCK_SIZED_H */

/* SPDX-License-Identifier: MIT */
/* memory.c -- allocations that cannot fail. */
#include "loadtest/kit/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/text/exit_codes.h"

enum { HUGE_PAGE_BYTES = 2 << 20, LARGE_BYTES = 2 * HUGE_PAGE_BYTES };

void *memory_need(void *memory)
{
    if (memory == NULL) {
        fputs("seckill: there is not enough memory\n", stderr);
        exit(EXIT_BUG);
    }
    return memory;
}

void *memory_grow(void *array, size_t used, size_t size)
{
    size_t whole = (size + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    void *large;

    if (size < LARGE_BYTES)
        return memory_need(realloc(array, size));
    large = memory_need(aligned_alloc(HUGE_PAGE_BYTES, whole));
    (void)madvise(large, whole, MADV_HUGEPAGE); /* a kernel without them has small ones */
    if (used > 0)
        memcpy(large, array, used);
    free(array);
    return large;
}

void *memory_room(void *array, size_t used, size_t more, size_t *room, size_t size)
{
    size_t twice = 2 * *room;

    if (more <= *room - used)
        return array;
    *room = used + more > twice ? used + more : twice;
    return memory_grow(array, used * size, *room * size);
}

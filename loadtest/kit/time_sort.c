/* SPDX-License-Identifier: MIT */
#include "loadtest/kit/time_sort.h"

#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/insertion.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/radix.h"

static void arrange(char *elements, size_t count, size_t size, size_t time_at)
{
    uint64_t *keys = memory_grow(NULL, 0, count * sizeof(*keys));
    uint32_t *order = radix_order(count);
    int64_t time;

    for (size_t i = 0; i < count; i++) {
        memcpy(&time, elements + i * size + time_at, sizeof(time));
        keys[i] = radix_key(time);
    }
    radix_sort(order, order + count, count, keys);
    free(keys);
    radix_arrange(elements, size, count, order);
    free(order);
}

void time_sort(void *elements, size_t count, size_t size, size_t time_at,
               int (*compare)(const void *, const void *))
{
    if (insertion_sort(elements, count, size, compare))
        return;
    arrange(elements, count, size, time_at);
    if (!insertion_sort(elements, count, size, compare))
        qsort(elements, count, size, compare);
}

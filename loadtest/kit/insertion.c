/* SPDX-License-Identifier: MIT */
#include "loadtest/kit/insertion.h"

#include <assert.h>
#include <string.h>

/* An element is moved by so many places on average; a few elements by as many as they need. */
enum { STEPS_AN_ELEMENT = 4, STEPS_FREE = 1024 };

bool insertion_sort(void *elements, size_t count, size_t size,
                    int (*compare)(const void *, const void *))
{
    size_t steps_left = STEPS_AN_ELEMENT * count + STEPS_FREE;
    char moved[INSERTION_ELEMENT_MAX], *first = elements;

    assert(size <= INSERTION_ELEMENT_MAX);
    for (size_t i = 1; i < count; i++) {
        char *at = first + i * size, *to = at;

        if (compare(at - size, at) <= 0)
            continue;
        memcpy(moved, at, size);
        while (to > first && steps_left > 0 && compare(to - size, moved) > 0)
            to -= size, steps_left--;
        memmove(to + size, to, (size_t)(at - to));
        memcpy(to, moved, size);
        if (steps_left == 0)
            return false;
    }
    return true;
}

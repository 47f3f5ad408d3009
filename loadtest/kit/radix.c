/* SPDX-License-Identifier: MIT */
#include "loadtest/kit/radix.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/memory.h"

/* 2,048 counts stay in the first-level cache. */
enum { DIGIT_BITS = 11, DIGIT_VALUES = 1 << DIGIT_BITS, KEY_BITS = 64 };

static size_t digit_of(uint64_t key, int shift)
{
    return key >> shift & (DIGIT_VALUES - 1);
}

/* Write `from` to `to` in the order of one digit. */
static void scatter(uint32_t *to, const uint32_t *from, size_t count,
                    const uint64_t *keys, int shift)
{
    size_t at[DIGIT_VALUES] = {0}, sum = 0;

    for (size_t i = 0; i < count; i++)
        at[digit_of(keys[from[i]], shift)]++;
    for (size_t digit = 0; digit < DIGIT_VALUES; digit++) {
        size_t of_digit = at[digit];

        at[digit] = sum;
        sum += of_digit;
    }
    for (size_t i = 0; i < count; i++)
        to[at[digit_of(keys[from[i]], shift)]++] = from[i];
}

static bool is_sorted(const uint32_t *indices, size_t count, const uint64_t *keys)
{
    for (size_t i = 1; i < count; i++)
        if (keys[indices[i - 1]] > keys[indices[i]])
            return false;
    return true;
}

void radix_sort(uint32_t *indices, uint32_t *spare, size_t count, const uint64_t *keys)
{
    uint32_t *from = indices, *to = spare, *swap;
    uint64_t differing = 0;

    if (is_sorted(indices, count, keys))
        return;
    for (size_t i = 1; i < count; i++)
        differing |= keys[indices[i]] ^ keys[indices[0]];
    for (int shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
        if (digit_of(differing, shift) == 0)
            continue;
        scatter(to, from, count, keys, shift);
        swap = from;
        from = to;
        to = swap;
    }
    if (from != indices)
        memcpy(indices, from, count * sizeof(*indices));
}

uint32_t *radix_order(size_t count)
{
    uint32_t *order = memory_grow(NULL, 0, (2 * count + 1) * sizeof(*order));

    assert(count < UINT32_MAX);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    return order;
}

/* Along the cycles of the permutation. */
void radix_arrange(void *elements, size_t size, size_t count, uint32_t *order)
{
    char first[RADIX_ELEMENT_MAX], *at = elements;

    assert(size <= RADIX_ELEMENT_MAX);
    for (uint32_t start = 0; start < count; start++) {
        uint32_t to = start, from;

        if (order[start] == start)
            continue;
        memcpy(first, at + start * size, size);
        for (; (from = order[to]) != start; to = from) {
            memcpy(at + to * size, at + from * size, size);
            order[to] = to;
        }
        memcpy(at + to * size, first, size);
        order[to] = to;
    }
}

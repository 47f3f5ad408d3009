/* SPDX-License-Identifier: MIT */
#include "loadtest/kit/radix.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/memory.h"

/* 2,048 counts stay in the first-level cache. */
enum {
    DIGIT_BITS = 11,
    DIGIT_VALUES = 1 << DIGIT_BITS,
    DIGITS = (64 + DIGIT_BITS - 1) / DIGIT_BITS,
    ELEMENTS_AHEAD = 20,
    KEYS_AHEAD = 16,
    CACHE_LINE = 64,
};

static size_t digit_of(uint64_t key, int digit)
{
    return key >> digit * DIGIT_BITS & (DIGIT_VALUES - 1);
}

/* Keys are scattered in memory, so each is prefetched some steps before its use. */
static void fetch_key(const uint32_t *indices, size_t at, size_t count, const uint64_t *keys)
{
    if (at + KEYS_AHEAD < count)
        __builtin_prefetch(&keys[indices[at + KEYS_AHEAD]]);
}

/* Count the values of each digit that has a bit of `differing`.  Each digit is counted once,
 * since the order of the indices does not matter. */
static void count_digits(uint32_t counts[DIGITS][DIGIT_VALUES], const uint32_t *indices,
                         size_t count, const uint64_t *keys, uint64_t differing)
{
    int used[DIGITS], used_count = 0;

    for (int digit = 0; digit < DIGITS; digit++)
        if (digit_of(differing, digit) != 0)
            used[used_count++] = digit;
    for (int i = 0; i < used_count; i++)
        memset(counts[used[i]], 0, sizeof(counts[0]));
    for (size_t i = 0; i < count; i++) {
        uint64_t key = keys[indices[i]];

        fetch_key(indices, i, count, keys);
        for (int j = 0; j < used_count; j++)
            counts[used[j]][digit_of(key, used[j])]++;
    }
}

/* Write `from` to `to` in the order of one digit, whose values occur at[value] times. */
static void scatter(uint32_t *to, const uint32_t *from, size_t count,
                    const uint64_t *keys, int digit, uint32_t at[DIGIT_VALUES])
{
    uint32_t sum = 0;

    for (size_t value = 0; value < DIGIT_VALUES; value++) {
        uint32_t of_value = at[value];

        at[value] = sum;
        sum += of_value;
    }
    for (size_t i = 0; i < count; i++) {
        fetch_key(from, i, count, keys);
        to[at[digit_of(keys[from[i]], digit)]++] = from[i];
    }
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
    uint32_t counts[DIGITS][DIGIT_VALUES];
    uint64_t differing = 0;

    if (is_sorted(indices, count, keys))
        return;
    for (size_t i = 1; i < count; i++)
        differing |= keys[indices[i]] ^ keys[indices[0]];
    count_digits(counts, indices, count, keys, differing);
    for (int digit = 0; digit < DIGITS; digit++) {
        if (digit_of(differing, digit) == 0)
            continue;
        scatter(to, from, count, keys, digit, counts[digit]);
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

static void fetch(const char *element, size_t size)
{
    for (size_t at = 0; at < size; at += CACHE_LINE)
        __builtin_prefetch(element + at, 1);
}

/* Move along the cycles of the permutation.  An element is prefetched some steps before its
 * move; at the end of a cycle a few prefetches are wasted. */
void radix_arrange(void *elements, size_t size, size_t count, uint32_t *order)
{
    char first[RADIX_ELEMENT_MAX], *at = elements;

    assert(size <= RADIX_ELEMENT_MAX);
    for (uint32_t start = 0; start < count; start++) {
        uint32_t to = start, from, ahead = start;

        if (order[start] == start)
            continue;
        for (int i = 0; i < ELEMENTS_AHEAD; i++)
            ahead = order[ahead];
        memcpy(first, at + start * size, size);
        for (; (from = order[to]) != start; to = from) {
            ahead = order[ahead];
            fetch(at + ahead * size, size);
            memcpy(at + to * size, at + from * size, size);
            order[to] = to;
        }
        memcpy(at + to * size, first, size);
        order[to] = to;
    }
}

/* SPDX-License-Identifier: MIT */
/* test_radix.c -- sorts indices by their keys; equal keys keep their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/radix.h"

enum { COUNT_MAX = 5000 };

struct element {
    uint32_t key, place;
    char rest[40];
};

/* Numbers that are the same in every run: xorshift, by Marsaglia. */
static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void assert_sorted(const uint32_t *order, size_t count, const uint64_t *keys)
{
    for (size_t i = 1; i < count; i++) {
        assert_true(keys[order[i - 1]] <= keys[order[i]]);
        if (keys[order[i - 1]] == keys[order[i]])
            assert_true(order[i - 1] < order[i]);
    }
}

static void sort_and_check(size_t count, uint64_t mask)
{
    static uint64_t keys[COUNT_MAX];
    static bool is_there[COUNT_MAX];
    uint32_t *order = radix_order(count);
    uint64_t seed = 88172645463325252u + count + mask;

    for (size_t i = 0; i < count; i++)
        keys[i] = next_random(&seed) & mask;
    radix_sort(order, order + count, count, keys);
    assert_sorted(order, count, keys);
    memset(is_there, 0, sizeof(is_there));
    for (size_t i = 0; i < count; i++) {
        assert_true(order[i] < count && !is_there[order[i]]);
        is_there[order[i]] = true;
    }
    free(order);
}

static void keys_of_every_width_are_sorted(void **state)
{
    static const uint64_t masks[] = {0, 1, 0x7ff, 0x800, 0xffff, UINT32_MAX,
                                     UINT64_MAX, UINT64_C(0xff) << 56, UINT64_C(1) << 63};

    (void)state;
    for (size_t mask = 0; mask < sizeof(masks) / sizeof(masks[0]); mask++)
        for (size_t count = 0; count <= COUNT_MAX; count = count * 3 + 1)
            sort_and_check(count, masks[mask]);
}

static void a_second_key_and_then_a_first_sort_by_both(void **state)
{
    static const uint64_t first[] = {2, 1, 2, 1, 2}, second[] = {5, 9, 4, 3, 5};
    static const uint32_t expected[] = {3, 1, 2, 0, 4};
    uint32_t *order = radix_order(5);

    (void)state;
    radix_sort(order, order + 5, 5, second);
    radix_sort(order, order + 5, 5, first);
    assert_memory_equal(order, expected, sizeof(expected));
    free(order);
}

static void signed_numbers_keep_their_order(void **state)
{
    (void)state;
    assert_true(radix_key(INT64_MIN) < radix_key(-1));
    assert_true(radix_key(-1) < radix_key(0));
    assert_true(radix_key(0) < radix_key(INT64_MAX));
}

static void elements_are_moved_as_the_order_says(void **state)
{
    static struct element elements[COUNT_MAX];
    static uint64_t keys[COUNT_MAX];
    uint32_t *order = radix_order(COUNT_MAX);
    uint64_t seed = 7;

    (void)state;
    for (uint32_t i = 0; i < COUNT_MAX; i++) {
        keys[i] = next_random(&seed) % 100;
        elements[i] = (struct element){.key = (uint32_t)keys[i], .place = i};
        snprintf(elements[i].rest, sizeof(elements[i].rest), "element %u", i);
    }
    radix_sort(order, order + COUNT_MAX, COUNT_MAX, keys);
    radix_arrange(elements, sizeof(elements[0]), COUNT_MAX, order);
    for (uint32_t i = 0; i < COUNT_MAX; i++) {
        char expected[40];

        snprintf(expected, sizeof(expected), "element %u", elements[i].place);
        assert_string_equal(elements[i].rest, expected);
        if (i == 0)
            continue;
        assert_true(elements[i - 1].key < elements[i].key ||
                    (elements[i - 1].key == elements[i].key &&
                     elements[i - 1].place < elements[i].place));
    }
    free(order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_every_width_are_sorted),
        cmocka_unit_test(a_second_key_and_then_a_first_sort_by_both),
        cmocka_unit_test(signed_numbers_keep_their_order),
        cmocka_unit_test(elements_are_moved_as_the_order_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

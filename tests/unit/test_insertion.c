/* SPDX-License-Identifier: MIT */
/* test_insertion.c -- nearly sorted data is sorted, and equal elements keep their
 * order.  For other data the sort gives up, and no element is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "loadtest/kit/insertion.h"

enum { COUNT = 20000 };

struct element {
    int key, place;
    char rest[100];
};

static struct element elements[COUNT];

static int by_key(const void *left, const void *right)
{
    const struct element *a = left, *b = right;

    return (a->key > b->key) - (a->key < b->key);
}

static void assert_sorted(int count)
{
    for (int i = 1; i < count; i++) {
        assert_true(elements[i - 1].key <= elements[i].key);
        if (elements[i - 1].key == elements[i].key)
            assert_true(elements[i - 1].place < elements[i].place);
    }
}

static void assert_each_is_there_once(int count)
{
    static bool is_there[COUNT];

    memset(is_there, 0, sizeof(is_there));
    for (int i = 0; i < count; i++) {
        assert_false(is_there[elements[i].place]);
        is_there[elements[i].place] = true;
    }
}

static void sorts_what_is_a_few_places_off(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++)
        elements[i] = (struct element){.key = (i + i % 7) / 3, .place = i};
    assert_true(insertion_sort(elements, COUNT, sizeof(elements[0]), by_key));
    assert_sorted(COUNT);
    assert_each_is_there_once(COUNT);
}

static void sorts_a_few_in_any_order(void **state)
{
    (void)state;
    for (int count = 0; count < 40; count++) {
        for (int i = 0; i < count; i++)
            elements[i] = (struct element){.key = -i, .place = i};
        assert_true(insertion_sort(elements, (size_t)count, sizeof(elements[0]), by_key));
        assert_sorted(count);
        assert_each_is_there_once(count);
    }
}

static void gives_up_without_a_loss(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++)
        elements[i] = (struct element){.key = -i, .place = i};
    assert_false(insertion_sort(elements, COUNT, sizeof(elements[0]), by_key));
    assert_each_is_there_once(COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_what_is_a_few_places_off),
        cmocka_unit_test(sorts_a_few_in_any_order),
        cmocka_unit_test(gives_up_without_a_loss),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_zookeeper_path.c -- the numbers of places in a queue of ZooKeeper. */
#include <inttypes.h>
#include <stdio.h>

#include "lock/stores/zookeeper_path.h"
#include "tests/registered.h"

#define PLACE "c-0123456789abcdef0123456789abcdef-"

static uint32_t number_of(const char *node)
{
    uint32_t number = 7;

    if (!zookeeper_place_number(node, &number))
        fail_msg("%s is no place", node);
    return number;
}

TEST(numbers_are_read)
{
    assert_int_equal(0, number_of(PLACE "0000000000"));
    assert_int_equal(12, number_of(PLACE "0000000012"));
    assert_int_equal(UINT32_MAX, number_of(PLACE "-000000001"));
}

/* The server's numbers grow to the greatest one, and go on with the least one. The server writes
 * ten characters, in which it counts the minus, or as many as the number needs. */
TEST(numbers_grow_through_the_overflow)
{
    static const int32_t NUMBERS[] = {
        0, 1, 9, 10, 999999999, 1000000000, INT32_MAX - 1, INT32_MAX, INT32_MIN, INT32_MIN + 1,
        -1000000001, -1000000000, -999999999, -999999998, -100000000, -99999999, -10, -9, -1,
    };
    uint32_t before = 0;

    for (size_t i = 0; i < sizeof(NUMBERS) / sizeof(NUMBERS[0]); i++) {
        char node[64];
        uint32_t number;

        snprintf(node, sizeof(node), PLACE "%010" PRId32, NUMBERS[i]);
        number = number_of(node);
        assert_int_equal((uint32_t)NUMBERS[i], number);
        assert_true(i == 0 || number > before);
        before = number;
    }
}

TEST(a_node_that_is_no_place_has_no_number)
{
    static const char *const NODES[] = {
        "", "c", "c-", "x", PLACE, PLACE "-", PLACE "1", PLACE "000000001",
        PLACE "00000000001", PLACE "2147483648", PLACE "-2147483649", PLACE "--000000001",
        PLACE "-00000001", PLACE "-0000000001", PLACE "-000000000", PLACE "-0999999999",
        PLACE "-00000000x", PLACE "99999999999999999999", PLACE "-99999999999999999999",
        PLACE "+000000001", PLACE " 000000001", PLACE "000000000x", PLACE "0000000001 ",
        "d-0123456789abcdef0123456789abcdef-0000000001",
        "c-0123456789ABCDEF0123456789abcdef-0000000001",
        "c-0123456789abcdef0123456789abcde-0000000001",
    };

    for (size_t i = 0; i < sizeof(NODES) / sizeof(NODES[0]); i++) {
        uint32_t number = 7;

        if (zookeeper_place_number(NODES[i], &number) || number != 7)
            fail_msg("%s is a place", NODES[i]);
    }
}

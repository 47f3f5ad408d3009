/* SPDX-License-Identifier: MIT */
/* test_zookeeper_path.c -- the numbers of places in a queue of ZooKeeper. */
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

/* The server's numbers grow to the greatest one, and go on with the least one. */
TEST(numbers_grow_through_the_overflow)
{
    assert_int_equal(0, number_of(PLACE "0000000000"));
    assert_int_equal(12, number_of(PLACE "0000000012"));
    assert_true(number_of(PLACE "2147483646") < number_of(PLACE "2147483647"));
    assert_true(number_of(PLACE "2147483647") < number_of(PLACE "-2147483648"));
    assert_true(number_of(PLACE "-2147483648") < number_of(PLACE "-2147483647"));
    assert_true(number_of(PLACE "-2147483647") < number_of(PLACE "-0000000001"));
    assert_int_equal(UINT32_MAX, number_of(PLACE "-0000000001"));
}

TEST(a_node_that_is_no_place_has_no_number)
{
    static const char *const NODES[] = {
        "", "c", "c-", "x", PLACE, PLACE "-", PLACE "1", PLACE "000000001",
        PLACE "00000000001", PLACE "2147483648", PLACE "-2147483649", PLACE "--000000001",
        PLACE "+000000001", PLACE "000000000x", PLACE "0000000001 ",
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

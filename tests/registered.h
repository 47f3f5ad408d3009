/* SPDX-License-Identifier: MIT */
/* registered.h -- tests of many files in one program: each test registers itself.  The file also
 * includes cmocka and the four headers that cmocka needs. */
#ifndef TESTS_REGISTERED_H
#define TESTS_REGISTERED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A test, or, without a name, the fixtures of a whole file. */
struct registered {
    const char *file; /* tests/unit/test_gate.c */
    int line;
    struct CMUnitTest test;
    struct registered *next;
};

void registered_add(struct registered *one);

#define REGISTER(function, name, test, set_up, tear_down)                                          \
    __attribute__((constructor)) static void function(void)                                        \
    {                                                                                              \
        static struct registered one = {                                                           \
            __BASE_FILE__, __LINE__, {name, test, set_up, tear_down, NULL}, NULL};                 \
                                                                                                   \
        registered_add(&one);                                                                      \
    }

/* TEST_WITH(set_up, tear_down, name) { ... } is a test with fixtures; each of them may be NULL. */
#define TEST_WITH(set_up, tear_down, name)                                                         \
    static void name(void **state);                                                                \
    REGISTER(name##_registers, #name, name, set_up, tear_down)                                     \
    static void name(__attribute__((unused)) void **state)

/* TEST(name) { ... } is a test without fixtures. */
#define TEST(name) TEST_WITH(NULL, NULL, name)

/* GROUP(set_up, tear_down) before and after each test of this file. */
#define GROUP(set_up, tear_down) REGISTER(group_registers, NULL, NULL, set_up, tear_down)

#endif

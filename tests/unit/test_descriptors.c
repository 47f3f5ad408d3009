/* SPDX-License-Identifier: MIT */
/* test_descriptors.c -- the file descriptors that the settings of the service need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/descriptors.h"

static size_t needed(size_t databases)
{
    static struct config config;
    int64_t clients[2] = {32, 32};
    size_t descriptors = 0;

    config = (struct config){.database_connections = 4, .workers = 4};
    config.databases.count = databases;
    assert_true(descriptors_plan(&config, 0, clients, &descriptors));
    return descriptors;
}

/* Each database needs its connections, and one for readiness. */
static void each_database_needs_its_own(void **state)
{
    (void)state;
    assert_int_equal(needed(3) - needed(1), 2 * (4 + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_database_needs_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

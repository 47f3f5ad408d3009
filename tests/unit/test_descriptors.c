/* SPDX-License-Identifier: MIT */
/* test_descriptors.c -- the file descriptors that the settings of the service need. */
#include <sys/resource.h>

#include "app/descriptors.h"
#include "tests/registered.h"

enum { LEAST_OF_OTHERS = 128 + 4 + 1 + 4 }; /* beside the clients, in the plans below */

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
TEST(each_database_needs_its_own)
{
    assert_int_equal(needed(3) - needed(1), 2 * (4 + 1));
}

/* Plan with a limit of `extra` descriptors beyond those of the stores and workers. */
static bool plan(int64_t extra, int64_t clients[2])
{
    static struct config config;
    struct rlimit before, limit;
    size_t descriptors = 0;
    bool is_planned;

    config = (struct config){.database_connections = 4,
                             .workers = 4,
                             .connections = clients[0],
                             .admin_connections = clients[1]};
    config.databases.count = 1;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = (rlim_t)(LEAST_OF_OTHERS + extra);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    is_planned = descriptors_plan(&config, 0, clients, &descriptors);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    return is_planned;
}

static void expect_plan(int64_t extra, int64_t orders, int64_t admin, int64_t want_orders,
                        int64_t want_admin)
{
    int64_t clients[2] = {orders, admin};

    assert_true(plan(extra, clients));
    assert_int_equal(clients[0], want_orders);
    assert_int_equal(clients[1], want_admin);
}

static void expect_refusal(int64_t extra, int64_t orders, int64_t admin)
{
    int64_t clients[2] = {orders, admin};

    assert_false(plan(extra, clients));
}

TEST(a_quarter_of_the_room_is_for_admin)
{
    expect_plan(400, 1024, 256, 300, 100);
    expect_plan(400, 1024, 64, 336, 64);
    expect_plan(60, 20, 64, 20, 40);
}

TEST(each_listener_needs_sixteen)
{
    expect_plan(32, 1024, 64, 16, 16);
    expect_refusal(31, 1024, 64);
}

TEST(fewer_connections_than_sixteen_may_be_set)
{
    expect_plan(200, 1024, 8, 192, 8);
    expect_plan(60, 4, 64, 4, 56);
    expect_plan(17, 1024, 1, 16, 1);
    expect_refusal(16, 1024, 1);
}

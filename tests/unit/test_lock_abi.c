/* SPDX-License-Identifier: MIT */
/* test_lock_abi.c -- programs that were built with another dlock.h of the same library number. */
#include <stdlib.h>
#include <string.h>

#include "lock/dlock_primitives.h"
#include "lock/options.h"
#include "tests/registered.h"

/* The options of a later dlock.h. */
struct newer_options {
    dlock_options known;
    const char *new_text;
};

struct newer_request {
    dlock_request known;
    int64_t new_limit_ms;
};

struct newer_info {
    dlock_info known;
    uint64_t new_number;
};

struct newer_metrics {
    dlock_metrics known;
    uint64_t new_counter;
};

/* The structs as programs were built with them, on 64-bit machines. A change here changes the
 * binary interface: unless it adds a field at the end of a struct that may grow, the number of
 * libdlock.so has to change too. */
TEST(every_field_stays_where_it_is)
{
    if (sizeof(void *) != 8)
        return;
    assert_int_equal(sizeof(dlock_options), 152);
    assert_int_equal(offsetof(dlock_options, size), 0);
    assert_int_equal(offsetof(dlock_options, variant), 8);
    assert_int_equal(offsetof(dlock_options, zookeeper_url), 48);
    assert_int_equal(offsetof(dlock_options, lease_ms), 56);
    assert_int_equal(offsetof(dlock_options, watchdog), 60);
    assert_int_equal(offsetof(dlock_options, retry), 64);
    assert_int_equal(offsetof(dlock_options, redlock_sequential), 72);
    assert_int_equal(offsetof(dlock_options, redis_timeout_ms), 76);
    assert_int_equal(offsetof(dlock_options, zookeeper_timeout_ms), 88);
    assert_int_equal(offsetof(dlock_options, on_lost), 96);
    assert_int_equal(offsetof(dlock_options, on_lost_arg), 104);
    assert_int_equal(offsetof(dlock_options, handover), 112);
    assert_int_equal(offsetof(dlock_options, database_pooler), 120);
    assert_int_equal(offsetof(dlock_options, etcd_url), 128);
    assert_int_equal(offsetof(dlock_options, etcd_timeout_ms), 136);
    assert_int_equal(offsetof(dlock_options, replicas_acknowledge), 144);
    assert_int_equal(sizeof(dlock_request), 32);
    assert_int_equal(offsetof(dlock_request, cancel), 24);
    assert_int_equal(sizeof(dlock_lease), 368);
    assert_int_equal(offsetof(dlock_lease, owner), 201);
    assert_int_equal(offsetof(dlock_lease, token), 265);
    assert_int_equal(offsetof(dlock_lease, fence), 304);
    assert_int_equal(offsetof(dlock_lease, hold), 320);
    assert_int_equal(offsetof(dlock_lease, reserved), 336);
    assert_int_equal(sizeof(dlock_permit), 33);
    assert_int_equal(offsetof(dlock_info, left_ms), 16);
    assert_int_equal(offsetof(dlock_info, owner), 32);
    assert_int_equal(offsetof(dlock_metrics, hold), 360);
    assert_int_equal(offsetof(dlock_metrics, lost), 592);
    assert_int_equal(offsetof(dlock_metrics, useless_wake_ups), 640);
    assert_int_equal(offsetof(dlock_metrics, local_grants), 648);
    assert_int_equal(offsetof(dlock_metrics, debts_given_up), 672);
    assert_int_equal(offsetof(dlock_metrics, fail_overs), 680);
    assert_int_equal(offsetof(dlock_metrics, unacknowledged), 712);
    assert_int_equal(offsetof(dlock_metrics, redirects_moved), 720);
    assert_int_equal(offsetof(dlock_metrics, map_refreshes), 752);
}

/* A program was built when the struct had only `size` bytes: the bytes after them belong to the
 * program. */
TEST(only_so_many_bytes_are_initialised)
{
    unsigned char bytes[sizeof(dlock_options)];
    size_t size = offsetof(dlock_options, on_lost);

    memset(bytes, 0x5a, sizeof(bytes));
    dlock_options_init((dlock_options *)(void *)bytes, size);
    for (size_t i = size; i < sizeof(bytes); i++)
        assert_int_equal(bytes[i], 0x5a);
    assert_int_equal(((dlock_options *)(void *)bytes)->size, size);
}

TEST(a_shorter_struct_has_the_defaults_in_what_it_lacks)
{
    dlock_options given = dlock_options_default();
    dlock_options got;

    given.size = offsetof(dlock_options, redis_timeout_ms);
    given.lease_ms = 1234;
    given.redis_timeout_ms = -1; /* outside of the struct that the program knows */
    given.on_lost_arg = (void *)(uintptr_t)1;
    assert_int_equal(dlock_options_read(&got, &given), DLOCK_OK);
    assert_int_equal(got.lease_ms, 1234);
    assert_int_equal(got.redis_timeout_ms, dlock_options_default().redis_timeout_ms);
    assert_null(got.on_lost_arg);
    assert_int_equal(got.size, sizeof(got));
}

TEST(half_a_field_is_not_read)
{
    dlock_options given = dlock_options_default();
    dlock_options got;

    given.replicas_acknowledge = 3;
    given.size = sizeof(given) - 1;
    assert_int_equal(dlock_options_read(&got, &given), DLOCK_OK);
    assert_int_equal(got.replicas_acknowledge, dlock_options_default().replicas_acknowledge);
}

TEST(every_field_is_read)
{
    dlock_options given;
    dlock_options got;
    size_t untouched = 0;
    size_t read_count = offsetof(dlock_options, variant);

    memset(&given, 0x5a, sizeof(given));
    given.size = sizeof(given);
    given.watchdog = given.redlock_sequential = true;
    assert_int_equal(dlock_options_read(&got, &given), DLOCK_OK);
    for (size_t i = read_count; i < sizeof(got); i++)
        untouched += ((unsigned char *)&got)[i] != 0x5a;
    /* The bytes that stay are those of the two switches, and the padding after them. */
    assert_true(untouched <= 2 * sizeof(int) + 4);
}

TEST(a_longer_struct_is_taken_if_it_asks_for_nothing_new)
{
    struct newer_options newer;
    dlock_system *sys = NULL;

    dlock_options_init(&newer.known, sizeof(newer));
    assert_null(newer.new_text);
    newer.known.variant = "none";
    assert_int_equal(dlock_open(&sys, &newer.known), DLOCK_OK);
    dlock_close(sys);
    newer.new_text = "on";
    assert_int_equal(dlock_open(&sys, &newer.known), DLOCK_INVALID);
    assert_null(sys);
    assert_non_null(strstr(dlock_error(), "what this library does not know"));
}

TEST(options_that_never_saw_the_defaults_are_refused)
{
    dlock_options opts = {.variant = "none"};
    dlock_system *sys = NULL;

    assert_int_equal(dlock_open(&sys, &opts), DLOCK_INVALID);
    assert_non_null(strstr(dlock_error(), "begin with dlock_options_default()"));
}

static dlock_status acquire(dlock_system *sys, const dlock_request *request)
{
    dlock_lease lease;
    dlock_status st = dlock_acquire_with(sys, "abi", request, &lease);

    if (st == DLOCK_OK)
        assert_int_equal(dlock_release(sys, &lease), DLOCK_OK);
    return st;
}

static dlock_system *open_local(void)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;

    opts.variant = "local";
    assert_int_equal(dlock_open(&sys, &opts), DLOCK_OK);
    return sys;
}

TEST(a_request_says_how_long_it_is_or_nothing)
{
    dlock_system *sys = open_local();
    struct newer_request newer = {{.size = sizeof(newer)}, 0};
    dlock_request request = {0};

    assert_int_equal(acquire(sys, &request), DLOCK_OK);
    request.size = sizeof(request);
    assert_int_equal(acquire(sys, &request), DLOCK_OK);
    request.size = sizeof(request) - 1;
    assert_int_equal(acquire(sys, &request), DLOCK_INVALID);
    assert_int_equal(acquire(sys, &newer.known), DLOCK_OK);
    newer.new_limit_ms = 1;
    assert_int_equal(acquire(sys, &newer.known), DLOCK_INVALID);
    assert_non_null(strstr(dlock_error(), "what this library does not know"));
    dlock_close(sys);
}

TEST(a_struct_that_is_filled_keeps_the_callers_size)
{
    dlock_system *sys = open_local();
    size_t info_size = offsetof(dlock_info, owner);
    size_t metrics_size = offsetof(dlock_metrics, lost);
    struct newer_info info = {.new_number = 7};
    struct newer_metrics metrics = {.new_counter = 7};
    dlock_request request = {0};

    assert_int_equal(acquire(sys, &request), DLOCK_OK);
    memset(&info.known, 0x5a, sizeof(info.known));
    memset(&metrics.known, 0x5a, sizeof(metrics.known));
    assert_int_equal(dlock_inspect_sized(sys, "abi", &info.known, info_size), DLOCK_OK);
    assert_false(info.known.locked);
    assert_int_equal(info.known.owner[0], 0x5a);
    dlock_metrics_read_sized(sys, &metrics.known, metrics_size);
    assert_int_equal(metrics.known.acquires[DLOCK_OK], 1);
    assert_int_equal(metrics.known.lost & 0xff, 0x5a);

    assert_int_equal(dlock_inspect_sized(sys, "abi", &info.known, sizeof(info)), DLOCK_OK);
    assert_int_equal(info.known.owner[0], 0);
    assert_int_equal(info.new_number, 0);
    dlock_metrics_read_sized(sys, &metrics.known, sizeof(metrics));
    assert_int_equal(metrics.known.lost, 0);
    assert_int_equal(metrics.new_counter, 0);
    dlock_close(sys);
}

TEST(nothing_of_a_lease_is_left_unset)
{
    dlock_system *sys = open_local();
    dlock_lease lease;

    memset(&lease, 0x5a, sizeof(lease));
    assert_int_equal(dlock_acquire(sys, "abi", 0, &lease), DLOCK_OK);
    for (size_t i = 0; i < sizeof(lease.reserved) / sizeof(lease.reserved[0]); i++)
        assert_int_equal(lease.reserved[i], 0);
    assert_int_equal(dlock_release(sys, &lease), DLOCK_OK);
    dlock_close(sys);
}

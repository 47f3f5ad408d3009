/* SPDX-License-Identifier: MIT */
/* test_lock_process.c -- several processes in one program share no state. */
#include "base/os/clock.h"
#include "base/os/thread.h"
#include "lock/dlock.h"
#include "lock/fault.h"
#include "lock/options.h"
#include "lock/owner.h"
#include "lock/process.h"
#include "lock/registry.h"
#include "tests/registered.h"

enum { HOUR_MS = 3600000, NUMBER = 1000 };

static struct dlock_process other;

static int set_up(void **state)
{
    (void)state;
    return dlock_process_init(&other) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    dlock_process_enter(NULL);
    dlock_process_destroy(&other);
    return 0;
}

static dlock_system *open_local(void)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys;

    opts.variant = "local";
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    return sys;
}

TEST_WITH(set_up, tear_down, local_excludes_the_threads_of_its_own_process_alone)
{
    dlock_system *here = open_local();
    dlock_system *there;
    dlock_lease leases[2];

    assert_int_equal(DLOCK_OK, dlock_acquire(here, "n", 0, &leases[0]));
    dlock_process_enter(&other);
    there = open_local();
    assert_int_equal(DLOCK_OK, dlock_acquire(there, "n", 0, &leases[1]));
    assert_int_equal(DLOCK_OK, dlock_release(there, &leases[1]));
    dlock_close(there);
    dlock_process_enter(NULL);
    assert_int_equal(DLOCK_OK, dlock_release(here, &leases[0]));
    dlock_close(here);
}

static void *draw_number(void *process)
{
    dlock_process_enter(process);
    return (void *)(uintptr_t)dlock_owner_here()->thread; /* no caller uses the result */
}

TEST_WITH(set_up, tear_down, owners_are_numbered_in_each_process)
{
    struct dlock_thread thread;
    uint64_t here_before = dlock_process_here()->last_number;

    other.last_number = NUMBER;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(0, dlock_thread_start(&thread, draw_number, &other));
        dlock_thread_join(&thread);
    }
    assert_int_equal(NUMBER + 2, other.last_number);
    assert_int_equal(here_before, dlock_process_here()->last_number);
}

TEST_WITH(set_up, tear_down, a_point_is_armed_in_one_process)
{
    dlock_fault_state seen;

    assert_false(dlock_fault_is_allowed());
    dlock_process_enter(&other);
    dlock_fault_allow();
    assert_true(dlock_fault_arm(DLOCK_FAULT_AFTER_COMMIT, DLOCK_FAULT_FAIL, NULL));
    dlock_process_enter(NULL);
    assert_false(dlock_fault_is_allowed());
    assert_int_equal(DLOCK_FAULT_NOTHING, DLOCK_FAULT_ASK(DLOCK_FAULT_AFTER_COMMIT, "n"));
    dlock_fault_look(DLOCK_FAULT_AFTER_COMMIT, &seen);
    assert_false(seen.armed);
    dlock_process_enter(&other);
    assert_int_equal(DLOCK_FAULT_FAIL, DLOCK_FAULT_ASK(DLOCK_FAULT_AFTER_COMMIT, "n"));
    assert_false(dlock_fault_is_any_armed());
}

TEST_WITH(set_up, tear_down, a_wall_clock_is_wrong_in_one_process)
{
    int64_t here_ms;
    int64_t there_ms;

    dlock_process_enter(&other);
    dlock_process_shift_wall(HOUR_MS);
    there_ms = dlock_process_wall_ms();
    dlock_process_enter(NULL);
    here_ms = dlock_process_wall_ms();
    assert_true(there_ms - here_ms > HOUR_MS / 2);
    assert_true(dlock_clock_wall_ms() - here_ms < HOUR_MS / 2);
}

TEST_WITH(set_up, tear_down, a_variant_stands_in_and_limits_are_lifted_in_one_process)
{
    dlock_variant it = *dlock_registry_find("getset");
    const dlock_variant *real = dlock_registry_find("lua-local");

    dlock_process_enter(&other);
    dlock_registry_replace(&it);
    dlock_options_lift_limits(true);
    assert_ptr_equal(&it, dlock_registry_find("getset"));
    assert_int_equal(HOUR_MS, dlock_options_lease_ms(real, HOUR_MS));
    dlock_process_enter(NULL);
    assert_ptr_not_equal(&it, dlock_registry_find("getset"));
    assert_true(dlock_options_lease_ms(real, HOUR_MS) < HOUR_MS);
}

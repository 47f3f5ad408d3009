/* SPDX-License-Identifier: MIT */
/* test_lock_wait.c -- when a waiter tries again, with a variant made for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs these four first. */
#include <cmocka.h>
#include <string.h>

#include "lock/clock.h"
#include "lock/wait.h"

/* What the made-up lock does. */
static struct {
    int attempt_count;
    int busy_count;       /* this many attempts are refused */
    dlock_status then;
    int64_t free_in_ms;
    bool can_watch;
    int watch_count;
    int sleep_count;
    int unwatch_count;
    bool granted;
    int64_t slept_ns; /* the longest that a sleep was asked for */
} lock;

static dlock_status attempt(void *arg, int64_t *free_in_ms)
{
    assert_ptr_equal(&lock, arg);
    *free_in_ms = lock.free_in_ms;
    return lock.attempt_count++ < lock.busy_count ? DLOCK_BUSY : lock.then;
}

static void *watch(void *state, const dlock_claim *claim)
{
    assert_ptr_equal(&lock, state);
    assert_string_equal("name", claim->name);
    lock.watch_count++;
    return lock.can_watch ? &lock : NULL;
}

static void sleep_until(void *watched, int64_t until_ns)
{
    int64_t ns = until_ns - dlock_clock_ns();

    assert_ptr_equal(&lock, watched);
    lock.sleep_count++;
    if (ns > lock.slept_ns)
        lock.slept_ns = ns;
}

static void unwatch(void *watched, bool granted)
{
    assert_ptr_equal(&lock, watched);
    lock.unwatch_count++;
    lock.granted = granted;
}

static const dlock_claim claim_here = {.name = "name"};
static const dlock_variant polled;
static const dlock_variant pushed = {
    .watch = watch, .sleep = sleep_until, .unwatch = unwatch};

static dlock_status wait_for(const dlock_variant *variant, int64_t wait_ms,
                             int busy_count, dlock_status then)
{
    memset(&lock, 0, sizeof(lock));
    lock.busy_count = busy_count;
    lock.then = then;
    lock.free_in_ms = -1;
    lock.can_watch = true;
    return dlock_wait(variant, &lock, &claim_here, wait_ms, attempt, &lock);
}

static void no_wait_is_one_attempt(void **state)
{
    (void)state;
    assert_int_equal(DLOCK_BUSY, wait_for(&polled, 0, 9, DLOCK_OK));
    assert_int_equal(1, lock.attempt_count);
    assert_int_equal(DLOCK_BUSY, wait_for(&pushed, 0, 9, DLOCK_OK));
    assert_int_equal(1, lock.attempt_count);
    assert_int_equal(0, lock.watch_count);
    assert_int_equal(DLOCK_OK, wait_for(&pushed, -1, 0, DLOCK_OK));
    assert_int_equal(0, lock.watch_count);
}

static void a_grant_or_a_failure_ends_the_wait(void **state)
{
    (void)state;
    assert_int_equal(DLOCK_OK, wait_for(&polled, -1, 5, DLOCK_OK));
    assert_int_equal(6, lock.attempt_count);
    assert_int_equal(DLOCK_UNKNOWN, wait_for(&polled, -1, 2, DLOCK_UNKNOWN));
    assert_int_equal(3, lock.attempt_count);
    assert_int_equal(DLOCK_OK, wait_for(&pushed, -1, 5, DLOCK_OK));
    assert_int_equal(5, lock.sleep_count);
    assert_int_equal(1, lock.unwatch_count);
    assert_true(lock.granted);
    assert_int_equal(DLOCK_IO, wait_for(&pushed, -1, 1, DLOCK_IO));
    assert_int_equal(1, lock.unwatch_count);
    assert_false(lock.granted);
}

static void time_runs_out(void **state)
{
    int64_t begun_ns = dlock_clock_ns();

    (void)state;
    assert_int_equal(DLOCK_TIMEOUT, wait_for(&polled, 30, 1000000, DLOCK_OK));
    assert_true(dlock_clock_ns() - begun_ns >= 30 * DLOCK_NS_PER_MS);
    assert_true(lock.attempt_count >= 2);
    assert_true(lock.attempt_count <= 30);
    assert_int_equal(DLOCK_TIMEOUT, wait_for(&pushed, 20, 100000000, DLOCK_OK));
    assert_int_equal(1, lock.unwatch_count);
    assert_false(lock.granted);
    assert_true(lock.slept_ns <= 20 * DLOCK_NS_PER_MS);
}

static void a_poll_stands_behind_the_watch(void **state)
{
    (void)state;
    assert_int_equal(DLOCK_OK, wait_for(&pushed, -1, 50, DLOCK_OK));
    assert_true(lock.slept_ns > 100 * DLOCK_NS_PER_MS);
    assert_true(lock.slept_ns <= 400 * DLOCK_NS_PER_MS);
    /* And who knows when the holder's lease ends looks then. */
    memset(&lock, 0, sizeof(lock));
    lock.busy_count = 50;
    lock.can_watch = true;
    lock.free_in_ms = 7;
    assert_int_equal(DLOCK_OK,
                     dlock_wait(&pushed, &lock, &claim_here, -1, attempt, &lock));
    assert_true(lock.slept_ns <= 8 * DLOCK_NS_PER_MS);
}

static void who_cannot_watch_polls(void **state)
{
    (void)state;
    memset(&lock, 0, sizeof(lock));
    lock.busy_count = 3;
    assert_int_equal(DLOCK_OK,
                     dlock_wait(&pushed, &lock, &claim_here, -1, attempt, &lock));
    assert_int_equal(4, lock.attempt_count);
    assert_int_equal(0, lock.sleep_count);
    assert_int_equal(0, lock.unwatch_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_wait_is_one_attempt),
        cmocka_unit_test(a_grant_or_a_failure_ends_the_wait),
        cmocka_unit_test(time_runs_out),
        cmocka_unit_test(a_poll_stands_behind_the_watch),
        cmocka_unit_test(who_cannot_watch_polls),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("lock_wait", tests, NULL, NULL);
}

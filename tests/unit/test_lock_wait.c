/* SPDX-License-Identifier: MIT */
/* test_lock_wait.c -- when a waiter tries again, with a variant that the test defines. */
#include <string.h>

#include "base/os/clock.h"
#include "lock/wait.h"
#include "tests/registered.h"

/* The behaviour of this variant's lock. */
static struct {
    int attempt_count;
    int busy_count;       /* the number of attempts that are refused */
    dlock_status then;
    int64_t free_in_ms;
    bool can_watch;
    int watch_count;
    int sleep_count;
    int unwatch_count;
    bool granted;
    int64_t slept_ns; /* the longest sleep that the library asked for */
    bool wakes;       /* each sleep ends by a wake-up */
    dlock_cancel *fires;   /* the nth attempt fires it */
    int fires_at;
    int fires_asleep_at; /* or the nth sleep does */
} lock;

static dlock_status attempt(void *arg, int64_t *free_in_ms)
{
    assert_ptr_equal(&lock, arg);
    *free_in_ms = lock.free_in_ms;
    if (lock.fires != NULL && lock.attempt_count + 1 == lock.fires_at)
        dlock_cancel_fire(lock.fires);
    return lock.attempt_count++ < lock.busy_count ? DLOCK_BUSY : lock.then;
}

static void *watch(void *state, const dlock_claim *claim)
{
    assert_ptr_equal(&lock, state);
    assert_string_equal("name", claim->name);
    lock.watch_count++;
    return lock.can_watch ? &lock : NULL;
}

static bool sleep_until(void *watched, int64_t until_ns)
{
    int64_t ns = until_ns - dlock_clock_ns();

    assert_ptr_equal(&lock, watched);
    lock.sleep_count++;
    if (ns > lock.slept_ns)
        lock.slept_ns = ns;
    if (lock.fires != NULL && lock.sleep_count == lock.fires_asleep_at)
        dlock_cancel_fire(lock.fires);
    return lock.wakes;
}

static void unwatch(void *watched, bool granted)
{
    assert_ptr_equal(&lock, watched);
    lock.unwatch_count++;
    lock.granted = granted;
}

static dlock_claim claim_here = {.name = "name"};
static const dlock_variant polled;
static const dlock_variant pushed = {
    .watch = watch, .sleep = sleep_until, .unwatch = unwatch};

/* Wait with the behaviour that `lock` has. */
static struct dlock_waiting wait_by(const dlock_variant *variant, const char *policy,
                                    int64_t wait_ms, dlock_cancel *cancel,
                                    dlock_status want)
{
    struct dlock_retry retry;
    struct dlock_waiting waiting = {
        .variant = variant,
        .state = &lock,
        .claim = &claim_here,
        .retry = &retry,
        .cancel = cancel,
        .attempt = attempt,
        .arg = &lock,
    };

    assert_int_equal(DLOCK_OK, dlock_retry_parse(policy, &retry));
    if (wait_ms < 0)
        waiting.until_ns = INT64_MAX;
    else if (wait_ms > 0)
        waiting.until_ns = dlock_clock_after(dlock_clock_ns(), wait_ms);
    assert_int_equal(want, dlock_wait(&waiting));
    return waiting;
}

static dlock_status wait_on(const dlock_variant *variant, int64_t wait_ms)
{
    struct dlock_retry push = {0};
    struct dlock_waiting waiting = {
        .variant = variant,
        .state = &lock,
        .claim = &claim_here,
        .retry = &push,
        .attempt = attempt,
        .arg = &lock,
    };

    if (wait_ms != 0)
        waiting.until_ns =
            wait_ms < 0 ? INT64_MAX : dlock_clock_after(dlock_clock_ns(), wait_ms);
    return dlock_wait(&waiting);
}

static void be_busy(int busy_count)
{
    memset(&lock, 0, sizeof(lock));
    lock.busy_count = busy_count;
    lock.free_in_ms = -1;
    lock.can_watch = true;
}

static dlock_status wait_for(const dlock_variant *variant, int64_t wait_ms,
                             int busy_count, dlock_status then)
{
    memset(&lock, 0, sizeof(lock));
    lock.busy_count = busy_count;
    lock.then = then;
    lock.free_in_ms = -1;
    lock.can_watch = true;
    return wait_on(variant, wait_ms);
}

TEST(no_wait_is_one_attempt)
{
    assert_int_equal(DLOCK_BUSY, wait_for(&polled, 0, 9, DLOCK_OK));
    assert_int_equal(1, lock.attempt_count);
    assert_int_equal(DLOCK_BUSY, wait_for(&pushed, 0, 9, DLOCK_OK));
    assert_int_equal(1, lock.attempt_count);
    assert_int_equal(0, lock.watch_count);
    assert_int_equal(DLOCK_OK, wait_for(&pushed, -1, 0, DLOCK_OK));
    assert_int_equal(0, lock.watch_count);
}

TEST(a_grant_or_a_failure_ends_the_wait)
{
    assert_int_equal(DLOCK_OK, wait_for(&polled, -1, 5, DLOCK_OK));
    assert_int_equal(6, lock.attempt_count);
    assert_int_equal(DLOCK_PROTOCOL, wait_for(&polled, -1, 2, DLOCK_PROTOCOL));
    assert_int_equal(3, lock.attempt_count);
    assert_int_equal(DLOCK_OK, wait_for(&pushed, -1, 5, DLOCK_OK));
    assert_int_equal(5, lock.sleep_count);
    assert_int_equal(1, lock.unwatch_count);
    assert_true(lock.granted);
    assert_int_equal(DLOCK_NOMEM, wait_for(&pushed, -1, 1, DLOCK_NOMEM));
    assert_int_equal(1, lock.unwatch_count);
    assert_false(lock.granted);
}

TEST(a_poll_stands_behind_the_watch)
{
    assert_int_equal(DLOCK_OK, wait_for(&pushed, -1, 50, DLOCK_OK));
    assert_true(lock.slept_ns > 100 * DLOCK_NS_PER_MS);
    assert_true(lock.slept_ns <= 400 * DLOCK_NS_PER_MS);
    /* A waiter that knows the end of the holder's lease looks at that instant. */
    memset(&lock, 0, sizeof(lock));
    lock.busy_count = 50;
    lock.can_watch = true;
    lock.free_in_ms = 7;
    assert_int_equal(DLOCK_OK,
                     wait_on(&pushed, -1));
    assert_true(lock.slept_ns <= 8 * DLOCK_NS_PER_MS);
}

TEST(a_waiter_that_cannot_watch_polls)
{
    memset(&lock, 0, sizeof(lock));
    lock.busy_count = 3;
    assert_int_equal(DLOCK_OK,
                     wait_on(&pushed, -1));
    assert_int_equal(4, lock.attempt_count);
    assert_int_equal(0, lock.sleep_count);
    assert_int_equal(0, lock.unwatch_count);
}

TEST(a_policy_says_how_long_to_pause)
{
    int64_t begun_ns = dlock_clock_ns();

    be_busy(3);
    wait_by(&polled, "fixed:20ms,jitter:0%", -1, NULL, DLOCK_OK);
    assert_true(dlock_clock_ns() - begun_ns >= 60 * DLOCK_NS_PER_MS);
    /* A sleep does not last longer than the caller waits. */
    be_busy(1000);
    wait_by(&polled, "fixed:60m", 20, NULL, DLOCK_TIMEOUT);
    assert_int_equal(2, lock.attempt_count);
}

TEST(a_fair_waiter_never_pauses_for_long)
{
    static const dlock_variant fair = {.info = {.caps = DLOCK_CAP_FAIR}};

    be_busy(1); /* otherwise the sleep would be an hour */
    wait_by(&fair, "fixed:60m", -1, NULL, DLOCK_OK);
    assert_int_equal(2, lock.attempt_count);
}

TEST(a_waiter_that_waited_in_the_store_does_not_pause)
{
    be_busy(5);
    claim_here.waited = true;
    wait_by(&polled, "fixed:60m", -1, NULL, DLOCK_OK);
    claim_here.waited = false;
    assert_int_equal(6, lock.attempt_count);
}

/* The cancelled waiter has used up the wake-up, so no other waiter would try if it did not. */
TEST(a_woken_waiter_tries_also_when_cancelled)
{
    dlock_cancel *cancel = dlock_cancel_new();

    be_busy(1000);
    lock.wakes = true;
    lock.fires = cancel;
    lock.fires_asleep_at = 2;
    wait_by(&pushed, NULL, -1, cancel, DLOCK_CANCELLED);
    assert_int_equal(3, lock.attempt_count);
    dlock_cancel_reset(cancel);
    be_busy(2);
    lock.wakes = true;
    lock.fires = cancel;
    lock.fires_asleep_at = 2;
    wait_by(&pushed, NULL, -1, cancel, DLOCK_OK);
    dlock_cancel_free(cancel);
}

TEST(useless_wake_ups_are_counted)
{
    struct dlock_waiting told;

    be_busy(4);
    lock.wakes = true;
    told = wait_by(&pushed, NULL, -1, NULL, DLOCK_OK);
    assert_int_equal(4, told.wake_count);
    assert_int_equal(3, told.useless_wake_count);
    be_busy(4);
    told = wait_by(&pushed, NULL, -1, NULL, DLOCK_OK);
    assert_int_equal(0, told.wake_count);
    assert_int_equal(5, told.try_count);
}

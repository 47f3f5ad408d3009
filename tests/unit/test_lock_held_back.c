/* SPDX-License-Identifier: MIT */
/* test_lock_held_back.c -- a request that is held back in favour of other processes ends with its
 * cancel, and its lease counts from the end of the delay. No server answers the requests. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "lock/dlock.h"
#include "lock/registry.h"
#include "lock/stores/redisson.h"
#include "tests/registered.h"

enum { HOUR_MS = 3600000, FIRST_MS = 20, LAST_MS = 5000 };

static struct dlock_fair_shares shares;
static struct redisson_lock lock = {
    .shares = &shares, .channel = REDISSON_CHANNEL, .acquire = {.text = "return 1"}};
static atomic_bool has_begun;

/* Give the other processes a turn of the lock `name` that lasts much longer than the test. */
static void open_a_turn(const char *name)
{
    char channel[REDISSON_NAME_SIZE];

    redisson_name(REDISSON_CHANNEL, name, channel);
    for (int i = 0; i < 100; i++)
        dlock_fair_shares_released(&shares, channel, 1);
    for (int i = 0; i < DLOCK_SHARE_SLOTS; i++)
        shares.slots[i].until_ns = INT64_MAX;
}

static int set_up(void **state)
{
    (void)state;
    alarm(120); /* a hang ends the program by a signal */
    dlock_fair_shares_init(&shares);
    assert_int_equal(DLOCK_OK, redis_link_open(&lock.link, "unix:///nonexistent/s", 1000, false));
    open_a_turn("hot");
    atomic_store(&has_begun, false);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    redis_link_close(lock.link);
    dlock_fair_shares_destroy(&shares);
    return 0;
}

static dlock_status ask(dlock_claim *claim)
{
    claim->name = "hot";
    claim->owner = "owner";
    claim->level = 1;
    claim->give_up_ns = INT64_MAX;
    return redisson_acquire(&lock, claim);
}

static void *ask_cancelled(void *cancel)
{
    dlock_claim claim = {.wait_until_ns = INT64_MAX, .cancel = cancel};

    atomic_store(&has_begun, true);
    (void)ask(&claim);
    return NULL;
}

/* Without the end by its cancel, the thread would be held back until alarm() ends the program. */
TEST_WITH(set_up, tear_down, a_cancel_ends_the_delay)
{
    dlock_cancel *cancel = dlock_cancel_new();
    pthread_t thread;

    assert_non_null(cancel);
    assert_int_equal(0, pthread_create(&thread, NULL, ask_cancelled, cancel));
    while (!atomic_load(&has_begun))
        usleep(1000);
    dlock_cancel_fire(cancel);
    assert_int_equal(0, pthread_join(thread, NULL));
    dlock_cancel_free(cancel);
}

/* On a slow machine the time of a wait may be over before the delay begins. */
TEST_WITH(set_up, tear_down, a_delay_is_no_part_of_the_lease)
{
    dlock_claim claim = {0};

    for (int ms = FIRST_MS; ms < LAST_MS && claim.sent_ns == 0; ms *= 2) {
        claim.wait_until_ns = dlock_clock_after(dlock_clock_ns(), ms);
        assert_int_equal(DLOCK_IO, ask(&claim));
    }
    assert_true(claim.sent_ns >= claim.wait_until_ns);
}

static dlock_status open_nothing(const dlock_options *opts, void **out)
{
    (void)opts;
    *out = &lock;
    return DLOCK_OK;
}

static void close_nothing(void *state)
{
    (void)state;
}

static dlock_status grant_after_an_hour(void *state, dlock_claim *claim)
{
    (void)state;
    claim->sent_ns += HOUR_MS * DLOCK_NS_PER_MS;
    return DLOCK_OK;
}

static dlock_status release(void *state, const dlock_claim *claim)
{
    (void)state;
    (void)claim;
    return DLOCK_OK;
}

TEST(a_lease_counts_from_the_instant_that_the_attempt_names)
{
    const dlock_variant *real = dlock_registry_find("owner");
    dlock_variant it = *real;
    dlock_options opts = dlock_options_default();
    int64_t begun_ns = dlock_clock_ns();
    dlock_system *sys;
    dlock_lease lease;

    it.open = open_nothing;
    it.close = close_nothing;
    it.era = NULL;
    it.try_acquire = grant_after_an_hour;
    it.release = release;
    opts.variant = "owner";
    dlock_registry_replace(&it);
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "name", 0, &lease));
    assert_true(lease.deadline_ns > begun_ns + HOUR_MS * DLOCK_NS_PER_MS);
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    dlock_close(sys);
    dlock_registry_replace(real);
}

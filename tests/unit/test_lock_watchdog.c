/* SPDX-License-Identifier: MIT */
/* test_lock_watchdog.c -- which holds the watchdog renews first, and how long each renewal may
 * wait.
 *
 * The store is a stand-in without servers: it grants every lock, and notes each renewal. The leases
 * are much longer than the test, so none ends. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/os/clock.h"
#include "lock/fault.h"
#include "lock/registry.h"
#include "lock/system.h"
#include "lock/watchdog.h"
#include "tests/registered.h"

#define FIRST "held back"

enum { LEASE_MS = 120 * 1000, SHARE_MIN_MS = 100, FEW = 40, MANY = 3000 };

/* A renewal of another hold than FIRST. */
struct renewal {
    char name[DLOCK_NAME_MAX + 1];
    int64_t sent_ns;
    int64_t give_up_ns;
};

static struct renewal renewals[FEW];
static atomic_size_t renewal_count; /* the watchdog's thread writes the entries before it */
static dlock_system *sys;
static dlock_lease leases[MANY];

static dlock_status open_store(const dlock_options *opts, void **out)
{
    (void)opts;
    *out = renewals;
    return DLOCK_OK;
}

static void close_store(void *store)
{
    (void)store;
}

static dlock_status grant(void *store, dlock_claim *claim)
{
    (void)store;
    (void)claim;
    return DLOCK_OK;
}

static dlock_status release(void *store, const dlock_claim *claim)
{
    (void)store;
    (void)claim;
    return DLOCK_OK;
}

static dlock_status note_renewal(void *store, const dlock_claim *claim)
{
    size_t count = atomic_load(&renewal_count);

    (void)store;
    if (strcmp(claim->name, FIRST) == 0)
        return DLOCK_OK;
    if (count == FEW)
        return DLOCK_IO;
    renewals[count].sent_ns = dlock_clock_ns();
    renewals[count].give_up_ns = claim->give_up_ns;
    strcpy(renewals[count].name, claim->name);
    atomic_store(&renewal_count, count + 1);
    return DLOCK_IO;
}

static const dlock_variant stand_in = {
    .info =
        {
            .name = "lua",
            .store = "redis",
            .promises = "",
            .breaks = "",
            .source = "",
            .caps = DLOCK_CAP_EXPIRES | DLOCK_CAP_OWNED | DLOCK_CAP_RENEW,
        },
    .drift_per_mille = 1,
    .watched = true,
    .open = open_store,
    .close = close_store,
    .try_acquire = grant,
    .renew = note_renewal,
    .release = release,
};

static int open_system(void **state)
{
    dlock_options opts = dlock_options_default();

    (void)state;
    atomic_store(&renewal_count, 0);
    opts.variant = "lua";
    opts.lease_ms = LEASE_MS;
    opts.watchdog = true;
    dlock_registry_replace(&stand_in);
    dlock_fault_allow();
    return dlock_open(&sys, &opts) == DLOCK_OK ? 0 : 1;
}

static int close_system(void **state)
{
    (void)state;
    (void)dlock_fault_release(DLOCK_FAULT_WATCHDOG_TICK);
    dlock_close(sys);
    dlock_registry_replace(NULL);
    return 0;
}

#define wait_until(state)                                                              \
    do {                                                                               \
        while (!(state))                                                               \
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);                   \
    } while (0)

static struct dlock_hold *make_due(const dlock_lease *lease, int64_t renew_at_ns)
{
    struct dlock_hold *root = dlock_holds_find(sys->holds, lease->hold);

    assert_non_null(root);
    dlock_holds_retry_at(sys->holds, root, root->serial, renew_at_ns);
    return root;
}

/* Hold the watchdog back, so that its next reading of the table finds all that is due by then. */
static void hold_the_watchdog(void)
{
    dlock_fault_state fault;
    dlock_lease first;

    assert_true(dlock_fault_arm(DLOCK_FAULT_WATCHDOG_TICK, DLOCK_FAULT_HOLD, FIRST));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, FIRST, 0, &first));
    make_due(&first, 0);
    dlock_watchdog_expect(atomic_load(&sys->watchdog), 0);
    wait_until((dlock_fault_look(DLOCK_FAULT_WATCHDOG_TICK, &fault), fault.holding));
}

/* Acquire `count` locks whose renewals are due, that of the last lock for the longest time. */
static void acquire_due(int count)
{
    int64_t now_ns = dlock_clock_ns();
    char name[16];

    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%d", i);
        assert_int_equal(DLOCK_OK, dlock_acquire(sys, name, 0, &leases[i]));
        make_due(&leases[i], now_ns - i);
    }
}

static void let_the_watchdog_renew(size_t count)
{
    assert_true(dlock_fault_release(DLOCK_FAULT_WATCHDOG_TICK));
    wait_until(atomic_load(&renewal_count) >= count);
}

/* The time from the renewal to the deadline has a share for each hold, also for those that are
 * behind a full batch. The watchdog looked at the clock before the renewal did, so the renewal sees
 * even less than its share. */
TEST_WITH(open_system, close_system, a_renewal_leaves_each_hold_behind_it_an_equal_share)
{
    hold_the_watchdog();
    acquire_due(FEW);
    let_the_watchdog_renew(1);
    assert_true((renewals[0].give_up_ns - renewals[0].sent_ns) * FEW <=
                leases[0].deadline_ns - renewals[0].sent_ns);
}

TEST_WITH(open_system, close_system, a_share_is_long_enough_for_a_slow_store)
{
    int64_t longest_ns = 0;

    hold_the_watchdog();
    acquire_due(MANY);
    let_the_watchdog_renew(FEW);
    for (int i = 0; i < FEW; i++)
        if (renewals[i].give_up_ns - renewals[i].sent_ns > longest_ns)
            longest_ns = renewals[i].give_up_ns - renewals[i].sent_ns;
    assert_true(longest_ns > SHARE_MIN_MS * DLOCK_NS_PER_MS / 2);
}

TEST_WITH(open_system, close_system, what_has_been_due_longest_is_renewed_first)
{
    char name[16];

    hold_the_watchdog();
    acquire_due(FEW);
    let_the_watchdog_renew(FEW);
    for (int i = 0; i < FEW; i++) {
        snprintf(name, sizeof(name), "%d", FEW - 1 - i);
        assert_string_equal(name, renewals[i].name);
    }
}

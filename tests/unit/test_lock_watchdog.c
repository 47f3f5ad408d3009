/* SPDX-License-Identifier: MIT */
/* test_lock_watchdog.c -- which holds the watchdog renews together, which first, and how long each
 * renewal may wait.
 *
 * The store is a stand-in without servers: it grants every lock, and notes each renewal. The leases
 * are much longer than the test, so none ends. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"
#include "lock/dlock.h"
#include "lock/registry.h"
#include "lock/system.h"
#include "lock/watchdog.h"
#include "tests/registered.h"

#define HUNG "hung" /* the names of locks whose server does not answer begin with this */
#define FIRST "first"

enum {
    LEASE_MS = 120 * 1000,
    SHORT_MS = 20 * 1000,
    BRIEF_MS = 10 * 1000,
    FEW = 40,
    MANY = 3000,
    PLACES = 1024,
    LAST = 5, /* with a lease of SHORT_MS so many places have the shortest share */
};

struct renewal {
    char name[DLOCK_NAME_MAX + 1];
    int64_t sent_ns;
    int64_t give_up_ns;
};

static struct renewal renewals[FEW];
static atomic_size_t renewal_count; /* the watchdog's thread writes the entries before it */
static atomic_size_t begun_count;
static atomic_bool is_closing;
static int64_t last_give_up_ns[LAST]; /* of the renewals that took the last places */
static int lease_ms = LEASE_MS;
static size_t awaited_count;        /* a renewal ends when so many have begun */
static atomic_size_t together_count; /* claims of the last renew_all */
static _Atomic int64_t joint_give_up_ns; /* when the store's last renew_all is given up */
static bool awaits_loss; /* renew_all ends when a loss was told */
static atomic_size_t told_count;
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

static void sleep_a_moment(void)
{
    dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), 5));
}

static dlock_status note_renewal(void *store, const dlock_claim *claim)
{
    size_t count = atomic_load(&renewal_count), begun;

    (void)store;
    begun = atomic_fetch_add(&begun_count, 1);
    if (begun >= PLACES - LAST && begun < PLACES)
        last_give_up_ns[begun - (PLACES - LAST)] = claim->give_up_ns;
    if (strcmp(claim->name, FIRST) == 0)
        return DLOCK_OK;
    while (atomic_load(&begun_count) < awaited_count)
        sleep_a_moment();
    if (strncmp(claim->name, HUNG, strlen(HUNG)) == 0) {
        while (dlock_clock_ns() < claim->give_up_ns && !atomic_load(&is_closing))
            sleep_a_moment();
        return DLOCK_UNKNOWN;
    }
    if (count == FEW)
        return DLOCK_IO;
    renewals[count].sent_ns = dlock_clock_ns();
    renewals[count].give_up_ns = claim->give_up_ns;
    strcpy(renewals[count].name, claim->name);
    atomic_store(&renewal_count, count + 1);
    return DLOCK_IO;
}

static void note_all(void *store, const dlock_claim *claims, size_t count,
                     dlock_status *statuses)
{
    (void)store;
    while (awaits_loss && atomic_load(&told_count) == 0)
        sleep_a_moment();
    atomic_store(&joint_give_up_ns, claims[0].give_up_ns);
    for (size_t i = 0; i < count; i++)
        statuses[i] = i % 2 == 0 ? DLOCK_OK : DLOCK_LOST;
    atomic_store(&together_count, count);
    atomic_fetch_add(&begun_count, 1);
}

static dlock_variant stand_in = {
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

#define wait_until(state)                                                              \
    do {                                                                               \
        while (!(state))                                                               \
            sleep_a_moment();                                                          \
    } while (0)

static void make_due(const dlock_lease *lease, int64_t at_ns)
{
    struct dlock_hold *root = dlock_holds_find(sys->holds, lease->hold);

    assert_non_null(root);
    dlock_holds_retry_at(sys->holds, root, root->serial, at_ns);
}

/* Wait until the watchdog sleeps, since no other renewal is due. */
static void await_first_look(void)
{
    dlock_lease first;

    assert_int_equal(DLOCK_OK, dlock_acquire(sys, FIRST, 0, &first));
    make_due(&first, 0);
    dlock_watchdog_expect(atomic_load(&sys->watchdog), 0);
    wait_until(atomic_load(&begun_count) == 1);
    assert_int_equal(DLOCK_OK, dlock_release(sys, &first));
    atomic_store(&begun_count, 0);
    atomic_store(&together_count, 0);
}

static void note_loss(const dlock_lease *lease, void *arg)
{
    (void)lease;
    (void)arg;
    atomic_fetch_add(&told_count, 1);
}

static int open_system(void **state)
{
    dlock_options opts = dlock_options_default();

    (void)state;
    atomic_store(&renewal_count, 0);
    atomic_store(&begun_count, 0);
    atomic_store(&together_count, 0);
    atomic_store(&is_closing, false);
    awaited_count = 0;
    opts.variant = "lua";
    opts.lease_ms = lease_ms;
    opts.watchdog = true;
    opts.on_lost = note_loss;
    dlock_registry_replace(&stand_in);
    if (dlock_open(&sys, &opts) != DLOCK_OK)
        return 1;
    await_first_look();
    return 0;
}

static int close_system(void **state)
{
    (void)state;
    atomic_store(&is_closing, true);
    dlock_close(sys);
    dlock_registry_replace(NULL);
    stand_in.renew_all = NULL;
    lease_ms = LEASE_MS;
    return 0;
}

static int open_joint_system(void **state)
{
    stand_in.renew_all = note_all;
    return open_system(state);
}

static int open_short_system(void **state)
{
    lease_ms = SHORT_MS;
    return open_system(state);
}

/* Acquire `count` locks whose names begin with `name`. */
static void acquire(const char *name, int first, int count)
{
    char full[24];

    for (int i = first; i < first + count; i++) {
        snprintf(full, sizeof(full), "%s%d", name, i);
        assert_int_equal(DLOCK_OK, dlock_acquire(sys, full, 0, &leases[i]));
    }
}

/* Make the first `count` renewals due, that of the last lock for the longest time. */
static void make_all_due(int count)
{
    int64_t now_ns = dlock_clock_ns();

    for (int i = 0; i < count; i++)
        make_due(&leases[i], now_ns - i);
    dlock_watchdog_expect(atomic_load(&sys->watchdog), 0);
}

/* No renewal ends before the last has begun. */
TEST_WITH(open_system, close_system, renewals_that_are_due_are_under_way_together)
{
    awaited_count = FEW;
    acquire("", 0, FEW);
    make_all_due(FEW);
    wait_until(atomic_load(&renewal_count) == FEW);
}

TEST_WITH(open_joint_system, close_system, a_store_that_can_renews_what_is_due_by_one_call)
{
    dlock_metrics metrics;

    acquire("", 0, FEW);
    make_all_due(FEW);
    wait_until(atomic_load(&together_count) > 0);
    assert_int_equal(FEW, atomic_load(&together_count));
    wait_until((dlock_metrics_read(sys, &metrics), metrics.lost) == FEW / 2);
}

/* More renewals hang than may be under way. */
TEST_WITH(open_system, close_system, a_hung_server_does_not_keep_the_places_of_others)
{
    acquire("", 0, FEW);
    acquire(HUNG, FEW, PLACES + PLACES / 8);
    make_all_due(FEW + PLACES + PLACES / 8);
    wait_until(atomic_load(&renewal_count) == FEW);
}

/* The shares of the last places are all the shortest share, so a renewal that is sent later is
 * given up later. */
TEST_WITH(open_short_system, close_system, a_share_is_long_enough_for_a_slow_store)
{
    awaited_count = PLACES;
    acquire("", 0, PLACES);
    make_all_due(PLACES);
    wait_until(atomic_load(&begun_count) >= PLACES);
    for (int i = 1; i < LAST; i++)
        assert_true(last_give_up_ns[i] >= last_give_up_ns[i - 1]);
}

/* The locks of one thread are in one shard of the table. */
TEST_WITH(open_system, close_system, what_has_been_due_longest_is_renewed_first)
{
    char name[16];

    acquire("", 0, FEW);
    make_all_due(FEW);
    wait_until(atomic_load(&renewal_count) == FEW);
    for (int i = 0; i < FEW; i++) {
        snprintf(name, sizeof(name), "%d", FEW - 1 - i);
        assert_string_equal(name, renewals[i].name);
    }
}

/* The store's call ends when that lease has run out, and answers in time for all others. */
TEST_WITH(open_joint_system, close_system, a_short_lease_ends_no_renewal_of_others)
{
    dlock_request brief = {.lease_ms = BRIEF_MS};
    dlock_lease lease;

    acquire("", 0, FEW);
    assert_int_equal(DLOCK_OK, dlock_acquire_with(sys, "brief", &brief, &lease));
    make_all_due(FEW);
    wait_until(atomic_load(&together_count) > 0);
    assert_true(atomic_load(&joint_give_up_ns) > lease.deadline_ns);
}

TEST_WITH(open_joint_system, close_system, a_loss_is_told_while_the_store_does_not_answer)
{
    dlock_request brief = {.lease_ms = DLOCK_LEASE_MIN_MS};
    dlock_lease lease;

    awaits_loss = true;
    acquire("", 0, FEW);
    make_all_due(FEW);
    assert_int_equal(DLOCK_OK, dlock_acquire_with(sys, "brief", &brief, &lease));
    wait_until(atomic_load(&together_count) > 0);
}

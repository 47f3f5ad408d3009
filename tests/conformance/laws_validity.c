/* SPDX-License-Identifier: MIT */
/* laws_validity.c -- the end of a lease by the holder's clock, and in the store. */
#include <stdlib.h>

#include "base/os/clock.h"
#include "tests/conformance/database.h"
#include "tests/conformance/laws.h"

/* The lease is no whole number of seconds, so that rounding to seconds shows. */
enum { ODD_LEASE_MS = 7777, LEVELS = 3, S_IN_MS = 1000 };

/* A lease so long that its room for drift, at least a thousandth of the lease, is longer than an
 * acquire on a busy machine. */
enum { LONG_LEASE_MS = 1000 * 1000, DRIFT_MS = LONG_LEASE_MS / 1000 };

static bool is_in_postgres(const char *variant)
{
    return dlock_variant_find(variant)->store[0] == 'p';
}

/* etcd counts a lease in whole seconds, and answers the whole seconds that are left. */
static bool is_in_etcd(const char *variant)
{
    return dlock_variant_find(variant)->store[0] == 'e';
}

static int longest_first(const void *a, const void *b)
{
    const long long left = *(const long long *)a, right = *(const long long *)b;

    return (left < right) - (left > right);
}

/* The ms for which the servers that a grant needs still hold the lock: a majority of the servers
 * for redlock, whose slow server may not have granted; all servers for the others. */
static long long servers_left_ms(const char *variant, const char *name)
{
    long long left_ms[SERVERS_MAX] = {0};
    const size_t n = servers_found();

    assert_in_range(n, 1, SERVERS_MAX);
    for (size_t i = 0; i < n; i++)
        left_ms[i] = servers_ask(i, "PTTL %s", name);
    qsort(left_ms, n, sizeof(left_ms[0]), longest_first);
    return left_ms[rig_is(variant, "redlock") ? n / 2 : n - 1];
}

/* The ms for which the store still holds the lock. */
static long long store_left_ms(const char *variant, dlock_system *sys, const char *name)
{
    dlock_info info;

    if (is_in_etcd(variant)) {
        assert_status(OK, dlock_inspect(sys, name, &info));
        return info.left_ms;
    }
    if (is_in_postgres(variant))
        return database_ask(
            "SELECT max((extract(epoch FROM expires_at - clock_timestamp())"
            " * 1000)::bigint) FROM (SELECT name, expires_at FROM dlock_lock"
            " UNION ALL SELECT name, expires_at FROM dlock_queue) AS held"
            " WHERE name = $1",
            name);
    if (rig_is(variant, "getset"))
        return strtoll(servers_tell(0, "GET %s", name)->str, NULL, 10) -
               dlock_clock_wall_ms();
    return servers_left_ms(variant, name);
}

/* The store is asked before the holder's clock is read, so that the time between the two makes the
 * check stricter. */
static void assert_ends_first(const char *variant, dlock_system *sys,
                              const dlock_lease *lease)
{
    int64_t asked_ms = rig_now_ms();
    long long store_ms = store_left_ms(variant, sys, lease->name);
    int64_t left_ms = dlock_lease_left_ms(sys, lease);
    int64_t longer_ms = is_in_etcd(variant) ? S_IN_MS : 0; /* half a second more, rounded up */
    int64_t untold_ms = is_in_etcd(variant) ? S_IN_MS : 0;

    assert_true(left_ms <= ODD_LEASE_MS);
    assert_provided(rig_now_ms() - asked_ms < ODD_LEASE_MS / 2, left_ms > 0);
    if (store_ms > ODD_LEASE_MS + longer_ms || store_ms + untold_ms < left_ms)
        fail_msg("%lld ms in the store, %lld ms for the holder", store_ms,
                 (long long)left_ms);
}

static dlock_options odd_options(const char *variant)
{
    dlock_options opts = rig_options(variant);

    opts.lease_ms = ODD_LEASE_MS;
    if (!is_in_postgres(variant) && !is_in_etcd(variant))
        servers_find(&opts);
    return opts;
}

/* The holder's lease leaves room for a clock of the store that is a thousandth faster. */
static void leaves_room_for_drift(const char *variant)
{
    dlock_options opts = odd_options(variant);
    int64_t untold_ms = is_in_etcd(variant) ? S_IN_MS : 0;
    long long store_ms;
    dlock_system *sys;
    dlock_lease lease;
    int64_t left_ms;

    opts.lease_ms = LONG_LEASE_MS;
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, rig_name(), 0, &lease));
    store_ms = store_left_ms(variant, sys, lease.name);
    left_ms = dlock_lease_left_ms(sys, &lease);
    assert_status(OK, dlock_release(sys, &lease));
    if (store_ms + untold_ms < left_ms + DRIFT_MS)
        fail_msg("%lld ms in the store, %lld ms for the holder", store_ms,
                 (long long)left_ms);
}

void ends_for_its_holder_first(const char *variant)
{
    dlock_options opts = odd_options(variant);
    dlock_system *sys = rig_open(&opts);
    dlock_lease lease;

    leaves_room_for_drift(variant);
    assert_status(OK, dlock_acquire(sys, rig_name(), 0, &lease));
    assert_ends_first(variant, sys, &lease);
    if (rig_caps(variant) & DLOCK_CAP_RENEW) {
        assert_status(OK, dlock_renew(sys, &lease));
        assert_ends_first(variant, sys, &lease);
    }
    assert_status(OK, dlock_release(sys, &lease));
}

/* Inner levels are acquired and released, and never shorten the holder's lease. */
void inner_levels_keep_the_lease(const char *variant)
{
    dlock_options opts = odd_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    dlock_lease lease[LEVELS];

    for (int i = 0; i < LEVELS; i++) {
        assert_status(OK, dlock_acquire(sys, name, 0, &lease[i]));
        assert_ends_first(variant, sys, &lease[0]);
    }
    for (int i = LEVELS - 1; i > 0; i--) {
        assert_status(OK, dlock_release(sys, &lease[i]));
        assert_ends_first(variant, sys, &lease[0]);
    }
    assert_status(OK, dlock_release(sys, &lease[0]));
}

/* The lock is granted after many attempts, and not with the first. */
void a_lock_won_by_waiting_has_its_lease(const char *variant)
{
    dlock_options opts = odd_options(variant);
    dlock_system *patient = rig_open(&opts);
    const char *name = rig_name();
    dlock_lease before;
    dlock_lease lease;

    opts.lease_ms = SHORT_LEASE_MS;
    rig_acquire_short(rig_open(&opts), name, NULL, SHORT_LEASE_MS, &before);
    assert_status(OK, dlock_acquire(patient, name, PATIENCE_MS, &lease));
    assert_ends_first(variant, patient, &lease);
    assert_status(OK, dlock_release(patient, &lease));
}

/* A system that is closed releases no lock, and keeps none for longer than its lease. */
void a_closed_system_keeps_its_promise(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_system *closed = NULL;
    dlock_system *sys;
    dlock_lease lease;
    dlock_status st;
    int64_t until_ms;

    sys = rig_open(&opts);
    opts.lease_ms = 2 * SHORT_LEASE_MS;
    opts.watchdog = true;
    assert_status(OK, dlock_open(&closed, &opts));
    until_ms = rig_now_ms() + SHORT_LEASE_MS * 3 / 2;
    st = dlock_acquire(closed, name, 0, &lease);
    dlock_close(closed);
    assert_status_provided(lasts_until(until_ms), OK, st);
    assert_status_provided(lasts_until(until_ms), BUSY, rig_try(sys, name));
    assert_status(OK, dlock_acquire(sys, name, PATIENCE_MS, &lease));
    assert_status(OK, dlock_release(sys, &lease));
}

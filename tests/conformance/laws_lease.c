/* SPDX-License-Identifier: MIT */
/* laws_lease.c -- how long a lease lasts, by which clock, and how a caller prolongs it. */
#include "lock/options.h"
#include "lock/process.h"
#include "tests/conformance/laws.h"

void expires(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair;
    const char *name = rig_name();
    dlock_lease first;
    dlock_lease second;

    pair.b = rig_open(&opts);
    opts.lease_ms = SHORT_LEASE_MS;
    pair.a = rig_open(&opts);
    rig_acquire_short(pair.a, name, NULL, SHORT_LEASE_MS, &first);
    assert_true(dlock_lease_left_ms(pair.a, &first) <= SHORT_LEASE_MS);
    assert_while_valid(pair.a, &first, rig_try(pair.b, name) == DLOCK_BUSY);
    assert_status(OK, dlock_acquire(pair.b, name, PATIENCE_MS, &second));
    /* The former holder knew of the end before another owner could enter. */
    assert_false(dlock_lease_valid(pair.a, &first));
    assert_int_equal(0, dlock_lease_left_ms(pair.a, &first));
    assert_status(OK, dlock_release(pair.b, &second));
}

void never_expires(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys;
    dlock_lease lease;

    opts.lease_ms = DLOCK_LEASE_MIN_MS;
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, rig_name(), 0, &lease));
    assert_true(lease.deadline_ns == INT64_MAX);
    assert_true(dlock_lease_left_ms(sys, &lease) == INT64_MAX);
    assert_stays(dlock_lease_valid(sys, &lease), 3 * DLOCK_LEASE_MIN_MS);
    assert_status(OK, dlock_release(sys, &lease));
}

/* The lease has the length of the options, or the variant's own maximum. */
void takes_its_lease(const char *variant)
{
    enum { LONG_MS = 60000, LIMIT_MS = 100 };
    bool is_limited = rig_is(variant, "lua-local");
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_system *sys;
    dlock_lease lease;

    opts.lease_ms = LONG_MS;
    dlock_options_lift_limits(false);
    sys = rig_open(&opts);
    dlock_options_lift_limits(true);
    servers_find(&opts);
    rig_acquire_short(sys, name, NULL, is_limited ? LIMIT_MS : LONG_MS, &lease);
    assert_true(dlock_lease_left_ms(sys, &lease) <= (is_limited ? LIMIT_MS : LONG_MS));
    if (is_limited) {
        assert_true(servers_ask(0, "PTTL %s", name) <= LIMIT_MS);
        assert_comes(!dlock_lease_valid(sys, &lease));
        return;
    }
    assert_true(dlock_lease_left_ms(sys, &lease) > LONG_MS / 2);
    assert_status(OK, dlock_release(sys, &lease));
}

/* The smallest PTTL of the name on the servers found. */
static long long least_pttl(size_t server_count, const char *name)
{
    long long least = servers_ask(0, "PTTL %s", name);

    for (size_t i = 1; i < server_count; i++) {
        long long pttl = servers_ask(i, "PTTL %s", name);

        if (pttl < least)
            least = pttl;
    }
    return least;
}

void renews_by_setting(const char *variant)
{
    enum { LEASE_MS = 60000 };
    int less_ms = STRETCHED(100);
    dlock_options opts = rig_options(variant);
    int64_t asked_ms;
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease lease;
    dlock_lease others;
    int64_t granted_ns;
    size_t count;

    opts.lease_ms = LEASE_MS;
    pair = rig_open_pair(&opts);
    count = servers_find(&opts);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    granted_ns = lease.deadline_ns;
    assert_comes(least_pttl(count, name) < LEASE_MS - less_ms);
    asked_ms = rig_now_ms();
    assert_status(OK, dlock_renew(pair.a, &lease));
    assert_true(lease.deadline_ns > granted_ns);
    assert_provided(lasts_until(asked_ms + less_ms),
                    least_pttl(count, name) >= LEASE_MS - less_ms);
    assert_status(OK, dlock_renew(pair.a, &lease));
    assert_true(least_pttl(count, name) <= LEASE_MS);
    assert_true(dlock_lease_left_ms(pair.a, &lease) <= LEASE_MS);
    assert_status(BUSY, rig_try(pair.b, name));
    for (size_t i = 0; i < count; i++)
        servers_ask(i, "DEL %s", name);
    /* A late renewal does not prolong the lease of the next holder. */
    assert_status(OK, dlock_acquire(pair.b, name, 0, &others));
    assert_comes(least_pttl(count, name) < LEASE_MS - less_ms);
    assert_status(LOST, dlock_renew(pair.a, &lease));
    assert_false(dlock_lease_valid(pair.a, &lease));
    assert_true(least_pttl(count, name) < LEASE_MS - less_ms);
    assert_status(OK, dlock_release(pair.b, &others));
    assert_status(LOST, dlock_renew(pair.a, &lease));
    assert_int_equal(0, servers_count_keys(name));
    assert_status(LOST, dlock_release(pair.a, &lease));
}

void cannot_renew(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    dlock_lease lease;

    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    assert_status(UNSUPPORTED, dlock_renew(sys, &lease));
    assert_string_not_equal("", dlock_error());
    assert_true(dlock_lease_valid(sys, &lease));
    assert_status(OK, dlock_release(sys, &lease));
}

/* The value of the lock names no owner, so the client's clock alone decides whether its lease has
 * ended. */
void breaks_by_a_clients_clock(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease first;
    dlock_lease second;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &first));
    assert_status(BUSY, rig_try(pair.b, name));
    dlock_process_shift_wall(2 * opts.lease_ms); /* the clock of `b` is ahead */
    assert_status(OK, dlock_acquire(pair.b, name, 0, &second));
    assert_true(dlock_lease_valid(pair.a, &first));
    /* The clock of `a` is not ahead: `a` frees the lock of `b`, and a third owner enters. */
    dlock_process_shift_wall(0);
    assert_status(OK, dlock_release(pair.a, &first));
    assert_true(dlock_lease_valid(pair.b, &second));
    assert_status(OK, rig_try_elsewhere(pair.a, name));
    assert_status(LOST, dlock_release(pair.b, &second));
}

void does_not_ask_the_wall_clock(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    dlock_process_shift_wall(2 * opts.lease_ms);
    assert_status(BUSY, rig_try(pair.b, name));
    assert_true(dlock_lease_valid(pair.a, &lease));
    dlock_process_shift_wall(-2 * opts.lease_ms);
    assert_status(BUSY, rig_try(pair.b, name));
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, rig_try(pair.b, name));
}

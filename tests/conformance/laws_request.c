/* SPDX-License-Identifier: MIT */
/* laws_request.c -- options of an acquire: a lease of its own, and reading. */
#include <string.h>

#include "tests/conformance/laws.h"

enum { LONG_LEASE_MS = 60000, WAIT_MS = 60 };

/* The system has a watchdog and a long lease; the request has a lease of its own. */
void an_explicit_lease_is_its_own(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_request request = {.lease_ms = SHORT_LEASE_MS};
    const char *name = rig_name();
    dlock_system *sys;
    dlock_system *other;
    dlock_lease lease;
    int64_t until_ms;

    opts.watchdog = true;
    opts.lease_ms = LONG_LEASE_MS;
    sys = rig_open(&opts);
    other = rig_open(&opts);
    until_ms = rig_acquire_short(sys, name, &request, SHORT_LEASE_MS, &lease);
    assert_true(dlock_lease_left_ms(sys, &lease) <= SHORT_LEASE_MS);
    if (rig_caps(variant) & DLOCK_CAP_RENEW) {
        assert_status_provided(lasts_until(until_ms), OK, dlock_renew(sys, &lease));
        assert_true(dlock_lease_left_ms(sys, &lease) <= SHORT_LEASE_MS);
    }
    assert_while_valid(sys, &lease, rig_try(other, name) == DLOCK_BUSY);
    assert_comes(!dlock_lease_valid(sys, &lease));
    assert_comes(rig_try(other, name) == DLOCK_OK);
    (void)dlock_release(sys, &lease);
    /* The next request without a lease has the lease of the system. */
    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    assert_true(dlock_lease_left_ms(sys, &lease) > SHORT_LEASE_MS);
    assert_status(OK, dlock_release(sys, &lease));
}

void has_no_lease_to_give(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    dlock_lease lease;

    assert_status(UNSUPPORTED,
                  dlock_try_lock_for(sys, rig_name(), 0, LONG_LEASE_MS, &lease));
    assert_non_null(strstr(dlock_error(), variant));
}

void an_inner_level_never_shortens(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease outer;
    dlock_lease inner;

    opts.lease_ms = LONG_LEASE_MS;
    pair = rig_open_pair(&opts);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &outer));
    assert_status(OK, dlock_try_lock_for(pair.a, name, 0, SHORT_LEASE_MS, &inner));
    assert_true(dlock_lease_left_ms(pair.a, &outer) > SHORT_LEASE_MS);
    assert_stays(rig_try(pair.b, name) == DLOCK_BUSY, 2 * SHORT_LEASE_MS);
    assert_status(OK, dlock_release(pair.a, &inner));
    assert_status(OK, dlock_release(pair.a, &outer));
}

void is_renewed_while_a_level_wants_it(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_request request = {.lease_ms = KEPT_LEASE_MS};
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease outer;
    dlock_lease inner;

    opts.watchdog = true;
    opts.lease_ms = KEPT_LEASE_MS;
    pair = rig_open_pair(&opts);
    premise_watch_pace();
    rig_acquire_short(pair.a, name, &request, KEPT_LEASE_MS, &outer);
    rig_acquire_short(pair.a, name, NULL, KEPT_LEASE_MS, &inner);
    assert_stays_provided(is_steady(KEPT_LEASE_MS), rig_try(pair.b, name) == DLOCK_BUSY,
                          KEPT_LEASE_MS + SHORT_LEASE_MS);
    assert_provided(is_steady(KEPT_LEASE_MS), dlock_lease_valid(pair.a, &outer));
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK,
                           dlock_release(pair.a, &inner));
    assert_comes(!dlock_lease_valid(pair.a, &outer));
    assert_comes(rig_try(pair.b, name) == DLOCK_OK);
    (void)dlock_release(pair.a, &outer);
}

void refuses_bad_requests(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    dlock_request request = {.lease_ms = DLOCK_LEASE_MIN_MS - 1};
    const char *name = rig_name();
    dlock_lease lease = {.fence = 77};

    assert_status(INVALID, dlock_acquire_with(sys, name, &request, &lease));
    request.lease_ms = -1;
    assert_status(INVALID, dlock_acquire_with(sys, name, &request, &lease));
    assert_status(INVALID, dlock_acquire_with(sys, name, NULL, &lease));
    assert_int_equal(77, lease.fence);
    assert_status(OK, rig_try(sys, name));
}

void knows_no_readers(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    dlock_request request = {.shared = true};
    dlock_lease lease;

    assert_status(UNSUPPORTED, dlock_acquire_with(sys, rig_name(), &request, &lease));
    assert_non_null(strstr(dlock_error(), variant));
}

void has_the_three_calls(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    struct rig_helper *holder;
    struct rig_helper *waiter;
    dlock_lease lease;

    holder = rig_helper_start(pair.b, name, 0);
    assert_status(OK, rig_helper_acquired(holder));
    assert_status(BUSY, dlock_try_lock(pair.a, name, &lease));
    assert_status(TIMEOUT, dlock_try_lock_for(pair.a, name, WAIT_MS, 0, &lease));
    waiter = rig_helper_start(pair.b, name, -1); /* so that somebody waits */
    assert_status(OK, rig_helper_finish(holder));
    assert_status(OK, rig_helper_acquired(waiter));
    rig_helper_begin_release(waiter);
    assert_status(OK, dlock_lock(pair.a, name, &lease));
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, rig_helper_finish(waiter));
    assert_status(OK, dlock_try_lock(pair.a, name, &lease));
    assert_status(OK, dlock_release(pair.a, &lease));
}

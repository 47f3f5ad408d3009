/* SPDX-License-Identifier: MIT */
/* laws_fence.c -- the fence, a number by which a database can refuse the write of an earlier
 * holder. */
#include "base/os/clock.h"
#include "lock/process.h"
#include "tests/conformance/laws.h"

void fence_grows_with_every_holder(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease held[2];
    dlock_system *rested; /* with long leases, as pair.b has them */
    dlock_lease lease;
    uint64_t last = 0;

    rested = rig_open(&opts);
    pair.b = rig_open(&opts);
    opts.lease_ms = SHORT_LEASE_MS;
    pair.a = rig_open(&opts);
    for (int i = 0; i < 6; i++) {
        dlock_system *sys = i % 2 == 0 ? rested : pair.b;

        assert_status(OK, dlock_acquire(sys, name, 0, &lease));
        assert_true(lease.fence > last);
        last = lease.fence;
        if (rig_caps(variant) & DLOCK_CAP_RENEW)
            assert_status(OK, dlock_renew(sys, &lease));
        assert_status(BUSY, rig_try_elsewhere(sys, name)); /* a refused acquire draws no number */
        assert_int_equal(last, lease.fence);
        assert_status(OK, dlock_release(sys, &lease));
    }
    if (!(rig_caps(variant) & DLOCK_CAP_EXPIRES))
        return;
    /* The number also grows if the previous holder did not release, but its lease ended. */
    rig_acquire_short(pair.a, name, NULL, SHORT_LEASE_MS, &held[0]);
    if (!rig_is(variant, "etcd")) /* whose number grows with all of its writes */
        assert_true(held[0].fence == last + 1);
    assert_status(OK, dlock_acquire(pair.b, name, PATIENCE_MS, &held[1]));
    assert_true(held[1].fence > held[0].fence);
    assert_status(LOST, dlock_release(pair.a, &held[0]));
    assert_status(OK, dlock_release(pair.b, &held[1]));
}

/* This process has drawn numbers for other names before, so a counter of the process would be
 * ahead. */
void fence_grows_from_process_to_process(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    uint64_t last = 0;
    uint64_t theirs;
    dlock_lease lease;

    for (int i = 0; i < 3; i++) {
        assert_status(OK, dlock_acquire(sys, name, 0, &lease));
        assert_true(lease.fence > last);
        assert_status(OK, dlock_release(sys, &lease));
        theirs = fence_of_another_process(variant, name);
        assert_true(theirs > lease.fence);
        last = theirs;
    }
}

void fence_does_not_ask_the_wall_clock(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease first;
    dlock_lease second;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &first));
    assert_status(OK, dlock_release(pair.a, &first));
    dlock_process_shift_wall(-3600 * 1000); /* the clock of `b` is an hour behind */
    assert_status(OK, dlock_acquire(pair.b, name, 0, &second));
    assert_true(second.fence > first.fence);
    assert_status(OK, dlock_release(pair.b, &second));
}

void fence_stays_on_re_entry(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    dlock_lease outer;
    dlock_lease inner;

    assert_status(OK, dlock_acquire(sys, name, 0, &outer));
    assert_true(outer.fence > 0);
    assert_status(OK, dlock_acquire(sys, name, 0, &inner));
    assert_true(inner.fence == outer.fence);
    assert_status(OK, dlock_release(sys, &inner));
    assert_status(OK, dlock_release(sys, &outer));
    assert_status(OK, dlock_acquire(sys, name, 0, &inner));
    assert_true(inner.fence > outer.fence);
    assert_status(OK, dlock_release(sys, &inner));
}

void has_no_fence(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    dlock_lease lease = {.fence = 77};

    assert_status(OK, dlock_acquire(sys, rig_name(), 0, &lease));
    assert_int_equal(0, lease.fence);
    assert_status(OK, dlock_release(sys, &lease));
}

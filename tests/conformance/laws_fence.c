/* SPDX-License-Identifier: MIT */
/* laws_fence.c -- a number by which a store can tell a late holder from the present. */
#include "tests/conformance/laws.h"

void fence_grows_with_every_holder(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease held[2];
    dlock_lease lease;
    uint64_t last = 0;

    pair.b = rig_open(&opts);
    opts.lease_ms = SHORT_LEASE_MS;
    pair.a = rig_open(&opts);
    for (int i = 0; i < 6; i++) {
        dlock_system *sys = i % 2 == 0 ? pair.a : pair.b;

        assert_status(OK, dlock_acquire(sys, name, 0, &lease));
        assert_true(lease.fence > last);
        last = lease.fence;
        assert_status(OK, dlock_renew(sys, &lease));
        assert_status(BUSY, rig_try_elsewhere(sys, name)); /* which takes no number */
        assert_int_equal(last, lease.fence);
        assert_status(OK, dlock_release(sys, &lease));
    }
    /* Also when the holder before did not release, but was overtaken. */
    assert_status(OK, dlock_acquire(pair.a, name, 0, &held[0]));
    assert_true(held[0].fence == last + 1);
    assert_status(OK, dlock_acquire(pair.b, name, PATIENCE_MS, &held[1]));
    assert_true(held[1].fence > held[0].fence);
    assert_status(LOST, dlock_release(pair.a, &held[0]));
    assert_status(OK, dlock_release(pair.b, &held[1]));
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

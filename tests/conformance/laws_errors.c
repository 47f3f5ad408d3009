/* SPDX-License-Identifier: MIT */
/* laws_errors.c -- a store that answers with an error. */
#include "tests/conformance/laws.h"

enum { WAIT_MS = 300 };

static void refuse_writes(const char *variant, int replicas)
{
    for (size_t i = 0; i < (rig_uses_nodes(variant) ? SERVERS_MAX : 1); i++)
        servers_tell(i, "CONFIG SET min-replicas-to-write %d", replicas);
}

/* When the store refuses a write, the answer must be neither BUSY nor LOST. */
void an_error_is_no_answer(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_system *sys;
    dlock_lease lease;
    dlock_lease other;

    servers_start(&opts);
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    refuse_writes(variant, 1);
    assert_true(dlock_is_failure(dlock_acquire(sys, rig_name(), WAIT_MS, &other)));
    assert_string_not_equal("", dlock_error());
    if (rig_caps(variant) & DLOCK_CAP_RENEW) {
        /* The lease has to be a little shorter than a renewed one, so that the store has something
         * to write. */
        assert_comes(servers_ask(0, "PTTL %s", name) < opts.lease_ms - 1);
        assert_true(dlock_is_failure(dlock_renew(sys, &lease)));
        assert_true(dlock_lease_valid(sys, &lease)); /* the earlier deadline still counts */
    }
    assert_true(dlock_is_failure(dlock_release(sys, &lease)));
    assert_string_not_equal("", dlock_error());
    refuse_writes(variant, 0);
    assert_true(servers_count_keys(name) > 0);
    /* The lock was not released, and its owner must not get it again as the same owner. */
    assert_status(BUSY, rig_try(sys, name));
    assert_status(OK, rig_try(sys, rig_name()));
}

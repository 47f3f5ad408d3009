/* SPDX-License-Identifier: MIT */
/* laws_replicas.c -- a grant that replicas have to acknowledge, on a master with one replica. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lock/registry.h"
#include "tests/conformance/laws.h"
#include "tests/conformance/replica.h"

enum { TIMEOUT_MS = 1000, LONG_TIMEOUT_MS = 15000, WAITERS_MS = 20000 };

bool is_tried_with_a_replica(const char *variant)
{
    return rig_is(variant, "lua") || rig_is(variant, "reentrant");
}

/* Can the owner give a grant of the variant back? */
static bool can_be_acknowledged(const char *variant)
{
    return !rig_uses_nodes(variant) && !dlock_registry_find(variant)->blind_release;
}

void refuses_what_no_replica_can_acknowledge(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = NULL;

    opts.replicas_acknowledge = DLOCK_REPLICAS_LIMIT + 1;
    assert_status(INVALID, dlock_open(&sys, &opts));
    opts.replicas_acknowledge = -1;
    assert_status(INVALID, dlock_open(&sys, &opts));
    assert_non_null(strstr(dlock_error(), "from 0 to 5"));
    opts.replicas_acknowledge = 1;
    if (!can_be_acknowledged(variant)) {
        assert_status(INVALID, dlock_open(&sys, &opts));
        assert_non_null(strstr(dlock_error(), variant));
    }
}

static dlock_options begin(const char *variant)
{
    dlock_options opts = rig_options(variant);

    servers_start(&opts);
    opts.redis_timeout_ms = TIMEOUT_MS;
    opts.replicas_acknowledge = 1;
    replica_start();
    return opts;
}

static uint64_t unacknowledged(dlock_system *sys)
{
    dlock_metrics metrics;

    dlock_metrics_read(sys, &metrics);
    return metrics.unacknowledged;
}

void needs_its_replicas(const char *variant)
{
    const char *name = rig_name(), *other = rig_name(), *kept = rig_name();
    dlock_options opts = begin(variant);
    dlock_system *sys = rig_open(&opts);
    dlock_lease lease, kept_lease, waited;
    struct rig_helper *waiter;
    uint64_t before;

    assert_comes(dlock_acquire(sys, name, 0, &lease) == DLOCK_OK);
    assert_int_equal(1, replica_count_keys(name));
    assert_comes(dlock_renew(sys, &lease) == DLOCK_OK);
    assert_status(OK, dlock_release(sys, &lease));
    assert_comes(dlock_acquire(sys, kept, 0, &kept_lease) == DLOCK_OK);

    /* On a busy machine a replica may have been slower than a timeout before. */
    before = unacknowledged(sys);
    replica_signal(SIGSTOP);
    assert_status(UNKNOWN, dlock_acquire(sys, name, 0, &waited));
    assert_non_null(strstr(dlock_error(), "acknowledged by 0 of 1 replicas in "));
    assert_int_equal(0, servers_count_keys(name));
    assert_int_equal(before + 1, unacknowledged(sys));
    assert_status(UNKNOWN, dlock_renew(sys, &kept_lease));
    assert_true(dlock_lease_valid(sys, &kept_lease)); /* with its earlier deadline */
    assert_int_equal(before + 2, unacknowledged(sys));
    /* A refusal grants nothing, so it waits for no replica. */
    assert_status(BUSY, rig_try_elsewhere(sys, kept));
    assert_int_equal(before + 2, unacknowledged(sys));
    /* A waiter goes on waiting, and is granted the lock once the replica runs again. */
    waiter = rig_helper_start(sys, other, WAITERS_MS);
    assert_stays(!rig_helper_is_done(waiter), TIMEOUT_MS);
    replica_signal(SIGCONT);
    assert_status(OK, rig_helper_acquired(waiter));
    assert_int_equal(1, replica_count_keys(other));
    assert_status(OK, rig_helper_finish(waiter));
    assert_status(OK, dlock_release(sys, &kept_lease));
}

/* While one thread waits for replicas, other threads go on, because their requests use another
 * connection. */
void waiting_for_replicas_stops_nobody(const char *variant)
{
    const char *held = rig_name(), *late = rig_name();
    dlock_options opts = begin(variant);
    struct rig_helper *waiter;
    dlock_system *sys;
    dlock_lease lease;

    opts.redis_timeout_ms = LONG_TIMEOUT_MS;
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, held, 0, &lease));
    replica_signal(SIGSTOP);
    waiter = rig_helper_start(sys, late, 0);
    /* The server has granted it, and the thread waits for the replica. */
    assert_comes(servers_count_keys(late) == 1);
    assert_status(BUSY, rig_try_elsewhere(sys, held));
    assert_status(OK, dlock_release(sys, &lease));
    assert_false(rig_helper_is_done(waiter));
    replica_signal(SIGCONT);
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
}

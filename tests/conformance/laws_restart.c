/* SPDX-License-Identifier: MIT */
/* laws_restart.c -- the server of PostgreSQL or ZooKeeper is killed and started again while
 * a call waits for it. */
#include <string.h>

#include "tests/conformance/lab.h"
#include "tests/conformance/laws.h"

enum {
    WAIT_MS = 45000,
    AWAY_MS = 400,           /* long enough for several attempts */
    SHORT_TIMEOUT_MS = 1000, /* the timeout of one request */
};

/* PostgreSQL keeps rows through a restart, and no session; ZooKeeper keeps its sessions. */
static bool dies_with_its_server(const char *variant)
{
    return (rig_caps(variant) & DLOCK_CAP_SESSION) &&
           strcmp(dlock_variant_find(variant)->store, "postgresql") == 0;
}

void a_waiter_outlives_a_restart(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_helper *waiter;
    struct rig_pair pair;
    dlock_lease lease;
    bool has_lasted;

    lab_use(&opts);
    pair = rig_open_pair(&opts);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    waiter = rig_helper_start(pair.b, name, WAIT_MS);
    rig_let_wait(pair.a, name, AWAY_MS / 4);
    lab_kill();
    assert_stays(!rig_helper_is_done(waiter), AWAY_MS);
    lab_restart();
    assert_comes(dlock_check(pair.a) == DLOCK_OK); /* the session has a connection again */
    /* On a loaded machine the restart may take longer than the lease, or longer than the
     * session. */
    has_lasted = dlock_lease_valid(pair.a, &lease);
    if (dies_with_its_server(variant))
        assert_status(LOST, dlock_release(pair.a, &lease));
    else
        assert_status_provided(has_lasted, OK, dlock_release(pair.a, &lease));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(BUSY, rig_try(pair.a, name));
    assert_status(OK, rig_helper_finish(waiter));
}

void a_wait_that_begins_without_a_server_is_granted(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_helper *waiter;
    struct rig_pair pair;

    lab_use(&opts);
    pair = rig_open_pair(&opts);
    lab_kill();
    waiter = rig_helper_start(pair.b, name, WAIT_MS);
    assert_stays(!rig_helper_is_done(waiter), AWAY_MS);
    lab_restart();
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
}

/* The first answer to an attempt that is not IO. */
static dlock_status try_connected(dlock_system *sys, const char *name)
{
    dlock_status st = DLOCK_IO;

    assert_comes((st = rig_try(sys, name)) != DLOCK_IO);
    return st;
}

/* A release was answered `st`, and now the server runs again. Unless the lock was released, a lock
 * with a lease is held until the lease ends. A lock of a session is freed as soon as there is a
 * connection. */
static void assert_was_true(const char *variant, dlock_status st, dlock_system *other,
                            const char *name, int64_t lease_end_ms)
{
    bool has_lease = rig_caps(variant) & DLOCK_CAP_EXPIRES;

    if (st != DLOCK_LOST && st != DLOCK_IO && st != DLOCK_UNKNOWN)
        assert_status(OK, st);
    /* `other` has to connect again, too, and each attempt answers IO until then. */
    if (st == DLOCK_OK || (has_lease && st == DLOCK_LOST))
        assert_status(OK, try_connected(other, name));
    else if (has_lease && st == DLOCK_IO)
        assert_status_provided(lasts_until(lease_end_ms), BUSY,
                               try_connected(other, name));
    else if (!has_lease)
        assert_comes(rig_try(other, name) == DLOCK_OK);
}

/* A thread holds a lock of pair->b, and the server of the lock is killed. */
static struct rig_helper *hold_and_kill(const char *variant, const char *name,
                                        int timeout_ms, struct rig_pair *pair,
                                        int64_t *lease_end_ms)
{
    dlock_options opts = rig_options(variant);
    struct rig_helper *holder;

    opts.database_timeout_ms = opts.zookeeper_timeout_ms = timeout_ms;
    opts.etcd_timeout_ms = timeout_ms;
    lab_use(&opts);
    *pair = rig_open_pair(&opts);
    *lease_end_ms = rig_now_ms() + opts.lease_ms;
    holder = rig_helper_start(pair->b, name, PATIENCE_MS);
    assert_status(OK, rig_helper_acquired(holder));
    lab_kill();
    return holder;
}

void a_release_outlives_a_restart(const char *variant)
{
    const char *name = rig_name();
    struct rig_helper *holder;
    struct rig_pair pair;
    int64_t lease_end_ms;

    holder = hold_and_kill(variant, name, rig_options(variant).database_timeout_ms, &pair,
                           &lease_end_ms);
    rig_helper_begin_release(holder);
    lab_restart();
    assert_comes(rig_helper_has_released(holder));
    assert_was_true(variant, rig_helper_finish(holder), pair.a, name, lease_end_ms);
}

void a_release_without_a_server_ends(const char *variant)
{
    const char *name = rig_name();
    struct rig_helper *holder;
    struct rig_pair pair;
    int64_t lease_end_ms;
    dlock_status st;

    holder = hold_and_kill(variant, name, SHORT_TIMEOUT_MS, &pair, &lease_end_ms);
    rig_helper_begin_release(holder);
    assert_comes(rig_helper_has_released(holder));
    st = rig_helper_finish(holder);
    assert_int_not_equal(DLOCK_OK, st);
    lab_restart();
    assert_was_true(variant, st, pair.a, name, lease_end_ms);
}

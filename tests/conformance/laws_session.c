/* SPDX-License-Identifier: MIT */
/* laws_session.c -- locks that live with a connection to PostgreSQL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/conformance/database.h"
#include "tests/conformance/laws.h"

static struct {
    atomic_int count;
    char name[DLOCK_NAME_MAX + 1];
} told;

static void tell(const dlock_lease *lease, void *arg)
{
    (void)arg;
    strcpy(told.name, lease->name);
    atomic_fetch_add(&told.count, 1);
}

/* The backend whose session started last among those that hold a lock. */
static int holding_backend(void)
{
    char sql[300];

    snprintf(sql, sizeof(sql),
             "SELECT pid FROM pg_stat_activity WHERE application_name = 'dlock-%d'"
             " AND pid IN (SELECT pid FROM pg_locks WHERE granted AND (locktype ="
             " 'advisory' OR relation = 'dlock_row'::regclass))"
             " ORDER BY backend_start DESC LIMIT 1",
             (int)getpid());
    return (int)database_ask(sql, NULL);
}

void ends_with_its_connection(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    const char *other_name = rig_name();
    struct rig_pair pair;
    char sql[80];
    dlock_lease other;
    dlock_lease lease;

    atomic_store(&told.count, 0);
    opts.on_lost = tell;
    pair = rig_open_pair(&opts);
    assert_status(OK, dlock_acquire(pair.a, other_name, 0, &other));
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_stays(dlock_lease_valid(pair.a, &lease), 3 * 100); /* a few looks at it */
    snprintf(sql, sizeof(sql), "SELECT pg_terminate_backend(%d, 5000)",
             holding_backend());
    assert_string_equal("t", database_tell(sql, NULL));
    assert_status(OK, rig_try(pair.b, name));
    assert_comes(!dlock_lease_valid(pair.a, &lease));
    assert_comes(atomic_load(&told.count) == 1);
    assert_string_equal(name, told.name);
    assert_status(LOST, dlock_release(pair.a, &lease));
    assert_true(dlock_lease_valid(pair.a, &other));
    assert_status(BUSY, rig_try(pair.b, other_name));
    assert_status(OK, dlock_release(pair.a, &other));
    assert_stays(atomic_load(&told.count) == 1, 3 * 100);
    assert_status(OK, rig_try(pair.a, name));
}

/* The test stops a backend that was told to end, so the backend ends late, as on a loaded
 * machine. */
void forcing_a_session_that_stays_is_unknown(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    database_stop_backend(holding_backend());
    assert_status(UNKNOWN, dlock_force_release(pair.b, name));
    database_wake();
    assert_comes(rig_try(pair.b, name) == DLOCK_OK);
    assert_status(LOST, dlock_release(pair.a, &lease));
}

/* Session locks are re-entrant within a session, so two holds must not share one; and
 * each connection comes back with its release. */
void keeps_a_connection_of_its_own(const char *variant)
{
    enum { HOLDS = 5 };
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    dlock_lease leases[HOLDS];
    const char *names[HOLDS];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < HOLDS; i++) {
            names[i] = rig_name();
            assert_status(OK, dlock_acquire(sys, names[i], 0, &leases[i]));
            assert_status(BUSY, rig_try(sys, names[i]));
            assert_status(BUSY, rig_try_elsewhere(sys, names[i]));
        }
        assert_int_equal(HOLDS,
                         database_count_backends(
                             "pid IN (SELECT pid FROM pg_locks WHERE granted AND"
                             " (locktype = 'advisory' OR relation ="
                             " 'dlock_row'::regclass))"));
        for (int i = 0; i < HOLDS; i++)
            assert_status(OK, dlock_release(sys, &leases[i]));
        assert_true(database_count_backends("true") <= HOLDS + 2);
    }
    assert_int_equal(0, database_count_backends("state LIKE 'idle in transaction%'"));
}

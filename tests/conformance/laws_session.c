/* SPDX-License-Identifier: MIT */
/* laws_session.c -- locks that live with a session of their store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/registry.h"
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

/* The backend with the newest session among those that hold a lock. */
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

static void end_backend(int pid)
{
    char sql[80];

    snprintf(sql, sizeof(sql), "SELECT pg_terminate_backend(%d, 5000)", pid);
    assert_string_equal("t", database_tell(sql, NULL));
}

/* The backend of a waiter is stopped. The lock is released, so that the store grants it to the
 * waiter, and the time of the wait passes before the backend goes on: it then answers that the wait
 * has timed out, and its session has the lock. */
void a_grant_at_its_end_leaves_no_lock(const char *variant)
{
    static const char WAITING[] = "wait_event_type = 'Lock'";
    int wait_ms = STRETCHED(400);
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    struct rig_helper *waiter;
    int64_t asked_ms;
    dlock_lease lease;
    char sql[160];
    int pid;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    asked_ms = rig_now_ms();
    waiter = rig_helper_start(pair.b, name, wait_ms);
    while (database_count_backends(WAITING) == 0)
        presume(lasts_until(asked_ms + wait_ms));
    snprintf(sql, sizeof(sql),
             "SELECT pid FROM pg_stat_activity WHERE application_name = 'dlock-%d' AND %s",
             (int)getpid(), WAITING);
    pid = (int)database_ask(sql, NULL);
    presume(pid > 1);
    database_stop_backend(pid);
    presume(database_count_backends(WAITING) == 1);
    rig_helper_begin_release(waiter);
    assert_status(OK, dlock_release(pair.a, &lease));
    rig_pause_ms(wait_ms + LOOK_LEAST_MS);
    database_wake();
    if (rig_helper_acquired(waiter) == DLOCK_OK)
        assert_status(OK, rig_helper_finish(waiter));
    assert_status(OK, rig_try(pair.a, name));
}

void ends_with_its_connection(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    const char *other_name = rig_name();
    struct rig_pair pair;
    dlock_lease other;
    dlock_lease lease;

    atomic_store(&told.count, 0);
    opts.on_lost = tell;
    pair = rig_open_pair(&opts);
    assert_status(OK, dlock_acquire(pair.a, other_name, 0, &other));
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_stays(dlock_lease_valid(pair.a, &lease), 3 * 100); /* for several looks at the session */
    end_backend(holding_backend());
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

/* The ended session is that of the last of many holds. No call asks whether any of them is
 * valid. */
void is_told_of_one_end_among_many(const char *variant)
{
    enum { HOLDS = 40 }; /* more than the watchdog checks between two looks at its table */
    dlock_options opts = rig_options(variant);
    const char *base = rig_name();
    dlock_lease leases[HOLDS];
    dlock_system *sys;
    char name[80];

    atomic_store(&told.count, 0);
    opts.on_lost = tell;
    sys = rig_open(&opts);
    for (int i = 0; i < HOLDS; i++) {
        snprintf(name, sizeof(name), "%s:%d", base, i);
        assert_status(OK, dlock_acquire(sys, name, 0, &leases[i]));
    }
    end_backend(holding_backend());
    assert_comes(atomic_load(&told.count) == 1);
    assert_string_equal(leases[HOLDS - 1].name, told.name);
    for (int i = 0; i < HOLDS - 1; i++)
        assert_status(OK, dlock_release(sys, &leases[i]));
    assert_status(LOST, dlock_release(sys, &leases[HOLDS - 1]));
    assert_int_equal(1, atomic_load(&told.count));
}

static atomic_int probe_count;
static dlock_status (*real_probe)(void *state, const dlock_claim *claim);

static dlock_status count_probe(void *state, const dlock_claim *claim)
{
    atomic_fetch_add(&probe_count, 1);
    return real_probe(state, claim);
}

/* Open a system whose checks of its session are counted. */
static dlock_system *open_counted(const char *variant)
{
    static dlock_variant counted;
    const dlock_variant *real = dlock_registry_find(variant);
    dlock_options opts = rig_options(variant);
    dlock_system *sys;

    real_probe = real->probe;
    counted = *real;
    counted.probe = count_probe;
    atomic_store(&probe_count, 0);
    dlock_registry_replace(&counted);
    sys = rig_open(&opts);
    dlock_registry_replace(real);
    return sys;
}

/* A watchdog without a pause between two checks would use a whole processor. A slow machine only
 * makes the pauses longer. */
void looks_after_its_session_with_pauses(const char *variant)
{
    enum { PROBES = 5, PROBE_EVERY_MS = 100 };
    dlock_system *sys = open_counted(variant);
    int64_t begun_ms = rig_now_ms();
    dlock_lease lease;

    assert_status(OK, dlock_acquire(sys, rig_name(), 0, &lease));
    assert_comes(atomic_load(&probe_count) >= PROBES);
    assert_true(rig_now_ms() - begun_ms >= PROBES * PROBE_EVERY_MS);
    assert_status(OK, dlock_release(sys, &lease));
}

/* The test stops the backend that is told to end, so the backend ends late, as on a loaded
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

/* The side connection is a holder whose machine stopped before the COMMIT of its release. */
void an_unfinished_release_makes_no_attempt_wait(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_helper *waiter;
    dlock_system *sys;

    opts.database_timeout_ms = PATIENCE_MS / 2;
    sys = rig_open(&opts);
    database_tell("INSERT INTO dlock_row (name) VALUES ($1)", name);
    database_tell("BEGIN", NULL);
    database_tell("SELECT pg_advisory_xact_lock(hashtextextended(encode($1, 'escape'), 0))",
                  name);
    database_tell("DELETE FROM dlock_row WHERE name = $1", name);
    assert_status(BUSY, rig_try(sys, name));
    waiter = rig_helper_start(sys, name, -1);
    assert_comes(database_ask("SELECT count(*) FROM pg_locks WHERE NOT granted"
                              " AND pg_backend_pid() = ANY (pg_blocking_pids(pid))",
                              NULL) > 0);
    database_tell("COMMIT", NULL);
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
    assert_int_equal(0, database_count_rows(name));
}

/* Session locks are re-entrant within a session, so two holds must not share a session. Each
 * connection goes back to the pool with its release. */
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

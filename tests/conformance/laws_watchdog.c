/* SPDX-License-Identifier: MIT */
/* laws_watchdog.c -- the watchdog: which leases it renews, until when, and its reports of
 * losses. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/fault.h"
#include "tests/conformance/cutter.h"
#include "tests/conformance/laws.h"

void watchdog_keeps_it(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease lease;

    opts.lease_ms = KEPT_LEASE_MS;
    opts.watchdog = true;
    pair = rig_open_pair(&opts);
    premise_watch_pace();
    rig_acquire_short(pair.a, name, NULL, KEPT_LEASE_MS, &lease);
    assert_stays_provided(is_steady(KEPT_LEASE_MS),
                          dlock_lease_valid(pair.a, &lease) &&
                              rig_try(pair.b, name) == DLOCK_BUSY,
                          KEPT_LEASE_MS + RENEWED_MS);
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK,
                           dlock_release(pair.a, &lease));
    assert_status(OK, rig_try(pair.b, name));
}

void nobody_keeps_it(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease late;
    dlock_lease next;

    opts.watchdog = true;
    pair.b = rig_open(&opts);
    opts.lease_ms = SHORT_LEASE_MS;
    pair.a = rig_open(&opts);
    rig_acquire_short(pair.a, name, NULL, SHORT_LEASE_MS, &late);
    assert_status(OK, dlock_acquire(pair.b, name, PATIENCE_MS, &next));
    assert_false(dlock_lease_valid(pair.a, &late));
    assert_status(OK, dlock_release(pair.b, &next));
}

/* The number of scripts that the servers have executed. */
static long long script_calls(void)
{
    static const char field[] = "cmdstat_evalsha:calls=";
    long long calls = 0;

    for (size_t i = 0; i < servers_found(); i++) {
        const char *at = strstr(servers_tell(i, "INFO commandstats")->str, field);

        if (at != NULL)
            calls += strtoll(at + strlen(field), NULL, 10);
    }
    return calls;
}

void watchdog_lets_go(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_fault_state fault;
    long long calls;
    dlock_system *sys;
    dlock_lease lease;
    int64_t until_ms;

    opts.lease_ms = KEPT_LEASE_MS;
    opts.watchdog = true;
    servers_start(&opts);
    sys = rig_open(&opts);
    assert_true(dlock_fault_arm(DLOCK_FAULT_WATCHDOG_TICK, DLOCK_FAULT_HOLD, name));
    until_ms = rig_acquire_short(sys, name, NULL, KEPT_LEASE_MS, &lease);
    assert_comes((dlock_fault_look(DLOCK_FAULT_WATCHDOG_TICK, &fault), fault.holding));
    assert_status_provided(lasts_until(until_ms), OK, dlock_release(sys, &lease));
    assert_int_equal(0, servers_count_keys(name));
    calls = script_calls();
    assert_true(dlock_fault_release(DLOCK_FAULT_WATCHDOG_TICK));
    assert_stays(servers_count_keys(name) == 0 && script_calls() == calls,
                 SHORT_LEASE_MS);
    /* The watchdog still renews the next lock. */
    premise_watch_pace();
    rig_acquire_short(sys, name, NULL, KEPT_LEASE_MS, &lease);
    assert_stays_provided(is_steady(KEPT_LEASE_MS), dlock_lease_valid(sys, &lease),
                          KEPT_LEASE_MS + SHORT_LEASE_MS);
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK, dlock_release(sys, &lease));
}

/* The arguments of the first call of on_lost(). */
static struct {
    atomic_int begun_count;
    atomic_int told_count;
    char name[DLOCK_NAME_MAX + 1];
    char token[DLOCK_TOKEN_LEN + 1];
    uint64_t fence;
    int64_t deadline_ns;
} told;

static void tell(const dlock_lease *lease, void *arg)
{
    assert_ptr_equal(&told, arg);
    if (atomic_fetch_add(&told.begun_count, 1) == 0) {
        strcpy(told.name, lease->name);
        strcpy(told.token, lease->token);
        told.fence = lease->fence;
        told.deadline_ns = lease->deadline_ns;
    }
    atomic_fetch_add(&told.told_count, 1);
}

static dlock_system *open_told(dlock_options *opts)
{
    atomic_store(&told.begun_count, 0);
    atomic_store(&told.told_count, 0);
    opts->on_lost = tell;
    opts->on_lost_arg = &told;
    return rig_open(opts);
}

static void assert_told_once(const dlock_lease *lease)
{
    assert_comes(atomic_load(&told.told_count) > 0);
    /* A machine that stands still may report the loss of the other lock too, which is kept. */
    assert_stays_provided(is_steady(KEPT_LEASE_MS),
                          atomic_load(&told.told_count) == 1 &&
                              strcmp(lease->name, told.name) == 0 &&
                              strcmp(lease->token, told.token) == 0,
                          SHORT_LEASE_MS / 2);
    if (strcmp(lease->token, told.token) != 0)
        return;
    assert_true(told.fence == lease->fence);
    assert_true(told.deadline_ns >= lease->deadline_ns); /* a renewal moves it */
}

void watchdog_tells_of_a_taken_lock(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_system *sys;
    dlock_lease lease;
    dlock_lease other;
    size_t count;

    opts.lease_ms = KEPT_LEASE_MS;
    opts.watchdog = true;
    sys = open_told(&opts);
    count = servers_find(&opts);
    premise_watch_pace();
    rig_acquire_short(sys, name, NULL, KEPT_LEASE_MS, &lease);
    rig_acquire_short(sys, rig_name(), NULL, KEPT_LEASE_MS, &other);
    for (size_t i = 0; i < count; i++)
        servers_ask(i, "DEL %s", name);
    assert_comes(!dlock_lease_valid(sys, &lease));
    assert_told_once(&lease);
    assert_provided(is_steady(KEPT_LEASE_MS), dlock_lease_valid(sys, &other));
    assert_status(LOST, dlock_release(sys, &lease));
    assert_int_equal(0, servers_count_keys(name));
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK, dlock_release(sys, &other));
}

void somebody_tells_of_the_end(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_system *sys;
    dlock_lease lease;
    int64_t until_ms;

    opts.lease_ms = SHORT_LEASE_MS;
    sys = open_told(&opts);
    until_ms = rig_acquire_short(sys, name, NULL, SHORT_LEASE_MS, &lease);
    assert_provided(lasts_until(until_ms), dlock_lease_valid(sys, &lease));
    assert_told_once(&lease);
    assert_false(dlock_lease_valid(sys, &lease));
    /* LOST, or OK within the room for drift: the library knew of the end in time. */
    dlock_release(sys, &lease);
}

void validity_ends_without_the_store(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    int64_t acquired_ms;
    dlock_system *sys;
    dlock_lease lease;
    size_t count;

    opts.lease_ms = 2 * SHORT_LEASE_MS;
    opts.watchdog = true;
    opts.redis_timeout_ms = 20 * SHORT_LEASE_MS; /* far longer than the lease */
    opts.redlock_node_timeout_ms = 20 * SHORT_LEASE_MS;
    servers_start(&opts);
    sys = open_told(&opts);
    count = rig_uses_nodes(variant) ? SERVERS_MAX : 1;
    premise_watch_pace();
    acquired_ms = rig_now_ms();
    rig_acquire_short(sys, name, NULL, opts.lease_ms, &lease);
    servers_signal(0, count, SIGSTOP);
    assert_comes(!dlock_lease_valid(sys, &lease));
    assert_told_once(&lease);
    /* A thread reported the loss that was not itself waiting for a request for longer. */
    assert_provided(is_steady(SHORT_LEASE_MS),
                    rig_now_ms() - acquired_ms < 10 * SHORT_LEASE_MS);
    servers_signal(0, count, SIGCONT);
    assert_comes(servers_count_held(variant, name) == 0);
    assert_status(LOST, dlock_release(sys, &lease));
}

/* The connection has ended, and the network drops everything, so no new connection comes up. */
void validity_ends_while_a_renewal_connects(const char *variant)
{
    dlock_options opts = rig_options(variant);
    int64_t acquired_ms;
    dlock_system *sys;
    dlock_lease lease;

    opts.lease_ms = 2 * SHORT_LEASE_MS;
    opts.watchdog = true;
    opts.database_timeout_ms = 20 * SHORT_LEASE_MS; /* far longer than the lease */
    opts.database_url = cutter_start_before(opts.database_url);
    sys = open_told(&opts);
    premise_watch_pace();
    acquired_ms = rig_now_ms();
    rig_acquire_short(sys, rig_name(), NULL, opts.lease_ms, &lease);
    cutter_refuse();
    cutter_set(CUTTER_SILENT);
    assert_comes(!dlock_lease_valid(sys, &lease));
    assert_told_once(&lease);
    assert_provided(is_steady(SHORT_LEASE_MS),
                    rig_now_ms() - acquired_ms < 10 * SHORT_LEASE_MS);
    cutter_open();
    assert_comes(rig_try(sys, rig_name()) == DLOCK_OK);
    assert_status(LOST, dlock_release(sys, &lease));
}

/* The servers do not answer. More renewals are due than the watchdog sends between two looks at its
 * table, and the lease that ends first is behind them in the table. */
void a_loss_behind_many_renewals_is_told(const char *variant)
{
    enum { MANY = 40 };
    dlock_options opts = rig_options(variant);
    dlock_request shorter = {.lease_ms = 4 * SHORT_LEASE_MS};
    const char *base = rig_name();
    dlock_lease many[MANY], lease;
    dlock_system *sys;
    char name[80];

    opts.lease_ms = 8 * SHORT_LEASE_MS;
    opts.watchdog = true;
    opts.redis_timeout_ms = opts.redlock_node_timeout_ms = 20 * SHORT_LEASE_MS;
    servers_start(&opts);
    sys = open_told(&opts);
    premise_watch_pace();
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "%s:%d", base, i);
        rig_acquire_short(sys, name, NULL, opts.lease_ms, &many[i]);
    }
    rig_acquire_short(sys, rig_name(), &shorter, shorter.lease_ms, &lease);
    servers_signal(0, rig_uses_nodes(variant) ? SERVERS_MAX : 1, SIGSTOP);
    assert_comes(atomic_load(&told.told_count) > 0);
    assert_provided(is_steady(SHORT_LEASE_MS), dlock_lease_valid(sys, &many[0]));
    assert_provided(is_steady(SHORT_LEASE_MS), strcmp(lease.name, told.name) == 0);
    servers_signal(0, rig_uses_nodes(variant) ? SERVERS_MAX : 1, SIGCONT);
}

/* The store may renew many holds by one request: one of them that was freed ends no other. */
void a_loss_ends_no_other_renewal(const char *variant)
{
    enum { MANY = 10, FREED = MANY / 2 };
    dlock_options opts = rig_options(variant);
    const char *base = rig_name();
    dlock_lease many[MANY];
    struct rig_pair pair;
    char name[80];

    opts.lease_ms = KEPT_LEASE_MS;
    opts.watchdog = true;
    pair = rig_open_pair(&opts);
    premise_watch_pace();
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "%s:%d", base, i);
        rig_acquire_short(pair.a, name, NULL, KEPT_LEASE_MS, &many[i]);
    }
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK,
                           dlock_force_release(pair.b, many[FREED].name));
    assert_comes(!dlock_lease_valid(pair.a, &many[FREED]));
    rig_pause_ms(KEPT_LEASE_MS);
    for (int i = 0; i < MANY; i++)
        if (i != FREED)
            assert_status_provided(is_steady(KEPT_LEASE_MS), OK,
                                   dlock_release(pair.a, &many[i]));
}

/* The abandoned lock is granted to no caller until its lease ends, also not to a caller that the
 * store would take for the same owner. Then the lock is free, whatever the watchdog does. */
void abandoned_frees_itself(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    int lease_ms = 4 * SHORT_LEASE_MS;
    bool is_reentrant = rig_caps(variant) & DLOCK_CAP_REENTRANT;
    struct rig_pair pair;
    dlock_lease outer = {0};
    dlock_lease lease;
    dlock_lease next;
    int64_t acquired_ms, until_ms;

    pair.b = rig_open(&opts);
    opts.lease_ms = lease_ms;
    opts.watchdog = true;
    pair.a = open_told(&opts);
    until_ms = rig_now_ms() + lease_ms / 2;
    if (is_reentrant)
        rig_acquire_short(pair.a, name, NULL, lease_ms, &outer);
    acquired_ms = rig_now_ms();
    rig_acquire_short(pair.a, name, NULL, lease_ms, &lease);
    assert_status(OK, dlock_abandon(pair.a, &lease));
    presume(lasts_until(until_ms)); /* neither lease had ended before */
    until_ms += lease_ms / 3;
    assert_false(dlock_lease_valid(pair.a, &lease));
    assert_status(INVALID, dlock_abandon(pair.a, &lease));
    assert_status(INVALID, dlock_release(pair.a, &lease));
    assert_status_provided(lasts_until(until_ms), BUSY, rig_try(pair.a, name));
    if (is_reentrant) {
        assert_false(dlock_lease_valid(pair.a, &outer));
        assert_status(LOST, dlock_release(pair.a, &outer));
    }
    assert_status_provided(lasts_until(until_ms), BUSY, rig_try(pair.b, name));
    assert_status(OK, dlock_acquire(pair.b, name, PATIENCE_MS, &next));
    assert_true(rig_now_ms() - acquired_ms > lease_ms / 2);
    assert_int_equal(0, atomic_load(&told.told_count));
    assert_status(OK, dlock_release(pair.b, &next));
}

void abandoned_is_released(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    dlock_lease lease;

    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    assert_status(OK, dlock_abandon(sys, &lease));
    assert_status(INVALID, dlock_release(sys, &lease));
    assert_status(OK, rig_try_elsewhere(sys, name));
}

/* SPDX-License-Identifier: MIT */
/* laws_lease.c -- how long a lease lasts, who prolongs it, and who tells of its end. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "lock/fault.h"
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
    /* Who held it knew before anybody else could enter. */
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

/* The lease of the options, or the variant's own limit to it. */
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

/* The least PTTL of the name on the servers found. */
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
    /* What is somebody else's now is not prolonged. */
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

/* How many scripts the servers have run. */
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
    /* And it still does its work for the next one. */
    premise_watch_pace();
    rig_acquire_short(sys, name, NULL, KEPT_LEASE_MS, &lease);
    assert_stays_provided(is_steady(KEPT_LEASE_MS), dlock_lease_valid(sys, &lease),
                          KEPT_LEASE_MS + SHORT_LEASE_MS);
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK, dlock_release(sys, &lease));
}

/* What on_lost was told, of the first. */
static struct {
    atomic_int begun_count;
    atomic_int told_count;
    char name[DLOCK_NAME_MAX + 1];
    char token[DLOCK_TOKEN_LEN + 1];
} told;

static void tell(const dlock_lease *lease, void *arg)
{
    assert_ptr_equal(&told, arg);
    if (atomic_fetch_add(&told.begun_count, 1) == 0) {
        strcpy(told.name, lease->name);
        strcpy(told.token, lease->token);
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
    /* Of another one that is kept it is told on a machine that stands still. */
    assert_stays_provided(is_steady(KEPT_LEASE_MS),
                          atomic_load(&told.told_count) == 1 &&
                              strcmp(lease->name, told.name) == 0 &&
                              strcmp(lease->token, told.token) == 0,
                          SHORT_LEASE_MS / 2);
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
    dlock_release(sys, &lease); /* LOST, or OK within the drift: it knew in time */
}

/* The client's clock decides over a lease of a lock that nobody's name is on. */
void breaks_by_a_clients_clock(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease first;
    dlock_lease second;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &first));
    assert_status(BUSY, rig_try(pair.b, name));
    dlock_process_shift_wall(2 * opts.lease_ms); /* b's is ahead */
    assert_status(OK, dlock_acquire(pair.b, name, 0, &second));
    assert_true(dlock_lease_valid(pair.a, &first));
    /* a's is not: it frees the lock of b, and a third enters. */
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
    /* Told by a thread that was not stuck in a request for longer. */
    assert_provided(is_steady(SHORT_LEASE_MS),
                    rig_now_ms() - acquired_ms < 10 * SHORT_LEASE_MS);
    servers_signal(0, count, SIGCONT);
    assert_comes(servers_count_held(variant, name) == 0);
    assert_status(LOST, dlock_release(sys, &lease));
}

/* Nobody may have it until its lease ends, least of all by coming back under the name
 * that the store still knows; and then it is free, whatever the watchdog does. */
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
    presume(lasts_until(until_ms)); /* none of the two was over before */
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

/* SPDX-License-Identifier: MIT */
/* laws_trouble.c -- servers that lose their data, close connections, stop, die and come
 * back. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/conformance/laws.h"

enum {
    SETTLE_MS = 250,
    SLOW_MS = 300,
    MANY_NAMES = 1500,
    CALLS_WHILE_DEAD = 200,
    FAST_MS = 4000,
};

/* The timeout of the servers. */
#define TIMEOUT_MS STRETCHED(400)
#define PAUSE_MS (3 * TIMEOUT_MS)

static size_t server_count(const char *variant)
{
    return rig_uses_nodes(variant) ? SERVERS_MAX : 1;
}

static void tell_all(const char *variant, const char *command)
{
    for (size_t i = 0; i < server_count(variant); i++)
        servers_tell(i, command);
}

/* The servers answer nothing for `ms`. */
static void pause_all(const char *variant, int ms)
{
    char command[32];

    snprintf(command, sizeof(command), "CLIENT PAUSE %d ALL", ms);
    tell_all(variant, command);
}

void survives_a_script_flush(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_system *sys;
    dlock_lease lease;

    servers_start(&opts);
    sys = rig_open(&opts);
    tell_all(variant, "SCRIPT FLUSH");
    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    tell_all(variant, "SCRIPT FLUSH");
    if (rig_caps(variant) & DLOCK_CAP_RENEW)
        assert_status(OK, dlock_renew(sys, &lease));
    tell_all(variant, "SCRIPT FLUSH");
    assert_status(OK, dlock_release(sys, &lease));
    assert_int_equal(0, servers_count_keys(name));
}

static void cut_all(const char *variant)
{
    tell_all(variant, "CLIENT KILL TYPE normal SKIPME yes");
    tell_all(variant, "CLIENT KILL TYPE pubsub SKIPME yes");
}

void survives_cut_connections(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_helper *waiter;
    struct rig_pair pair;
    dlock_lease lease;

    servers_start(&opts);
    pair = rig_open_pair(&opts);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    cut_all(variant);
    assert_status(OK, dlock_release(pair.a, &lease));
    cut_all(variant);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    waiter = rig_helper_start(pair.b, name, -1);
    assert_stays(!rig_helper_is_done(waiter), SETTLE_MS);
    /* Close only the subscription, and only while its waiter sleeps: a command whose connection is
     * closed while it is under way may correctly answer UNKNOWN. */
    tell_all(variant, "CLIENT KILL TYPE pubsub SKIPME yes");
    if (rig_caps(variant) & DLOCK_CAP_PUSH)
        assert_comes(servers_tell(0, "PUBSUB CHANNELS")->elements == 1);
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
}

void survives_a_restart(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease before;
    dlock_lease after;
    size_t count = server_count(variant);

    opts.watchdog = true;
    servers_start(&opts);
    pair = rig_open_pair(&opts);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &before));
    servers_signal(0, count, SIGKILL);
    assert_true(dlock_is_failure(rig_try(pair.b, rig_name())));
    for (size_t i = 0; i < count; i++)
        servers_restart(i);
    /* The lock is lost with the server, and a late release frees no other owner's lock. */
    assert_comes(dlock_acquire(pair.b, name, 0, &after) == DLOCK_OK);
    assert_true(dlock_lease_valid(pair.b, &after));
    dlock_release(pair.a, &before);
    if (rig_caps(variant) & DLOCK_CAP_RENEW)
        assert_status(OK, dlock_renew(pair.b, &after));
    if (rig_caps(variant) & DLOCK_CAP_OWNED)
        assert_status(OK, dlock_release(pair.b, &after));
    assert_comes(dlock_check(pair.a) == DLOCK_OK);
}

void unanswered_is_unknown(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_lease lease = {.fence = 77};
    struct rig_pair pair;
    int64_t asked_ms;

    premise_watch_pace();
    opts.lease_ms = 2 * SHORT_LEASE_MS;
    opts.watchdog = true; /* the watchdog must not renew a lock that was never granted */
    opts.redis_timeout_ms = TIMEOUT_MS;
    opts.redlock_node_timeout_ms = TIMEOUT_MS;
    servers_start(&opts);
    pair = rig_open_pair(&opts);
    pause_all(variant, PAUSE_MS);
    assert_status_provided(is_steady(TIMEOUT_MS), UNKNOWN,
                           dlock_acquire(pair.a, name, 0, &lease));
    assert_string_not_equal("", dlock_error());
    assert_int_equal(77, lease.fence);
    /* A command that arrived late leaves a lock that ends with its lease at the latest. */
    assert_comes(servers_count_held(variant, name) == 0);
    asked_ms = rig_now_ms();
    assert_status_provided(is_steady(TIMEOUT_MS), OK,
                           dlock_acquire(pair.b, name, PATIENCE_MS, &lease));
    assert_status_provided(is_steady(TIMEOUT_MS) && dlock_lease_valid(pair.b, &lease),
                           BUSY, rig_try(pair.a, name));
    assert_status_provided(is_steady(TIMEOUT_MS) &&
                               lasts_until(asked_ms + SHORT_LEASE_MS),
                           OK, dlock_release(pair.b, &lease));
    assert_status_provided(is_steady(TIMEOUT_MS), OK, rig_try(pair.a, name));
}

/* The SETNX arrived after the caller had given up, and its EXPIRE was never sent. */
void unanswered_never_ends(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_system *sys;
    dlock_lease lease;

    premise_watch_pace();
    opts.lease_ms = SHORT_LEASE_MS;
    opts.redis_timeout_ms = TIMEOUT_MS;
    servers_start(&opts);
    sys = rig_open(&opts);
    servers_signal(0, 1, SIGSTOP);
    assert_status(UNKNOWN, dlock_acquire(sys, name, 0, &lease));
    servers_signal(0, 1, SIGCONT);
    assert_comes(servers_count_keys(name) == 1);
    assert_stays(servers_ask(0, "PTTL %s", name) == -1, 2 * SHORT_LEASE_MS);
}

/* A server that hangs later executes everything in the order in which it was sent: the acquire
 * whose answer no thread waits for any more, and then its clean-up. */
void cleans_up_after_itself(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_system *sys;
    dlock_lease first;
    dlock_lease second;
    dlock_lease third;

    opts.redis_timeout_ms = TIMEOUT_MS;
    opts.redlock_node_timeout_ms = TIMEOUT_MS;
    servers_start(&opts);
    premise_watch_pace();
    sys = rig_open(&opts);
    assert_status_provided(is_steady(TIMEOUT_MS), OK,
                           dlock_acquire(sys, name, 0, &first));
    servers_signal(0, server_count(variant), SIGSTOP);
    assert_status(UNKNOWN, dlock_release(sys, &first));
    assert_status(INVALID, dlock_release(sys, &first));
    servers_signal(0, server_count(variant), SIGCONT);
    assert_comes(servers_count_keys(name) == 0);
    /* A release that is still under way must not fit a newer lock of the same thread. */
    assert_comes(dlock_acquire(sys, name, 0, &second) == DLOCK_OK);
    assert_string_not_equal(first.owner, second.owner);
    assert_status_provided(is_steady(TIMEOUT_MS), OK, dlock_release(sys, &second));

    servers_signal(0, server_count(variant), SIGSTOP);
    assert_status(UNKNOWN, dlock_acquire(sys, name, 0, &third));
    servers_signal(0, server_count(variant), SIGCONT);
    assert_comes(servers_count_keys(name) == 0);
    assert_stays(servers_count_keys(name) == 0, SHORT_LEASE_MS);
    assert_comes(dlock_acquire(sys, name, 0, &third) == DLOCK_OK);
    assert_string_not_equal(second.owner, third.owner);
    assert_status_provided(is_steady(TIMEOUT_MS), OK, dlock_release(sys, &third));
}

/* The answer takes longer than the lease. A client that counts the lease from the answer believes
 * that it holds. */
void a_late_grant_is_none(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease lease;
    int64_t refused_ms;

    servers_start(&opts);
    opts.redis_timeout_ms = opts.redlock_node_timeout_ms = PATIENCE_MS;
    pair.b = rig_open(&opts);
    opts.lease_ms = SHORT_LEASE_MS;
    pair.a = rig_open(&opts);
    premise_watch_pace();
    pause_all(variant, 2 * SHORT_LEASE_MS);
    assert_status_provided(is_steady(SHORT_LEASE_MS), TIMEOUT,
                           dlock_acquire(pair.a, name, 0, &lease));
    refused_ms = rig_now_ms();
    assert_string_not_equal("", dlock_error());
    if (rig_caps(variant) & DLOCK_CAP_OWNED) {
        /* A majority of nodes has freed the lock, and the other nodes will do so before the lease
         * ends. */
        assert_comes(servers_count_keys(name) == 0);
        assert_provided(is_steady(SHORT_LEASE_MS), rig_now_ms() - refused_ms < SHORT_LEASE_MS / 2);
    }
    assert_status(OK, dlock_acquire(pair.b, name, PATIENCE_MS, &lease));
    assert_true(dlock_lease_valid(pair.b, &lease));
    assert_status(OK, dlock_release(pair.b, &lease));
}

/* A part of the lease was over when the answer came. A client that counts the lease from the answer
 * is inside for longer than the store keeps others out. Half of the time that the call took may
 * have passed before the request was sent. */
static void assert_counts_from_the_request(const dlock_system *sys,
                                           const dlock_lease *lease, int lease_ms,
                                           int64_t begun_ms)
{
    int64_t took_ms = rig_now_ms() - begun_ms;

    assert_true(took_ms >= SLOW_MS / 2);
    assert_true(dlock_lease_left_ms(sys, lease) <= lease_ms - took_ms / 2);
}

void a_slow_answer_costs_lease(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys;
    dlock_lease lease;
    int64_t begun_ms;

    servers_start(&opts);
    opts.redis_timeout_ms = opts.redlock_node_timeout_ms = PATIENCE_MS;
    opts.lease_ms = PATIENCE_MS;
    opts.watchdog = false;
    sys = rig_open(&opts);
    pause_all(variant, SLOW_MS);
    begun_ms = rig_now_ms();
    assert_status(OK, dlock_acquire(sys, rig_name(), 0, &lease));
    assert_counts_from_the_request(sys, &lease, opts.lease_ms, begun_ms);
    if (!(rig_caps(variant) & DLOCK_CAP_RENEW))
        return;
    pause_all(variant, SLOW_MS);
    begun_ms = rig_now_ms();
    assert_status(OK, dlock_renew(sys, &lease));
    assert_counts_from_the_request(sys, &lease, opts.lease_ms, begun_ms);
}

void fails_fast_when_the_store_is_dead(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_lease lease;
    dlock_system *sys;
    int64_t begun_ms;

    servers_start(&opts);
    sys = rig_open(&opts);
    assert_status(OK, rig_try(sys, rig_name()));
    servers_signal(0, server_count(variant), SIGKILL);
    premise_watch_pace();
    begun_ms = rig_now_ms();
    for (int i = 0; i < CALLS_WHILE_DEAD; i++) {
        dlock_status st = dlock_acquire(sys, rig_name(), 0, &lease);

        if (st != DLOCK_IO && st != DLOCK_UNKNOWN)
            assert_status(IO, st);
        assert_string_not_equal("", dlock_error());
    }
    assert_provided(is_steady(FAST_MS / CALLS_WHILE_DEAD),
                    rig_now_ms() - begun_ms < FAST_MS);
    assert_status(IO, dlock_check(sys));
}

void leaves_nothing_of_many_names(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys;
    char name[40];

    servers_start(&opts);
    sys = rig_open(&opts);
    for (int i = 0; i < MANY_NAMES; i++) {
        snprintf(name, sizeof(name), "many:%d", i);
        assert_status(OK, rig_try(sys, name));
    }
    /* The counters of fences stay: a counter that begins again would give the same fences again. */
    for (size_t i = 0; i < server_count(variant); i++)
        assert_int_equal(rig_caps(variant) & DLOCK_CAP_FENCED ? MANY_NAMES : 0,
                         servers_ask(i, "DBSIZE"));
}

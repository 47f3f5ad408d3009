/* SPDX-License-Identifier: MIT */
/* laws_renewal.c -- what must not keep the watchdog from its work. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "tests/conformance/laws.h"

enum {
    KEPT_MS = KEPT_LEASE_MS + KEPT_LEASE_MS / 3,
    LONGER_LEASE_MS = 1500,
    OF_MANY_MS = 3000,
    MANY = 80, /* more than it renews between two looks */
};

static dlock_options watched(const char *variant, int lease_ms)
{
    dlock_options opts = rig_options(variant);

    opts.watchdog = true;
    opts.lease_ms = lease_ms;
    return opts;
}

static size_t node_count(const char *variant)
{
    return rig_uses_nodes(variant) ? SERVERS_MAX : 1;
}

void renews_after_a_reconnect(const char *variant)
{
    dlock_options opts = watched(variant, KEPT_LEASE_MS);
    dlock_system *sys;
    dlock_lease lease;

    servers_start(&opts);
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, rig_name(), 0, &lease));
    assert_stays(dlock_lease_valid(sys, &lease), RENEWED_MS);
    for (size_t i = 0; i < node_count(variant); i++) {
        servers_tell(i, "CLIENT KILL TYPE normal SKIPME yes");
        servers_tell(i, "CLIENT KILL TYPE pubsub SKIPME yes");
    }
    assert_stays(dlock_lease_valid(sys, &lease), KEPT_MS);
    assert_status(OK, dlock_release(sys, &lease));
}

/* The first renewal, at a third of the lease, is not answered. */
void tries_a_renewal_again(const char *variant)
{
    dlock_options opts = watched(variant, LONGER_LEASE_MS);
    dlock_system *sys;
    dlock_lease lease;

    opts.redis_timeout_ms = opts.redlock_node_timeout_ms = 100;
    servers_start(&opts);
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, rig_name(), 0, &lease));
    servers_signal(0, node_count(variant), SIGSTOP);
    assert_stays(dlock_lease_valid(sys, &lease), LONGER_LEASE_MS / 3 + 200);
    servers_signal(0, node_count(variant), SIGCONT);
    assert_stays(dlock_lease_valid(sys, &lease), LONGER_LEASE_MS);
    assert_status(OK, dlock_release(sys, &lease));
}

/* What the store lost is lost, and what is locked after that is kept. */
void renews_the_next_after_a_restart(const char *variant)
{
    dlock_options opts = watched(variant, KEPT_LEASE_MS);
    const char *name = rig_name();
    dlock_system *sys;
    dlock_lease before;
    dlock_lease lease;

    servers_start(&opts);
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, name, 0, &before));
    servers_signal(0, node_count(variant), SIGKILL);
    assert_comes(!dlock_lease_valid(sys, &before));
    for (size_t i = 0; i < node_count(variant); i++)
        servers_restart(i);
    assert_comes(dlock_acquire(sys, name, 0, &lease) == DLOCK_OK);
    assert_status(LOST, dlock_release(sys, &before));
    assert_stays(dlock_lease_valid(sys, &lease), KEPT_MS);
    assert_status(OK, dlock_release(sys, &lease));
}

/* By its own account, and by that of somebody who would like to have it. */
void renews_all_of_many(const char *variant)
{
    dlock_options opts = watched(variant, OF_MANY_MS);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *base = rig_name();
    dlock_lease leases[MANY];
    char name[80];

    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "%s:%d", base, i);
        assert_status(OK, dlock_acquire(pair.a, name, 0, &leases[i]));
    }
    rig_pause_ms(OF_MANY_MS + OF_MANY_MS / 10);
    for (int i = 0; i < MANY; i++) {
        assert_true(dlock_lease_valid(pair.a, &leases[i]));
        assert_status(BUSY, rig_try(pair.b, leases[i].name));
    }
    for (int i = 0; i < MANY; i++)
        assert_status(OK, dlock_release(pair.a, &leases[i]));
}

/* Nested use registers twice in other libraries, and the inner release ends both. */
void renews_after_an_inner_release(const char *variant)
{
    dlock_options opts = watched(variant, KEPT_LEASE_MS);
    const char *name = rig_name();
    struct rig_pair pair = rig_open_pair(&opts);
    dlock_lease outer;
    dlock_lease inner;

    for (int round = 0; round < 2; round++) {
        assert_status(OK, dlock_acquire(pair.a, name, 0, &outer));
        assert_status(OK, dlock_acquire(pair.a, name, 0, &inner));
        assert_status(OK, dlock_release(pair.a, &inner));
        if (round == 1)
            assert_stays(dlock_lease_valid(pair.a, &outer) &&
                             rig_try(pair.b, name) == DLOCK_BUSY,
                         KEPT_MS);
        assert_status(OK, dlock_release(pair.a, &outer));
        assert_status(OK, rig_try(pair.b, name));
    }
}

struct leaver {
    dlock_system *sys;
    const char *name;
    dlock_status status;
    dlock_lease lease;
};

/* The thread ends, and has neither released nor abandoned. */
static void *acquire_and_leave(void *arg)
{
    struct leaver *leaver = arg;

    leaver->status = dlock_acquire(leaver->sys, leaver->name, 0, &leaver->lease);
    return NULL;
}

static atomic_int lost_count;

static void count_lost(const dlock_lease *lease, void *arg)
{
    (void)lease;
    (void)arg;
    atomic_fetch_add(&lost_count, 1);
}

/* Nobody could ever give it back: a lease belongs to its thread. */
void a_thread_that_ended_is_not_renewed(const char *variant)
{
    dlock_options opts = watched(variant, KEPT_LEASE_MS);
    struct leaver leaver = {.name = rig_name()};
    pthread_t thread;
    dlock_system *other;
    dlock_lease ours;

    other = rig_open(&opts);
    opts.on_lost = count_lost;
    leaver.sys = rig_open(&opts);
    atomic_store(&lost_count, 0);
    assert_int_equal(0, pthread_create(&thread, NULL, acquire_and_leave, &leaver));
    pthread_join(thread, NULL);
    assert_status(OK, leaver.status);
    assert_status(BUSY, rig_try(other, leaver.name));
    assert_status(OK, dlock_acquire(leaver.sys, rig_name(), 0, &ours));
    assert_comes(rig_try(other, leaver.name) == DLOCK_OK);
    assert_false(dlock_lease_valid(leaver.sys, &leaver.lease));
    assert_comes(atomic_load(&lost_count) == 1);
    /* Who goes on is renewed. */
    assert_stays(dlock_lease_valid(leaver.sys, &ours), KEPT_LEASE_MS);
    assert_status(OK, dlock_release(leaver.sys, &ours));
    assert_int_equal(1, atomic_load(&lost_count));
}

static pthread_key_t leaving_key;

/* As a program does that frees what a thread holds when it ends. */
static void release_when_leaving(void *arg)
{
    struct leaver *leaver = arg;

    leaver->status = dlock_release(leaver->sys, &leaver->lease);
}

static void *acquire_and_be_cleaned_up(void *arg)
{
    struct leaver *leaver = arg;

    acquire_and_leave(leaver);
    if (leaver->status == DLOCK_OK)
        pthread_setspecific(leaving_key, leaver);
    return NULL;
}

void a_thread_may_release_as_it_ends(const char *variant)
{
    dlock_options opts = watched(variant, KEPT_LEASE_MS);
    struct leaver leaver = {.sys = rig_open(&opts), .name = rig_name()};
    pthread_t thread;

    assert_int_equal(0, pthread_key_create(&leaving_key, release_when_leaving));
    assert_int_equal(0,
                     pthread_create(&thread, NULL, acquire_and_be_cleaned_up, &leaver));
    pthread_join(thread, NULL);
    pthread_key_delete(leaving_key);
    assert_status(OK, leaver.status);
    assert_status(OK, rig_try(leaver.sys, leaver.name));
}

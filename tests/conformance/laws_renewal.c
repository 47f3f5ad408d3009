/* SPDX-License-Identifier: MIT */
/* laws_renewal.c -- events that must not stop the watchdog from renewing. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "tests/conformance/laws.h"

enum { MANY = 80 }; /* more than the watchdog renews between two looks at its table */

#define KEPT_MS (KEPT_LEASE_MS + KEPT_LEASE_MS / 3)
#define LONGER_LEASE_MS STRETCHED(1500)
#define OF_MANY_MS STRETCHED(3000)

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
    premise_watch_pace();
    rig_acquire_short(sys, rig_name(), NULL, KEPT_LEASE_MS, &lease);
    assert_stays_provided(is_steady(KEPT_LEASE_MS), dlock_lease_valid(sys, &lease),
                          RENEWED_MS);
    for (size_t i = 0; i < node_count(variant); i++) {
        servers_tell(i, "CLIENT KILL TYPE normal SKIPME yes");
        servers_tell(i, "CLIENT KILL TYPE pubsub SKIPME yes");
    }
    assert_stays_provided(is_steady(KEPT_LEASE_MS), dlock_lease_valid(sys, &lease),
                          KEPT_MS);
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK, dlock_release(sys, &lease));
}

/* The first renewal, at a third of the lease, gets no answer. */
void tries_a_renewal_again(const char *variant)
{
    dlock_options opts = watched(variant, LONGER_LEASE_MS);
    int timeout_ms = STRETCHED(100);
    dlock_system *sys;
    dlock_lease lease;

    opts.redis_timeout_ms = opts.redlock_node_timeout_ms = timeout_ms;
    servers_start(&opts);
    premise_watch_pace();
    sys = rig_open(&opts);
    assert_status_provided(is_steady(timeout_ms), OK,
                           dlock_acquire(sys, rig_name(), 0, &lease));
    servers_signal(0, node_count(variant), SIGSTOP);
    assert_stays_provided(is_steady(timeout_ms), dlock_lease_valid(sys, &lease),
                          LONGER_LEASE_MS / 3 + 2 * timeout_ms);
    servers_signal(0, node_count(variant), SIGCONT);
    assert_stays_provided(is_steady(timeout_ms), dlock_lease_valid(sys, &lease),
                          LONGER_LEASE_MS);
    assert_status_provided(is_steady(timeout_ms), OK, dlock_release(sys, &lease));
}

/* A lock that the store lost is reported as lost, and a lock that was acquired after that is
 * renewed. */
void renews_the_next_after_a_restart(const char *variant)
{
    dlock_options opts = watched(variant, KEPT_LEASE_MS);
    const char *name = rig_name();
    dlock_system *sys;
    dlock_lease before;
    dlock_lease lease;

    servers_start(&opts);
    sys = rig_open(&opts);
    rig_acquire_short(sys, name, NULL, KEPT_LEASE_MS, &before);
    servers_signal(0, node_count(variant), SIGKILL);
    assert_comes(!dlock_lease_valid(sys, &before));
    for (size_t i = 0; i < node_count(variant); i++)
        servers_restart(i);
    premise_watch_pace();
    assert_comes(dlock_acquire(sys, name, 0, &lease) == DLOCK_OK);
    assert_status(LOST, dlock_release(sys, &before));
    assert_stays_provided(is_steady(KEPT_LEASE_MS), dlock_lease_valid(sys, &lease),
                          KEPT_MS);
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK, dlock_release(sys, &lease));
}

/* `took_ms` is the time of as many requests as a round of renewals has.  Was it short enough? */
static bool is_quick(int64_t took_ms)
{
    return is_steady(OF_MANY_MS) && took_ms < OF_MANY_MS / 6;
}

/* The longest time of a refused request during `ms`, in which such requests follow one another. The
 * renewals of this time wait for the same store. */
static int64_t longest_answer_ms(dlock_system *sys, const char *name, int ms)
{
    int64_t longest_ms = 0, end_ms = rig_now_ms() + ms;

    while (rig_now_ms() < end_ms) {
        int64_t asked_ms = rig_now_ms(), answer_ms;

        (void)rig_try(sys, name);
        answer_ms = rig_now_ms() - asked_ms;
        longest_ms = answer_ms > longest_ms ? answer_ms : longest_ms;
        rig_pause_ms(10);
    }
    return longest_ms;
}

/* Both the holder and the store say that each lock is held: the store answers BUSY to a second
 * owner. */
void renews_all_of_many(const char *variant)
{
    dlock_options opts = watched(variant, OF_MANY_MS);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *base = rig_name();
    dlock_lease leases[MANY];
    int64_t begun_ms, took_ms;
    char name[80];

    premise_watch_pace();
    begun_ms = rig_now_ms();
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "%s:%d", base, i);
        rig_acquire_short(pair.a, name, NULL, OF_MANY_MS, &leases[i]);
    }
    took_ms = rig_now_ms() - begun_ms;
    took_ms += longest_answer_ms(pair.b, leases[0].name, OF_MANY_MS + OF_MANY_MS / 10);
    begun_ms = rig_now_ms();
    for (int i = 0; i < MANY; i++) {
        assert_provided(is_quick(took_ms), dlock_lease_valid(pair.a, &leases[i]));
        assert_provided(is_quick(took_ms),
                        rig_try(pair.b, leases[i].name) == DLOCK_BUSY);
    }
    took_ms += rig_now_ms() - begun_ms;
    for (int i = 0; i < MANY; i++)
        assert_status_provided(is_quick(took_ms), OK,
                               dlock_release(pair.a, &leases[i]));
}

/* In other libraries a nested acquire registers the lock for renewal twice, and the inner release
 * ends both registrations. */
void renews_after_an_inner_release(const char *variant)
{
    dlock_options opts = watched(variant, KEPT_LEASE_MS);
    const char *name = rig_name();
    struct rig_pair pair = rig_open_pair(&opts);
    dlock_lease outer;
    dlock_lease inner;

    for (int round = 0; round < 2; round++) {
        premise_watch_pace();
        rig_acquire_short(pair.a, name, NULL, KEPT_LEASE_MS, &outer);
        rig_acquire_short(pair.a, name, NULL, KEPT_LEASE_MS, &inner);
        assert_status_provided(is_steady(KEPT_LEASE_MS), OK,
                               dlock_release(pair.a, &inner));
        if (round == 1)
            assert_stays_provided(is_steady(KEPT_LEASE_MS),
                                  dlock_lease_valid(pair.a, &outer) &&
                                      rig_try(pair.b, name) == DLOCK_BUSY,
                                  KEPT_MS);
        assert_status_provided(is_steady(KEPT_LEASE_MS), OK,
                               dlock_release(pair.a, &outer));
        assert_status(OK, rig_try(pair.b, name));
    }
}

struct leaver {
    dlock_system *sys;
    const char *name;
    dlock_status status;
    dlock_lease lease;
};

/* A thread that acquires and ends, without a release or an abandon. */
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

/* Only the thread that acquired a lock can release it, so a lock of an ended thread that is renewed
 * would be held for ever. */
void a_thread_that_ended_is_not_renewed(const char *variant)
{
    dlock_options opts = watched(variant, KEPT_LEASE_MS);
    struct leaver leaver = {.name = rig_name()};
    pthread_t thread;
    dlock_system *other;
    dlock_lease ours;
    int64_t asked_ms;

    other = rig_open(&opts);
    opts.on_lost = count_lost;
    leaver.sys = rig_open(&opts);
    atomic_store(&lost_count, 0);
    premise_watch_pace();
    asked_ms = rig_now_ms();
    assert_int_equal(0, pthread_create(&thread, NULL, acquire_and_leave, &leaver));
    pthread_join(thread, NULL);
    presume(lasts_until(asked_ms + KEPT_LEASE_MS / 2));
    assert_status(OK, leaver.status);
    assert_provided(lasts_until(asked_ms + KEPT_LEASE_MS * 9 / 10),
                    rig_try(other, leaver.name) == DLOCK_BUSY);
    rig_acquire_short(leaver.sys, rig_name(), NULL, KEPT_LEASE_MS, &ours);
    assert_comes(rig_try(other, leaver.name) == DLOCK_OK);
    assert_false(dlock_lease_valid(leaver.sys, &leaver.lease));
    assert_comes(atomic_load(&lost_count) > 0);
    /* The lease of the thread that goes on is renewed. */
    assert_stays_provided(is_steady(KEPT_LEASE_MS),
                          dlock_lease_valid(leaver.sys, &ours), KEPT_LEASE_MS);
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK,
                           dlock_release(leaver.sys, &ours));
    assert_provided(is_steady(KEPT_LEASE_MS), atomic_load(&lost_count) == 1);
}

static pthread_key_t leaving_key;

/* A program may release the locks of a thread in a destructor that runs when the thread ends. */
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

    premise_watch_pace();
    assert_int_equal(0, pthread_key_create(&leaving_key, release_when_leaving));
    assert_int_equal(0,
                     pthread_create(&thread, NULL, acquire_and_be_cleaned_up, &leaver));
    pthread_join(thread, NULL);
    pthread_key_delete(leaving_key);
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK, leaver.status);
    assert_status(OK, rig_try(leaver.sys, leaver.name));
}

/* SPDX-License-Identifier: MIT */
/* laws_inspect.c -- inspecting locks, and freeing them by force. */
#include <stdio.h>
#include <string.h>

#include "tests/conformance/laws.h"

enum { WAIT_MS = 80, WAITERS = 3, TOLD_MS = 50, LEASE_MS = 60000 };
/* A session that was told to end must have ended within this time. */
enum { STEADY_MS = 1000 };

static dlock_info look(dlock_system *sys, const char *name)
{
    dlock_info info;

    memset(&info, 0x55, sizeof(info));
    assert_status(OK, dlock_inspect(sys, name, &info));
    return info;
}

static void assert_is_free(dlock_system *sys, const char *name)
{
    dlock_info info = look(sys, name);

    assert_false(info.locked);
    assert_false(info.shared);
    assert_int_equal(0, info.hold_count);
    assert_int_equal(0, info.reader_count);
    assert_int_equal(0, info.left_ms);
    assert_int_equal(0, info.fence);
    assert_string_equal("", info.owner);
    assert_true(info.waiter_count <= 0);
}

void is_seen_from_outside(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease lease;
    dlock_info info;

    assert_is_free(pair.b, name);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    info = look(pair.b, name);
    assert_true(info.locked);
    assert_false(info.shared);
    assert_int_equal(0, info.reader_count);
    assert_true(info.hold_count == 1);
    if (rig_caps(variant) & DLOCK_CAP_EXPIRES)
        assert_true(info.left_ms > 0 && info.left_ms <= opts.lease_ms);
    else
        assert_true(info.left_ms == INT64_MAX);
    if ((rig_caps(variant) & (DLOCK_CAP_REENTRANT | DLOCK_CAP_FAIR)) != 0 ||
        rig_is(variant, "local") || rig_is(variant, "zk-basic"))
        assert_string_equal(lease.owner, info.owner);
    else if (!rig_is(variant, "getset"))
        assert_true(info.owner[0] != '\0');
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_is_free(pair.b, name);
    assert_status(INVALID, dlock_inspect(pair.a, "", &info));
    assert_status(INVALID, dlock_inspect(pair.a, name, NULL));
}

/* Hold the lock as a MultiLock of a Java program does, which has another UUID on each server. */
void shows_owners_of_each_server(const char *variant)
{
    static const char theirs[] = "8743c9c0-0795-4907-87fd-6c719a6b458%d:52";
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    char owner[DLOCK_OWNER_MAX + 1];
    dlock_info info;

    assert_int_equal(SERVERS_MAX, servers_find(&opts));
    for (int i = 0; i < SERVERS_MAX; i++) {
        assert_is_free(sys, name); /* held on some servers only is not held */
        snprintf(owner, sizeof(owner), theirs, i);
        servers_ask((size_t)i, "HSET %s %s %d", name, owner, 2);
        servers_ask((size_t)i, "PEXPIRE %s %d", name, i == 2 ? LEASE_MS / 2 : LEASE_MS);
    }
    info = look(sys, name);
    snprintf(owner, sizeof(owner), theirs, 0);
    assert_true(info.locked);
    assert_string_equal(owner, info.owner);
    assert_int_equal(2, info.hold_count);
    assert_true(info.left_ms > 0 && info.left_ms <= LEASE_MS / 2);
    assert_status(OK, dlock_force_release(sys, name));
    assert_is_free(sys, name);
}

void is_never_seen(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_is_free(pair.b, name);
    assert_status(LOST, dlock_force_release(pair.b, name));
    assert_status(OK, dlock_release(pair.a, &lease));
}

void shows_its_levels(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease leases[3];

    for (int i = 0; i < 3; i++) {
        assert_status(OK, dlock_acquire(pair.a, name, 0, &leases[i]));
        assert_int_equal(i + 1, look(pair.b, name).hold_count);
    }
    assert_status(OK, dlock_release(pair.a, &leases[2]));
    assert_int_equal(2, look(pair.b, name).hold_count);
    assert_status(OK, dlock_release(pair.a, &leases[1]));
    assert_status(OK, dlock_release(pair.a, &leases[0]));
    assert_is_free(pair.b, name);
}

void shows_its_fence(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease lease;

    for (int i = 0; i < 2; i++) {
        assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
        assert_true(look(pair.b, name).fence == lease.fence);
        assert_status(OK, dlock_release(pair.a, &lease));
    }
}

/* The waiters that the store can count: threads if it knows threads, else systems that
 * subscribe. */
void shows_who_waits(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    struct rig_helper *waiters[WAITERS];
    bool listens = (rig_caps(variant) & DLOCK_CAP_PUSH) &&
                   !(rig_caps(variant) & DLOCK_CAP_FAIR) && !rig_is(variant, "local");
    dlock_lease lease;
    int count = 0;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    count = look(pair.a, name).waiter_count;
    /* A store knows the waiters to which it sends a message, and those that it keeps in a queue or
     * lets wait in the server. But ZooKeeper tells no client who watches a node. */
    assert_int_equal((rig_caps(variant) & (DLOCK_CAP_PUSH | DLOCK_CAP_FAIR |
                                           DLOCK_CAP_SESSION)) &&
                             !rig_is(variant, "zk-basic")
                         ? 0
                         : -1,
                     count);
    for (int i = 0; i < WAITERS; i++)
        waiters[i] = rig_helper_start(pair.b, name, -1);
    if (count == 0)
        assert_comes(look(pair.a, name).waiter_count == (listens ? 1 : WAITERS));
    else
        assert_int_equal(-1, look(pair.a, name).waiter_count);
    assert_true(look(pair.a, name).locked);
    assert_status(OK, dlock_release(pair.a, &lease));
    for (int i = 0; i < WAITERS; i++)
        rig_helper_begin_release(waiters[i]);
    for (int i = 0; i < WAITERS; i++) {
        assert_status(OK, rig_helper_acquired(waiters[i]));
        assert_status(OK, rig_helper_finish(waiters[i]));
    }
    if (count == 0)
        assert_comes(look(pair.a, name).waiter_count == 0);
}

void is_freed_by_force(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease lease;
    dlock_lease next;
    dlock_status st;

    assert_status(LOST, dlock_force_release(pair.b, name));
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    if (rig_caps(variant) & DLOCK_CAP_REENTRANT)
        assert_status(OK, dlock_acquire(pair.a, name, 0, &next));
    st = dlock_force_release(pair.b, name);
    /* On a busy machine PostgreSQL may end the session after the call has stopped waiting for
     * that. */
    if (!(rig_caps(variant) & DLOCK_CAP_SESSION) || st != DLOCK_UNKNOWN)
        assert_status(OK, st);
    assert_comes(!look(pair.b, name).locked);
    assert_status(LOST, dlock_force_release(pair.b, name));
    assert_status(OK, dlock_acquire(pair.b, name, 0, &next));
    /* The former holder learns of the loss, and its release frees no other owner's lock. */
    if (rig_caps(variant) & DLOCK_CAP_OWNED) {
        assert_status(LOST, dlock_release(pair.a, &lease));
        assert_status(BUSY, rig_try(pair.a, name));
        assert_status(OK, dlock_release(pair.b, &next));
    }
    assert_status(INVALID, dlock_force_release(pair.a, ""));
}

/* A variant deletes no key that it cannot read because another variant holds it. */
void frees_no_other_kind(const char *variant)
{
    static const char *const others[] = {"lua", "reentrant", "redlock", "multi"};
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    int refused = 0;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        dlock_options other_opts = rig_options(others[i]);
        dlock_system *other = rig_open(&other_opts);
        const char *name = rig_name();
        dlock_lease lease;
        dlock_info info;

        assert_status(OK, dlock_acquire(other, name, 0, &lease));
        if (dlock_is_failure(dlock_inspect(sys, name, &info))) {
            assert_true(dlock_is_failure(dlock_force_release(sys, name)));
            assert_status(OK, dlock_release(other, &lease));
            refused++;
        }
    }
    assert_true(refused > 0);
    rig_close_systems();
}

/* The fastest of several tries counts, as in laws_waiting.c: a waiter without a message is
 * slower. */
void forcing_tells_a_waiter(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    bool tells = rig_caps(variant) & DLOCK_CAP_PUSH;
    int64_t best_ms = INT64_MAX;

    for (int i = 0; is_another_tried(i, tells ? best_ms : 0, TOLD_MS); i++) {
        const char *name = rig_name();
        struct rig_helper *waiter;
        int64_t forced_ms, took_ms;
        dlock_status forced;
        dlock_lease lease;

        assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
        premise_watch_pace();
        waiter = rig_helper_start(pair.b, name, -1);
        rig_let_wait(pair.a, name, WAIT_MS);
        assert_false(rig_helper_is_done(waiter));
        forced_ms = rig_now_ms();
        forced = dlock_force_release(pair.a, name);
        premise_note_request(rig_now_ms() - forced_ms);
        assert_status_provided(is_steady(STEADY_MS), OK, forced);
        assert_status(OK, rig_helper_acquired(waiter));
        took_ms = rig_helper_told_within_ms(waiter, forced_ms);
        if (took_ms < best_ms)
            best_ms = took_ms;
        rig_helper_finish(waiter);
    }
    if (tells)
        assert_provided(is_steady(TOLD_MS), best_ms < TOLD_MS);
}

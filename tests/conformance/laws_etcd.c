/* SPDX-License-Identifier: MIT */
/* laws_etcd.c -- locks that are keys with leases in etcd. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/cutter.h"
#include "tests/conformance/keys.h"
#include "tests/conformance/laws.h"

enum {
    MANY = 40,
    WAITERS = 32,
    TOLD_MS = 100,    /* after a message of the watch; without it a waiter needs LOOKS_MS */
    LOOKS_MS = 2000,
    HASTE_MS = 300,
    LEASE_S = 20,
    LATE_MS = 300,
    TRIES = 5,
};

static void assert_refused(const dlock_options *opts, dlock_status want, const char *why)
{
    dlock_system *sys = NULL;
    dlock_status got = dlock_open(&sys, opts);

    if (got != want || strstr(dlock_error(), why) == NULL)
        print_error("%s: %s: %s\n", opts->etcd_url != NULL ? opts->etcd_url : "(none)",
                    dlock_status_id(got), dlock_error());
    assert_int_equal(want, got);
    assert_null(sys);
    assert_non_null(strstr(dlock_error(), why));
}

void refuses_bad_etcd_urls(const char *variant)
{
    static const char *const bad[] = {
        "127.0.0.1:2379",     "http://",          "http://:2379",     "http://a:0",
        "http://a:65536",     "http://a:2379x",   "http://a:1,",      "http://a:1,,b:2",
        "http://a b:1",       "http://a:1/path",  "http://user@a:1",  "http://:secret@a:1",
        "redis://a:1",        "http://a:1,http://b:1", "http://a:1?ca=b", "https://a:1?cert=b"};
    dlock_options opts = rig_options(variant);

    opts.etcd_url = NULL;
    assert_refused(&opts, DLOCK_INVALID, "URL");
    opts.etcd_url = "";
    assert_refused(&opts, DLOCK_INVALID, "URL");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        opts.etcd_url = bad[i];
        assert_refused(&opts, DLOCK_INVALID, "http://[user:password@]host[:port]");
        assert_null(strstr(dlock_error(), "secret"));
    }
    opts.etcd_timeout_ms = HASTE_MS;
    opts.etcd_url = "http://127.0.0.1:1";
    assert_refused(&opts, DLOCK_IO, "127.0.0.1:1");
    opts.etcd_timeout_ms = 0;
    assert_refused(&opts, DLOCK_INVALID, "timeout");
}

/* A system behind the cutter, and a system without the cutter. */
static struct rig_pair open_cut_and_whole(dlock_options opts)
{
    struct rig_pair pair;

    pair.b = rig_open(&opts);
    opts.etcd_url = cutter_start_before(opts.etcd_url);
    pair.a = rig_open(&opts);
    return pair;
}

/* Only keys of the form NAME/LEASE count: "a/b" is another lock, and its keys begin with "a/". */
void minds_no_other_keys(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    static const char *const ends[] = {"/zz", "/0a", "/ABC", "/", "/12345678123456789"};
    char other[DLOCK_NAME_MAX + 1], key[DLOCK_NAME_MAX + 40];
    struct rig_helper *waiter;
    dlock_lease inner, lease;
    dlock_info info;

    snprintf(other, sizeof(other), "%s/b", name);
    assert_status(OK, dlock_acquire(pair.a, other, 0, &inner));
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(key, sizeof(key), "%s%s", name, ends[i]);
        keys_put(key);
    }
    assert_status(OK, dlock_inspect(pair.b, name, &info));
    assert_false(info.locked);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_status(BUSY, rig_try(pair.b, name));
    waiter = rig_helper_start(pair.b, name, -1);
    assert_comes(rig_waiter_count(pair.a, name) == 1);
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
    assert_status(OK, dlock_release(pair.a, &inner));
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(key, sizeof(key), "%s%s", name, ends[i]);
        keys_delete(key);
    }
    assert_int_equal(0, keys_count(name));
}

/* Keys of the form NAME/LEASE without a value, as etcd's own recipe for locks puts them. */
void contends_with_the_recipe(const char *variant)
{
    enum { LEASE = 0x1e61 };
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    char key[DLOCK_NAME_MAX + 40];
    struct rig_helper *waiter;
    dlock_lease lease;
    dlock_info info;

    snprintf(key, sizeof(key), "%s/%x", name, (unsigned)LEASE);
    keys_put_leased(key, LEASE, LEASE_S);
    assert_status(BUSY, rig_try(pair.a, name));
    assert_status(OK, dlock_inspect(pair.a, name, &info));
    assert_true(info.locked && info.left_ms > 0 && info.left_ms <= LEASE_S * 1000);
    assert_string_equal("lease 1e61", info.owner);
    waiter = rig_helper_start(pair.b, name, -1);
    assert_comes(rig_waiter_count(pair.a, name) == 1);
    keys_revoke(LEASE);
    assert_status(OK, rig_helper_acquired(waiter));
    keys_put_leased(key, LEASE, LEASE_S); /* behind the key of the holder */
    assert_status(BUSY, rig_try(pair.a, name));
    assert_status(OK, rig_helper_finish(waiter));
    assert_status(BUSY, rig_try(pair.a, name));
    keys_revoke(LEASE);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_status(OK, dlock_release(pair.a, &lease));
}

static atomic_int told_count;

static void tell(const dlock_lease *lease, void *arg)
{
    (void)lease;
    (void)arg;
    atomic_fetch_add(&told_count, 1);
}

/* The lease ends in etcd before its time, or the key is deleted while its lease goes on. */
void is_lost_with_its_key(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_lease lease, kept;

    for (int round = 0; round < 4; round++) {
        bool deletes = round % 2 == 1;
        const char *name = rig_name(), *kept_name = rig_name();
        struct rig_pair pair;

        opts.watchdog = round < 2; /* then the owner renews */
        opts.lease_ms = opts.watchdog ? KEPT_LEASE_MS : 10 * PATIENCE_MS;
        opts.on_lost = tell;
        atomic_store(&told_count, 0);
        pair = rig_open_pair(&opts);
        assert_status(OK, dlock_acquire(pair.a, kept_name, 0, &kept));
        assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
        if (deletes)
            assert_status(OK, dlock_force_release(pair.b, name));
        else
            keys_revoke(keys_oldest_lease(name));
        if (opts.watchdog)
            assert_comes(atomic_load(&told_count) == 1);
        else
            assert_status(LOST, dlock_renew(pair.a, &lease));
        assert_false(dlock_lease_valid(pair.a, &lease));
        assert_status(OK, rig_try(pair.b, name));
        assert_status(LOST, dlock_release(pair.a, &lease));
        /* Each lock has a lease of its own, so the other lock is still held. */
        assert_status(BUSY, rig_try(pair.b, kept_name));
        assert_status(OK, dlock_release(pair.a, &kept));
    }
}

/* End the key's lease, or delete the key as an operator would by hand. */
static void end_key(const char *name, uint64_t lease, bool by_hand)
{
    char key[DLOCK_NAME_MAX + 40];

    snprintf(key, sizeof(key), "%s/%" PRIx64, name, lease);
    if (by_hand)
        keys_delete(key);
    else
        keys_revoke(lease);
}

/* etcd-io/etcd#11456: the key of a waiter ends while it waits, and then no key is before it. */
void enters_with_its_own_key_only(const char *variant)
{
    for (int by_hand = 0; by_hand < 2; by_hand++) {
        dlock_options opts = rig_options(variant);
        struct rig_pair pair = rig_open_pair(&opts);
        const char *name = rig_name();
        struct rig_helper *vanishing, *behind;
        uint64_t vanishing_lease;
        dlock_lease lease;

        assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
        vanishing = rig_helper_start(rig_open(&opts), name, -1);
        assert_comes(keys_count(name) == 2);
        vanishing_lease = keys_youngest_lease(name);
        behind = rig_helper_start(pair.b, name, -1);
        assert_comes(keys_count(name) == 3);
        end_key(name, vanishing_lease, by_hand);
        /* The first waiter puts a new key, behind the key of the other waiter. */
        assert_comes(keys_count(name) == 3);
        assert_false(rig_helper_is_done(vanishing));
        assert_status(OK, dlock_release(pair.a, &lease));
        assert_status(OK, rig_helper_acquired(behind));
        assert_stays(!rig_helper_is_done(vanishing), TOLD_MS);
        assert_status(OK, rig_helper_finish(behind));
        assert_status(OK, rig_helper_acquired(vanishing));
        assert_status(OK, rig_helper_finish(vanishing));
    }
}

/* A watch that broke goes on at the revision at which it broke. If etcd has compacted this revision
 * by then, the waiters look by themselves. */
void is_told_after_a_cut(const char *variant)
{
    for (int compacts = 0; compacts < 2; compacts++) {
        dlock_options opts = rig_options(variant);
        struct rig_pair pair = open_cut_and_whole(opts);
        const char *name = rig_name();
        struct rig_helper *waiter;
        dlock_lease lease;

        assert_status(OK, dlock_acquire(pair.b, name, 0, &lease));
        waiter = rig_helper_start(pair.a, name, -1);
        rig_let_wait(pair.b, name, LATE_MS);
        cutter_refuse();
        assert_status(OK, dlock_release(pair.b, &lease));
        if (compacts)
            keys_compact();
        assert_stays(!rig_helper_is_done(waiter), TOLD_MS);
        cutter_open();
        assert_status(OK, rig_helper_acquired(waiter));
        assert_status(OK, rig_helper_finish(waiter));
        rig_close_systems();
        cutter_stop();
    }
}

/* The answer to the request that puts a key is lost. The end of the lease deletes the key, also if
 * the key is put late. */
void a_lost_answer_leaves_no_key(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease lease;
    dlock_status st;

    opts.etcd_timeout_ms = HASTE_MS;
    pair = open_cut_and_whole(opts);
    assert_comes(rig_try(pair.a, name) == DLOCK_OK); /* the system has its lease now */
    cutter_set(CUTTER_DEAF);
    st = dlock_acquire(pair.a, name, 0, &lease);
    assert_int_equal(DLOCK_UNKNOWN, st);
    cutter_cut();
    /* A later acquire ends the lease of the lost one. */
    assert_comes(rig_try(pair.a, rig_name()) == DLOCK_OK);
    assert_comes(keys_count(name) == 0);
    assert_comes(rig_try(pair.b, name) == DLOCK_OK);
}

/* etcd cannot be reached for as long as a release tries. The library revokes the lease later, so
 * that a waiter of the same process gets the lock. */
void a_failed_release_lets_the_next_in(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_helper *waiter;
    struct rig_pair pair;
    dlock_lease lease;

    opts.etcd_timeout_ms = HASTE_MS;
    opts.lease_ms = 10 * PATIENCE_MS; /* so that the lease does not end by itself */
    pair = open_cut_and_whole(opts);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    waiter = rig_helper_start(pair.a, name, -1);
    rig_let_wait(pair.b, name, LATE_MS);
    cutter_refuse();
    assert_true(dlock_is_failure(dlock_release(pair.a, &lease)));
    cutter_open();
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
    assert_comes(keys_count(name) == 0);
}

/* The number of requests of MANY pairs of acquire and release, after the lease was granted. On a
 * busy machine etcd may renew the lease late, which costs one more request. So the fewest requests
 * of several tries count. Returns the time of the fastest. */
static int64_t measure_pairs(dlock_system *sys, const char *name, uint64_t *acquires,
                             uint64_t *releases)
{
    dlock_metrics before, after;
    int64_t least_ms = INT64_MAX;

    *acquires = *releases = UINT64_MAX;
    for (int try = 0; try < TRIES && (*acquires > MANY || *releases > MANY); try++) {
        int64_t begun_ms = rig_now_ms();

        dlock_metrics_read(sys, &before);
        for (int i = 0; i < MANY; i++)
            assert_status(OK, rig_try(sys, name));
        dlock_metrics_read(sys, &after);
        *acquires = after.acquire_commands - before.acquire_commands;
        *releases = after.other_commands - before.other_commands;
        if (rig_now_ms() - begun_ms < least_ms)
            least_ms = rig_now_ms() - begun_ms;
    }
    return least_ms;
}

/* A lease serves several acquires, so an acquire is one request, and so is a release. A refused
 * acquire is one request too: it must write nothing that it would have to delete. */
void costs_two_requests(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    uint64_t acquires, releases;
    dlock_metrics before, after;
    dlock_lease lease;
    int64_t took_ms;

    assert_status(OK, rig_try(pair.a, name));
    assert_status(OK, rig_try(pair.b, name)); /* both systems have a lease now */
    premise_watch_pace();
    took_ms = measure_pairs(pair.a, name, &acquires, &releases);
    assert_provided(is_steady(LATE_MS) && took_ms < LATE_MS, acquires == MANY);
    assert_provided(is_steady(LATE_MS) && took_ms < LATE_MS, releases == MANY);
    acquires = 0;
    for (int try = 0; try < TRIES && acquires != 1; try++) {
        assert_status(OK, rig_try(pair.b, name)); /* its lease may have become too short */
        assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
        dlock_metrics_read(pair.b, &before);
        assert_status(BUSY, rig_try(pair.b, name));
        dlock_metrics_read(pair.b, &after);
        assert_status(OK, dlock_release(pair.a, &lease));
        acquires = after.acquire_commands - before.acquire_commands;
    }
    assert_provided(is_steady(LATE_MS), acquires == 1);
}

/* After releases and ended waits, nothing of these locks is left in etcd. */
void leaves_no_keys(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    dlock_lease lease, none;

    for (int i = 0; i < MANY; i++) {
        const char *name = rig_name();

        assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
        if (i % 8 == 0)
            assert_status(TIMEOUT, dlock_acquire(pair.b, name, 10, &none));
        else
            assert_status(BUSY, rig_try(pair.b, name));
        assert_status(OK, dlock_release(pair.a, &lease));
        assert_int_equal(0, keys_count(name));
    }
}

/* Start waiters, each for a lock of its own, or all for one lock. */
static void start_waiters(dlock_system *sys, struct rig_helper **waiters, const char *name,
                         bool is_one)
{
    char own[DLOCK_NAME_MAX + 1];

    for (int i = 0; i < WAITERS; i++) {
        snprintf(own, sizeof(own), "%s:%d", name, i);
        waiters[i] = rig_helper_start(sys, is_one ? name : own, -1);
    }
}

static void release_waiters(struct rig_helper *const *waiters)
{
    for (int i = 0; i < WAITERS; i++)
        rig_helper_begin_release(waiters[i]);
    for (int i = 0; i < WAITERS; i++)
        assert_status(OK, rig_helper_finish(waiters[i]));
}

/* The library sends requests of many threads in one transaction, and all keys of a transaction have
 * one create revision. Two keys of one lock with one revision would both be the oldest. */
void gives_each_key_a_revision(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    struct rig_helper *waiters[WAITERS];

    for (int round = 0; round < 4; round++) {
        const char *name = rig_name();

        /* Each gets a lease, so that later all ask at once. */
        start_waiters(sys, waiters, name, false);
        release_waiters(waiters);
        start_waiters(sys, waiters, name, true);
        assert_comes(keys_count(name) == WAITERS);
        assert_true(keys_have_a_revision_each(name));
        release_waiters(waiters);
        assert_int_equal(0, keys_count(name));
    }
}

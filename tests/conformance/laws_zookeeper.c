/* SPDX-License-Identifier: MIT */
/* laws_zookeeper.c -- locks that live with a session of ZooKeeper. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/cutter.h"
#include "tests/conformance/laws.h"
#include "tests/conformance/nodes.h"

enum { MANY = 40, WAITERS = 3 };

#define SESSION_MS STRETCHED(1500)
#define HASTE_MS STRETCHED(300)

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

static void expect_told(dlock_options *opts)
{
    atomic_store(&told.count, 0);
    opts->on_lost = tell;
}

/* A system behind the cutter, and a system without the cutter. */
static struct rig_pair open_cut_and_whole(dlock_options opts)
{
    const char *target = opts.zookeeper_url;
    struct rig_pair pair;

    opts.zookeeper_url = cutter_start(target);
    pair.a = rig_open(&opts);
    opts = rig_options(opts.variant);
    pair.b = rig_open(&opts);
    return pair;
}

static void assert_refused(const dlock_options *opts, dlock_status want,
                           const char *why)
{
    dlock_system *sys = NULL;
    dlock_status got = dlock_open(&sys, opts);

    if (got != want || strstr(dlock_error(), why) == NULL)
        print_error("%s: %s: %s\n",
                    opts->zookeeper_url != NULL ? opts->zookeeper_url : "(none)",
                    dlock_status_id(got), dlock_error());
    assert_int_equal(want, got);
    assert_null(sys);
    assert_non_null(strstr(dlock_error(), why));
}

void refuses_bad_zookeeper_urls(const char *variant)
{
    static const char *const bad[] = {"localhost",    "localhost:",   ":2181",
                                      "a:0",          "a:65536",      "a:2181x",
                                      "a:2181,",      "a:1,,b:2",     "a:2181/",
                                      "a:2181/b/",    "a:2181//b",    "a b:2181",
                                      "a:2181,b:/c",  "redis://a:1"};
    dlock_options opts = rig_options(variant);
    char url[120];

    opts.zookeeper_url = NULL;
    assert_refused(&opts, DLOCK_INVALID, "URL");
    opts.zookeeper_url = "";
    assert_refused(&opts, DLOCK_INVALID, "URL");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        opts.zookeeper_url = bad[i];
        assert_refused(&opts, DLOCK_INVALID, "URL");
    }
    snprintf(url, sizeof(url), "%s/nobody/made/this", getenv("SECKILL_ZOOKEEPER_URL"));
    opts.zookeeper_url = url;
    assert_refused(&opts, DLOCK_PROTOCOL, "chroot");
    opts.zookeeper_timeout_ms = 300;
    opts.zookeeper_url = "127.0.0.1:1";
    assert_refused(&opts, DLOCK_IO, "127.0.0.1:1");
    opts.zookeeper_timeout_ms = 0;
    assert_refused(&opts, DLOCK_INVALID, "timeout");
}

void ends_with_its_session(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease lease;

    expect_told(&opts);
    pair = rig_open_pair(&opts);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_stays(dlock_lease_valid(pair.a, &lease), 3 * 100); /* for several looks at the session */
    assert_true(dlock_lease_left_ms(pair.a, &lease) == INT64_MAX);
    nodes_expire(pair.a);
    assert_comes(rig_try(pair.b, name) == DLOCK_OK);
    assert_comes(!dlock_lease_valid(pair.a, &lease));
    assert_int_equal(0, dlock_lease_left_ms(pair.a, &lease));
    assert_comes(atomic_load(&told.count) == 1);
    assert_string_equal(name, told.name);
    assert_status(LOST, dlock_release(pair.a, &lease));
    assert_comes(rig_try(pair.a, name) == DLOCK_OK);
    assert_stays(atomic_load(&told.count) == 1, 3 * 100);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_stays(dlock_lease_valid(pair.a, &lease), 3 * 100);
    assert_status(BUSY, rig_try(pair.b, name));
    assert_status(OK, dlock_release(pair.a, &lease));
}

/* Packets are lost and no error is reported. The holder has to know from its clock alone that its
 * lease has ended, before the server can grant the lock to another owner. */
void a_silent_network_ends_validity_first(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease lease, next;
    bool is_gone = false;

    opts.lease_ms = SESSION_MS;
    expect_told(&opts);
    premise_watch_pace();
    pair = open_cut_and_whole(opts);
    assert_comes(dlock_acquire(pair.a, name, 0, &lease) == DLOCK_OK);
    assert_stays_provided(is_steady(SESSION_MS), dlock_lease_valid(pair.a, &lease),
                          SESSION_MS + SESSION_MS / 2);
    cutter_set(CUTTER_SILENT);
    while (!is_gone) {
        is_gone = nodes_count_of(variant, name) == 0;
        if (is_gone) {
            assert_false(dlock_lease_valid(pair.a, &lease));
            assert_int_equal(0, dlock_lease_left_ms(pair.a, &lease));
        }
    }
    assert_comes(atomic_load(&told.count) == 1);
    assert_status(OK, dlock_acquire(pair.b, name, 0, &next));
    cutter_cut();
    assert_status(LOST, dlock_release(pair.a, &lease));
    assert_comes(rig_try(pair.a, name) == DLOCK_BUSY);
    assert_true(dlock_lease_valid(pair.b, &next));
    assert_status(OK, dlock_release(pair.b, &next));
    assert_comes(rig_try(pair.a, name) == DLOCK_OK);
}

void survives_a_cut_connection(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    const char *other_name = rig_name();
    char before[512];
    struct rig_pair pair;
    struct rig_helper *waiter;
    dlock_lease lease, other;

    expect_told(&opts);
    pair = open_cut_and_whole(opts);
    assert_status(OK, dlock_acquire(pair.b, name, 0, &other));
    assert_status(OK, dlock_acquire(pair.a, other_name, 0, &lease));
    waiter = rig_helper_start(pair.a, name, -1);
    if (rig_caps(variant) & DLOCK_CAP_FAIR)
        assert_comes(nodes_count_of(variant, name) == 2);
    assert_stays(!rig_helper_is_done(waiter), 100);
    snprintf(before, sizeof(before), "%s", nodes_children(nodes_path(variant, name)));
    for (int i = 0; i < 3; i++) {
        cutter_cut();
        assert_true(dlock_lease_valid(pair.a, &lease));
        assert_status(BUSY, rig_try_elsewhere(pair.a, other_name));
        assert_status(BUSY, rig_try(pair.b, other_name));
        assert_false(rig_helper_is_done(waiter));
    }
    assert_string_equal(before, nodes_children(nodes_path(variant, name)));
    assert_status(OK, dlock_release(pair.b, &other));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_int_equal(0, atomic_load(&told.count));
    assert_status(OK, rig_try(pair.b, other_name));
}

/* The server makes the node, and the reply does not reach the client: first in time for the client
 * to find its node, and then too late. */
void a_lost_reply_leaves_no_node(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    const char *kept_name = rig_name();
    struct rig_pair pair;
    struct rig_helper *helper;
    dlock_lease kept;

    opts.zookeeper_timeout_ms = PATIENCE_MS;
    pair = open_cut_and_whole(opts);
    cutter_set(CUTTER_DEAF);
    helper = rig_helper_start(pair.a, name, -1);
    assert_comes(nodes_count_of(variant, name) == 1);
    cutter_cut();
    assert_status(OK, rig_helper_acquired(helper));
    assert_true(rig_helper_fence(helper) > 0);
    assert_int_equal(1, nodes_count_of(variant, name));
    assert_status(BUSY, rig_try(pair.b, name));
    assert_status(OK, rig_helper_finish(helper));
    assert_int_equal(0, nodes_count_of(variant, name));
    assert_status(OK, rig_try(pair.b, name));

    cutter_stop();
    opts.zookeeper_timeout_ms = HASTE_MS;
    premise_watch_pace();
    pair = open_cut_and_whole(opts);
    assert_status_provided(is_steady(HASTE_MS), OK,
                           dlock_acquire(pair.a, kept_name, 0, &kept));
    cutter_set(CUTTER_DEAF);
    helper = rig_helper_start(pair.a, name, HASTE_MS);
    assert_status_provided(is_steady(HASTE_MS), UNKNOWN, rig_helper_acquired(helper));
    rig_helper_finish(helper);
    assert_provided(is_steady(HASTE_MS), nodes_count_of(variant, name) == 1);
    assert_status(BUSY, rig_try(pair.b, name));
    cutter_cut();
    assert_comes(nodes_count_of(variant, name) == 0);
    assert_status(OK, rig_try(pair.b, name));
    assert_comes(rig_try(pair.a, name) == DLOCK_OK);
    /* The session was not given up for that. */
    assert_true(dlock_lease_valid(pair.a, &kept));
    assert_status_provided(is_steady(HASTE_MS), OK, dlock_release(pair.a, &kept));
}

/* A client whose reply was lost finds its own place among the places of others. */
void a_lost_reply_adopts_nobody(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_helper *others[WAITERS];
    char before[512];
    struct rig_pair pair;
    dlock_lease lease;

    opts.zookeeper_timeout_ms = PATIENCE_MS;
    pair = open_cut_and_whole(opts);
    assert_status(OK, dlock_acquire(pair.b, name, 0, &lease));
    for (int i = 0; i < WAITERS; i++)
        others[i] = rig_helper_start(pair.b, name, -1);
    assert_comes(nodes_count_of(variant, name) == 1 + WAITERS);
    snprintf(before, sizeof(before), "%s", nodes_children(nodes_path(variant, name)));
    for (int i = 0; i < 3; i++) { /* several tries, since the server lists the nodes in any order */
        struct rig_helper *helper;

        cutter_set(CUTTER_DEAF);
        helper = rig_helper_start(pair.a, name, HASTE_MS);
        assert_comes(nodes_count_of(variant, name) == 2 + WAITERS ||
                     rig_helper_is_done(helper));
        presume(!rig_helper_is_done(helper)); /* the helper has its place, and still waits */
        cutter_cut();
        assert_status(TIMEOUT, rig_helper_acquired(helper));
        rig_helper_finish(helper);
        assert_string_equal(before, nodes_children(nodes_path(variant, name)));
    }
    for (int i = 0; i < WAITERS; i++)
        rig_helper_begin_release(others[i]);
    assert_status(OK, dlock_release(pair.b, &lease));
    for (int i = 0; i < WAITERS; i++) {
        assert_status(OK, rig_helper_acquired(others[i]));
        assert_status(OK, rig_helper_finish(others[i]));
    }
    assert_int_equal(0, nodes_count_of(variant, name));
}

static void use_many_names(const struct rig_pair *pair, const char *root, int unused)
{
    dlock_lease lease;
    dlock_lease late;

    for (int i = 0; i < MANY; i++) {
        const char *name = rig_name();

        assert_status(OK, dlock_acquire(pair->a, name, 0, &lease));
        if (i == 0)
            assert_true(nodes_count_below(root) > unused);
        assert_status(BUSY, rig_try(pair->b, name));
        if (i % 10 == 0)
            assert_status(TIMEOUT, dlock_acquire(pair->b, name, 20, &late));
        assert_status(OK, dlock_release(pair->a, &lease));
    }
}

void leaves_no_node_of_many_names(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair;
    char url[120];
    const char *root = nodes_make_root();
    int before;

    snprintf(url, sizeof(url), "%s%s", opts.zookeeper_url, root);
    opts.zookeeper_url = url;
    pair = rig_open_pair(&opts);
    before = nodes_count_below(root);
    assert_int_equal(2, before); /* the directories of the library and of the variant */
    use_many_names(&pair, root, before);
    assert_comes(nodes_count_below(root) == before);
}

/* The node is deleted by hand, and another client takes the lock. The lease of the first holder is
 * void, and none of its releases frees the lock of the other client. */
void frees_no_other_after_a_removal(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease lease, next;

    for (int i = 0; i < 2; i++) {
        dlock_system *other = i == 0 ? pair.b : pair.a;
        struct rig_helper *helper;

        assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
        nodes_remove(variant, name);
        if (i == 0) {
            assert_status(OK, dlock_acquire(other, name, 0, &next));
            assert_status(LOST, dlock_release(pair.a, &lease));
            assert_int_equal(1, nodes_count_of(variant, name));
            assert_status(OK, dlock_release(other, &next));
        } else { /* also within the same session */
            helper = rig_helper_start(other, name, -1);
            assert_status(OK, rig_helper_acquired(helper));
            assert_status(LOST, dlock_release(pair.a, &lease));
            assert_int_equal(1, nodes_count_of(variant, name));
            assert_status(OK, rig_helper_finish(helper));
        }
        assert_int_equal(0, nodes_count_of(variant, name));
    }
}

void keeps_odd_names_apart(const char *variant)
{
    static const char *const odd[] = {"a/b", "a%2Fb", ".", "..", "../x", "a b",
                                      "\xff\xfe", "\xc3\xa4", "a//b", "/", "%", "A"};
    enum { ODD = sizeof(odd) / sizeof(odd[0]) };
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    char names[ODD + 1][DLOCK_NAME_MAX + 1];
    dlock_lease leases[ODD + 1];

    for (int i = 0; i < ODD; i++)
        snprintf(names[i], sizeof(names[i]), "%s", odd[i]);
    memset(names[ODD], '/', DLOCK_NAME_MAX); /* the longest name */
    names[ODD][DLOCK_NAME_MAX] = '\0';
    /* Another program may use the same server, so the names are made unique. */
    for (int i = 0; i <= ODD; i++)
        assert_status(OK, dlock_acquire(pair.a, names[i], PATIENCE_MS, &leases[i]));
    for (int i = 0; i <= ODD; i++)
        assert_status(BUSY, rig_try(pair.b, names[i]));
    for (int i = 0; i <= ODD; i++)
        assert_status(OK, dlock_release(pair.a, &leases[i]));
}

void writes_its_level(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    char node[1000];
    char want[DLOCK_OWNER_MAX + 16];
    dlock_lease outer, inner;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &outer));
    snprintf(node, sizeof(node), "%s/%s", nodes_path(variant, name),
             nodes_children(nodes_path(variant, name)));
    for (int level = 1; level <= 2; level++) {
        snprintf(want, sizeof(want), "%s %d", outer.owner, level);
        assert_string_equal(want, nodes_data(node));
        if (level == 1)
            assert_status(OK, dlock_acquire(pair.a, name, 0, &inner));
    }
    assert_int_equal(1, nodes_count_of(variant, name));
    assert_status(OK, dlock_release(pair.a, &inner));
    snprintf(want, sizeof(want), "%s 1", outer.owner);
    assert_string_equal(want, nodes_data(node));
    assert_status(BUSY, rig_try(pair.b, name));
    /* The node is deleted by hand. The next acquire notices this, and starts again at level 1. */
    nodes_delete(node);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &inner));
    assert_false(dlock_lease_valid(pair.a, &outer));
    assert_status(BUSY, rig_try(pair.b, name));
    assert_status(LOST, dlock_release(pair.a, &outer));
    assert_status(BUSY, rig_try(pair.b, name));
    assert_status(OK, dlock_release(pair.a, &inner));
    assert_status(OK, rig_try(pair.b, name));
}

/* SPDX-License-Identifier: MIT */
/* laws_zookeeper_odd.c -- foreign nodes in the directories of locks, answers about other nodes, and
 * rights that an ACL takes away. */
#include <stdio.h>
#include <string.h>

#include "lock/stores/zookeeper_path.h"
#include "tests/conformance/cutter.h"
#include "tests/conformance/laws.h"
#include "tests/conformance/nodes.h"

enum { WAIT_MS = 45000, SHORT_WAIT_MS = 50, LONG_LEN = 4000 };

#define TOKEN "0123456789abcdef0123456789abcdef"

/* Names without a number, with half a token, and with a number that no server writes. */
static const char *const ODD_PLACES[] = {
    "x", "0000000000", "c-", "c-0000000001", "c-" TOKEN, "c-" TOKEN "-",
    "c-" TOKEN "-000000001", "c-" TOKEN "-00000000001", "c-" TOKEN "-2147483648",
    "c-" TOKEN "--2147483649", "c-" TOKEN "-+000000001", "c-" TOKEN "- 000000001",
    "c-" TOKEN "-000000001x", "c-" TOKEN "0-0000000001", "c-0123-0000000001",
};

static void assert_refuses_place(const char *variant, const char *odd)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    char path[ZOOKEEPER_PATH_SIZE];
    struct rig_helper *waiter;
    dlock_lease lease;
    dlock_info info;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    zookeeper_path_join(path, nodes_path(variant, name), odd);
    nodes_make(path, "", 0);
    assert_status(PROTOCOL, rig_try(pair.b, name));
    waiter = rig_helper_start(pair.b, name, WAIT_MS);
    assert_status(PROTOCOL, rig_helper_acquired(waiter));
    rig_helper_finish(waiter);
    assert_comes(nodes_count_of(variant, name) == 2); /* the holder's node, and the foreign one */
    assert_status(PROTOCOL, dlock_inspect(pair.a, name, &info));
    assert_non_null(strstr(dlock_error(), odd));
    assert_status(PROTOCOL, dlock_force_release(pair.b, name));
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(PROTOCOL, rig_try(pair.b, name));
    nodes_delete(path);
    assert_comes(rig_try(pair.b, name) == DLOCK_OK);
    rig_close_systems();
}

void believes_no_odd_place(const char *variant)
{
    for (size_t i = 0; i < sizeof(ODD_PLACES) / sizeof(ODD_PLACES[0]); i++)
        assert_refuses_place(variant, ODD_PLACES[i]);
}

/* Another client made the node, or wrote its data. The lock is held, and the library must not
 * delete this node. */
static void assert_leaves_node(const char *variant, const char *data, int len)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    struct rig_helper *waiter;
    dlock_lease lease;
    dlock_info info;

    nodes_make(nodes_path(variant, name), data, len);
    assert_status(BUSY, rig_try(sys, name));
    waiter = rig_helper_start(sys, name, SHORT_WAIT_MS);
    assert_status(TIMEOUT, rig_helper_acquired(waiter));
    rig_helper_finish(waiter);
    assert_status(OK, dlock_inspect(sys, name, &info));
    assert_true(info.locked && info.hold_count == 1);
    nodes_delete(nodes_path(variant, name));
    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    nodes_write(nodes_path(variant, name), data, len);
    assert_status(LOST, dlock_release(sys, &lease));
    assert_true(nodes_exists(nodes_path(variant, name)));
    nodes_delete(nodes_path(variant, name));
    rig_close_systems();
}

void believes_no_odd_node(const char *variant)
{
    static char much[LONG_LEN];

    memset(much, '1', sizeof(much));
    assert_leaves_node(variant, "", 0);
    assert_leaves_node(variant, "\0\0 7", 4);
    assert_leaves_node(variant, "somebody", 8);
    assert_leaves_node(variant, "me 99999999999999999999", 23);
    assert_leaves_node(variant, "me -5", 5);
    assert_leaves_node(variant, much, sizeof(much));
}

/* The numbers of a queue have passed the greatest one. The place with a negative number stands
 * behind the others, and is the first after them. */
void reads_a_negative_place(const char *variant)
{
    static const char *const NEGATIVE[] = {"c-" TOKEN "--2147483648", "c-" TOKEN "--999999999",
                                           "c-" TOKEN "--000000001"};
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    char path[ZOOKEEPER_PATH_SIZE];
    const char *name = rig_name();
    dlock_lease lease;
    dlock_info info;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    for (size_t i = 0; i < sizeof(NEGATIVE) / sizeof(NEGATIVE[0]); i++) {
        zookeeper_path_join(path, nodes_path(variant, name), NEGATIVE[i]);
        nodes_make(path, "somebody 1", 10);
    }
    assert_status(BUSY, rig_try(pair.b, name));
    assert_status(OK, dlock_inspect(pair.b, name, &info));
    assert_string_equal(lease.owner, info.owner);
    assert_int_equal(3, info.waiter_count);
    assert_status(OK, dlock_release(pair.a, &lease));
    for (size_t i = 0; i < sizeof(NEGATIVE) / sizeof(NEGATIVE[0]); i++) {
        assert_status(BUSY, rig_try(pair.b, name));
        assert_status(OK, dlock_force_release(pair.b, name));
        zookeeper_path_join(path, nodes_path(variant, name), NEGATIVE[i]);
        assert_false(nodes_exists(path));
    }
    assert_status(OK, rig_try(pair.b, name));
}

/* The server made the node, and its answer names the node of another lock. The library must not
 * take that for a grant, and must leave no node. */
void believes_no_answer_about_another_node(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *straight = rig_open(&opts);
    static char name[DLOCK_NAME_MAX + 1], other[DLOCK_NAME_MAX + 1]; /* the cutter reads them */
    dlock_system *lied_to;
    dlock_lease lease;

    snprintf(name, sizeof(name), "%s", rig_name());
    snprintf(other, sizeof(other), "%s", name);
    other[strlen(other) - 1] = '_';
    opts.zookeeper_url = cutter_start(opts.zookeeper_url);
    lied_to = rig_open(&opts);
    cutter_replace(name, other);
    assert_status(PROTOCOL, rig_try(lied_to, name));
    assert_non_null(strstr(dlock_error(), "another node"));
    assert_comes(nodes_count_of(variant, name) == 0);
    cutter_replace(NULL, NULL);
    assert_status(OK, dlock_acquire(lied_to, name, 0, &lease));
    assert_status(BUSY, rig_try(straight, name));
    assert_status(OK, dlock_release(lied_to, &lease));
    assert_status(OK, rig_try(straight, name));
}

/* Systems whose nodes are below a directory of this law. *locks: the directory of the locks. */
static struct rig_pair open_below_root(const char *variant, char locks[ZOOKEEPER_PATH_SIZE])
{
    static char url[120];
    dlock_options opts = rig_options(variant);
    const char *root = nodes_make_root();

    snprintf(url, sizeof(url), "%s%s", opts.zookeeper_url, root);
    snprintf(locks, ZOOKEEPER_PATH_SIZE, "%s%s", root, nodes_path(variant, "x"));
    *strrchr(locks, '/') = '\0';
    opts.zookeeper_url = url;
    opts.lease_ms = KEPT_LEASE_MS;
    return rig_open_pair(&opts);
}

/* An ACL refuses the deletes for a moment, of the holder's node and of a waiter's. Their session
 * goes on, so nothing else would end them. */
void frees_what_it_may_delete_again(const char *variant)
{
    char dir[ZOOKEEPER_PATH_SIZE];
    struct rig_pair pair = open_below_root(variant, dir);
    const char *name = rig_name();
    struct rig_helper *waiter;
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    waiter = rig_helper_start(pair.a, name, SHORT_WAIT_MS);
    if (rig_is(variant, "zk-seq"))
        strcat(strcat(dir, "/"), name);
    nodes_forbid(dir, NODES_DELETE);
    assert_status(PROTOCOL, dlock_release(pair.a, &lease));
    assert_true(rig_helper_acquired(waiter) != DLOCK_OK);
    (void)rig_helper_finish(waiter);
    assert_status(BUSY, rig_try(pair.b, name));
    nodes_forbid(dir, 0);
    assert_comes(rig_try(pair.b, name) == DLOCK_OK);
    assert_comes(rig_try(pair.a, name) == DLOCK_OK);
}

void names_a_directory_that_it_may_not_make(const char *variant)
{
    char locks[ZOOKEEPER_PATH_SIZE];
    struct rig_pair pair = open_below_root(variant, locks);
    struct rig_helper *waiter;

    nodes_forbid(locks, NODES_CREATE);
    assert_status(PROTOCOL, rig_try(pair.a, rig_name()));
    assert_non_null(strstr(dlock_error(), rig_is(variant, "zk-seq")
                                              ? "make the directory of a lock: an ACL denies it"
                                              : "make the node of a lock: an ACL denies it"));
    waiter = rig_helper_start(pair.a, rig_name(), -1);
    assert_status(PROTOCOL, rig_helper_acquired(waiter));
    (void)rig_helper_finish(waiter);
    nodes_forbid(locks, 0);
    assert_status(OK, rig_try(pair.a, rig_name()));
}

/* SPDX-License-Identifier: MIT */
/* laws_arguments.c -- calls that are refused before a request is sent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/conformance/forked.h"
#include "tests/conformance/laws.h"

void refuses_bad_names(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    static const char *const bad[] = {NULL, "", "a\nb", "a\x7f", "\x01"};
    char name[DLOCK_NAME_MAX + 2];
    dlock_lease lease = {.fence = 77};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_status(INVALID, dlock_acquire(sys, bad[i], 0, &lease));
        assert_string_not_equal("", dlock_error());
    }
    memset(name, 'n', sizeof(name));
    name[DLOCK_NAME_MAX + 1] = '\0';
    assert_status(INVALID, dlock_acquire(sys, name, -1, &lease));
    assert_string_not_equal("", dlock_error());
    assert_int_equal(77, lease.fence);
    name[DLOCK_NAME_MAX] = '\0';
    memcpy(name, rig_name(), strlen(rig_name()));
    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    assert_string_equal(name, lease.name);
    assert_status(OK, dlock_release(sys, &lease));
    /* Redis, Lua and printf give these bytes a meaning; the library must not. */
    strcpy(name, rig_name()); /* unique, since another program may use the same servers */
    /* On a cluster, the text in braces decides the slot, so it is "a" there. */
    strcat(name, rig_is_on_cluster() ? " {a} %s %n '\"[]* \xc3\xa9\xff"
                                     : " %s %n '\"{}[]* \xc3\xa9\xff");
    assert_status(OK, rig_try(sys, name));
    assert_status(INVALID, dlock_open(NULL, &opts));
    dlock_options_init(NULL, sizeof(opts));
    dlock_metrics_read(sys, NULL);
    assert_status(INVALID, dlock_acquire(NULL, "name", 0, &lease));
    assert_status(INVALID, dlock_acquire(sys, "name", 0, NULL));
    assert_status(INVALID, dlock_check(NULL));
    assert_false(dlock_lease_valid(NULL, &lease));
    assert_status(OK, dlock_check(sys));
}

static void assert_refused(const dlock_options *opts, const char *text)
{
    dlock_system *sys = (dlock_system *)opts; /* any pointer but NULL */

    assert_status(INVALID, dlock_open(&sys, opts));
    assert_null(sys);
    if (strstr(dlock_error(), text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", dlock_error(), text);
}

void refuses_bad_options(const char *variant)
{
    dlock_options good = rig_options(variant);
    dlock_options opts = good;

    opts.lease_ms = DLOCK_LEASE_MIN_MS - 1;
    assert_refused(&opts, "lease");
    opts.lease_ms = -5;
    assert_refused(&opts, "lease");
    opts = good;
    opts.redis_timeout_ms = 0;
    assert_refused(&opts, "timeout");
    opts = good;
    opts.redlock_node_timeout_ms = -1;
    assert_refused(&opts, "timeout");
    opts = good;
    opts.retry = "now and then";
    assert_refused(&opts, "now and then");
    assert_refused(&opts, "expected none, push, fixed:TIME");
    opts = good;
    opts.variant = "nosuch";
    assert_refused(&opts, "nosuch");
    assert_refused(&opts, "reentrant");
    opts.variant = NULL;
    assert_refused(&opts, "variant");
    assert_refused(NULL, "options");
}

void refuses_bad_urls(const char *variant)
{
    static const char *const bad[] = {NULL, "", "http://127.0.0.1:1", "redis://",
                                      "redis://127.0.0.1:0", "redis://h:1/x"};
    dlock_options opts = rig_options(variant);
    bool many = rig_uses_nodes(variant);
    dlock_system *sys = NULL;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        opts.redis_url = opts.redlock_urls = bad[i];
        assert_refused(&opts, "URL");
    }
    if (many) {
        opts.redlock_urls = "redis://127.0.0.1:7001,redis://127.0.0.1:7001";
        assert_refused(&opts, "twice");
        opts.redlock_urls = "redis://127.0.0.1:7001,,redis://127.0.0.1:7002";
        assert_refused(&opts, "empty");
    }
    /* An address at which no server answers is no mistake of the caller. */
    opts.redis_url = opts.redlock_urls = "unix:///nonexistent/redis.sock";
    assert_status(IO, dlock_open(&sys, &opts));
    assert_null(sys);
    assert_non_null(strstr(dlock_error(), "/nonexistent/redis.sock"));
}

/* The objects of the parent that a child inherits by fork(). */
struct inheritance {
    const dlock_options *opts;
    dlock_system *sys;
    dlock_lease *lease;
};

/* In the child: a system that the child opens works, and learns of the parent's locks only from the
 * store. */
static int use_own(const struct inheritance *parent)
{
    const dlock_options *opts = parent->opts;
    bool excluded = rig_caps(opts->variant) & DLOCK_CAP_EXCLUSIVE;
    char name[DLOCK_NAME_MAX + 1];
    dlock_system *sys = NULL;

#ifdef __SANITIZE_THREAD__
    /* ThreadSanitizer cannot follow a thread that a forked child of a process with threads starts,
     * and the library looks after session locks by such a thread. */
    if (rig_caps(opts->variant) & DLOCK_CAP_SESSION)
        return 0;
#endif
    if (dlock_open(&sys, opts) != DLOCK_OK)
        return 7;
    if (rig_try(sys, parent->lease->name) != (excluded ? DLOCK_BUSY : DLOCK_OK))
        return 8;
    /* A predecessor that was killed may have left its lock, so each child has a name of its own. */
    snprintf(name, sizeof(name), "%s:%d", rig_name(), (int)getpid());
    if (rig_try(sys, name) != DLOCK_OK)
        return 9;
    dlock_close(sys);
    return 0;
}

/* In the child: try each call with the inherited system. The exit code tells which call was not
 * refused. */
static int use_inherited(dlock_system *sys, dlock_lease *lease)
{
    dlock_lease another;

    if (dlock_acquire(sys, "conformance:child", 0, &another) != DLOCK_INVALID)
        return 1;
    if (dlock_error()[0] == '\0')
        return 2;
    if (dlock_lease_valid(sys, lease) || dlock_lease_left_ms(sys, lease) != 0)
        return 3;
    if (dlock_renew(sys, lease) != DLOCK_INVALID)
        return 4;
    if (dlock_release(sys, lease) != DLOCK_INVALID)
        return 5;
    if (dlock_check(sys) != DLOCK_INVALID)
        return 6;
    dlock_close(sys);
    return 0;
}

static int be_a_child(void *data)
{
    const struct inheritance *parent = data;
    int failed = use_inherited(parent->sys, parent->lease);

    return failed != 0 ? failed : use_own(parent);
}

void is_closed_to_a_forked_child(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease lease;
    struct inheritance child = {&opts, pair.a, &lease};

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_int_equal(0, forked_answer(be_a_child, &child));
    /* The child's calls took nothing from the parent. */
    assert_true(dlock_lease_valid(pair.a, &lease));
    if (rig_caps(variant) & DLOCK_CAP_LOCAL)
        assert_status(BUSY, rig_try(pair.b, name));
    assert_status(OK, dlock_release(pair.a, &lease));
}

/* SPDX-License-Identifier: MIT */
/* laws_rights.c -- a user of Redis who lacks a right. */
#include <stdio.h>
#include <unistd.h>

#include "gen/lua_scripts.h"
#include "tests/conformance/database.h"
#include "tests/conformance/laws.h"

enum { WAIT_MS = 45000, AWAY_MS = 100 };

/* Change the rights of the user on every server of the law. */
static void set_rights(const char *rule)
{
    for (size_t i = 0; i < servers_found(); i++)
        servers_tell(i, "ACL SETUSER default %s", rule);
}

static void assert_lacks(dlock_status st, const char *right)
{
    assert_status(PROTOCOL, st);
    if (strstr(dlock_error(), right) == NULL)
        fail_msg("\"%s\" is not named: %s", right, dlock_error());
}

/* An opening and a check name the command that the user may not send, and no other. */
void names_a_missing_right(const char *variant)
{
    static const struct {
        const char *rule, *says;
        unsigned caps; /* of the locks that send the command */
    } RULES[] = {
        {"-evalsha", "the user has no right to EVALSHA", DLOCK_CAP_RENEW},
        {"-del", "the user has no right to DEL", 0},
        {"-pexpire", "the user has no right to PEXPIRE", DLOCK_CAP_RENEW},
        {"-eval", "has no permissions to run the 'eval' command", 0},
    };
    dlock_options opts = rig_options(variant);
    dlock_system *sys, *refused = NULL;
    dlock_info info;

    servers_start(&opts);
    sys = rig_open(&opts);
    for (size_t i = 0; i < sizeof(RULES) / sizeof(RULES[0]); i++) {
        if (~rig_caps(variant) & RULES[i].caps)
            continue;
        set_rights(RULES[i].rule);
        assert_lacks(dlock_open(&refused, &opts), RULES[i].says);
        assert_null(refused);
        assert_lacks(dlock_check(sys), RULES[i].says);
        set_rights("+@all");
        assert_status(OK, dlock_check(sys));
    }
    if (rig_uses_nodes(variant)) {
        set_rights("-eval");
        assert_status(PROTOCOL, dlock_inspect(sys, rig_name(), &info));
        set_rights("+eval");
    }
    if (is_tried_with_a_replica(variant)) {
        dlock_options acknowledged = opts;

        acknowledged.replicas_acknowledge = 1;
        set_rights("-wait");
        assert_lacks(dlock_open(&refused, &acknowledged), "the user has no right to WAIT");
        set_rights("+wait");
    }
    /* As on a server whose commands have other names. */
    assert_non_null(strstr(servers_tell(0, "EVAL %s 0 %s", LUA_RIGHTS, "SET MOVED GET")->str,
                           "the user has no right to MOVED (the server has no such command)"));
    /* The names of the locks are not known to a check, and keys of others are no right of it. */
    set_rights("resetkeys");
    set_rights("~*conformance:*");
    assert_status(OK, dlock_check(sys));
    assert_status(OK, rig_try(sys, rig_name()));
    set_rights("allkeys");
}

/* The objects to which the role has no right are of the law's own schema, which comes first in its
 * search_path, so no other client lacks a right. */
void names_a_missing_right_in_its_database(const char *variant)
{
    const char *right = rig_caps(variant) & DLOCK_CAP_FAIR ? "EXECUTE" : "USAGE";
    dlock_options opts = rig_options(variant);
    dlock_system *sys, *refused = NULL;
    char url[256], sql[512];

    snprintf(url, sizeof(url), "%s?options=-c%%20search_path%%3Drights_%d,public",
             opts.database_url, (int)getpid());
    opts.database_url = url;
    opts.database_pooler = "session"; /* else the library gives its own options */
    sys = rig_open(&opts);
    assert_status(OK, dlock_check(sys));
    snprintf(sql, sizeof(sql),
             "DO 'BEGIN CREATE SCHEMA rights_%d; GRANT USAGE ON SCHEMA rights_%d TO PUBLIC;"
             " SET search_path = rights_%d; CREATE SEQUENCE dlock_fence_epoch;"
             " CREATE FUNCTION dlock_queue_try(bytea, text, text, integer, integer, boolean)"
             " RETURNS bigint LANGUAGE sql RETURN 0;"
             " REVOKE EXECUTE ON FUNCTION dlock_queue_try FROM PUBLIC; END'",
             (int)getpid(), (int)getpid(), (int)getpid());
    (void)database_tell(sql, NULL);
    assert_lacks(dlock_open(&refused, &opts), right);
    assert_null(refused);
    assert_lacks(dlock_check(sys), right);
    snprintf(sql, sizeof(sql), "DROP SCHEMA rights_%d CASCADE", (int)getpid());
    (void)database_tell(sql, NULL);
    assert_status(OK, dlock_check(sys));
}

/* As the default of a user in Redis 7, who may use no channel. */
void a_refused_message_fails_no_release(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_helper *waiter;
    struct rig_pair pair;
    dlock_lease lease;

    servers_start(&opts);
    pair = rig_open_pair(&opts);
    servers_tell(0, "ACL SETUSER default resetchannels");
    assert_status(OK, dlock_check(pair.a));
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    waiter = rig_helper_start(pair.b, name, WAIT_MS);
    assert_stays(!rig_helper_is_done(waiter), AWAY_MS);
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_status(OK, dlock_force_release(pair.b, name));
    assert_status(LOST, dlock_release(pair.a, &lease));
}

/* The rules of docs/reference/stores.md, for locks whose names begin with "conformance:". */
static const char *rules_of(const char *variant)
{
    static const char OTHERS[] = /* naive, setnx, owner, watch, getset, lua, lua-local, redlock */
        "~conformance:* +set +setnx +get +getset +del +pexpire +pttl +watch +unwatch +multi +exec";
    static const struct {
        const char *variants, *rules;
    } RULES[] = {
        {"reentrant spin multi",
         "~conformance:* ~redisson_lock_* &redisson_lock__channel:* +hget +hset +hexists +hgetall"
         " +del +get +pexpire +pttl +publish +subscribe +unsubscribe +pubsub|numsub"},
        {"fenced",
         "~conformance:* ~redisson_lock_* ~dlock_fence_epoch:* &redisson_lock__channel:* +hget"
         " +hset +hexists +hgetall +del +get +set +incr +pexpire +pttl +publish +subscribe"
         " +unsubscribe +pubsub|numsub"},
        {"fair",
         "~conformance:* ~redisson_lock_* &redisson_lock__channel:* +hget +hset +hexists +hgetall"
         " +del +get +exists +pexpire +pttl +lindex +lpop +lrange +lrem +rpush +time +zadd +zcount"
         " +zrangebyscore +zrem +zscore +publish +subscribe +unsubscribe +pubsub|numsub"},
        {"rwlock",
         "~conformance:* ~{conformance:* ~redisson_rwlock:* &redisson_rwlock:* +hget +hset +hexists"
         " +hgetall +hdel +del +exists +set +pexpire +pttl +publish +subscribe +unsubscribe"
         " +pubsub|numsub"},
    };

    for (size_t i = 0; i < sizeof(RULES) / sizeof(RULES[0]); i++)
        if (strstr(RULES[i].variants, variant) != NULL)
            return RULES[i].rules;
    return OTHERS;
}

void needs_only_its_documented_rights(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_helper *waiter;
    struct rig_pair pair;
    char rules[512];
    char *at = rules, *rule;
    dlock_lease lease;
    dlock_info info;

    servers_start(&opts);
    for (size_t i = 0; i < servers_found(); i++)
        servers_tell(i, "ACL SETUSER default resetkeys resetchannels -@all +acl +ping +eval "
                        "+evalsha +script|load +select");
    snprintf(rules, sizeof(rules), "%s", rules_of(variant));
    while ((rule = strsep(&at, " ")) != NULL)
        set_rights(rule);
    pair = rig_open_pair(&opts);
    assert_status(OK, dlock_check(pair.a));
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    if (rig_caps(variant) & DLOCK_CAP_RENEW)
        assert_status(OK, dlock_renew(pair.a, &lease));
    waiter = rig_helper_start(pair.b, name, WAIT_MS);
    assert_stays(!rig_helper_is_done(waiter), AWAY_MS);
    assert_status(OK, dlock_inspect(pair.a, name, &info));
    assert_true(info.locked);
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, dlock_force_release(pair.a, name));
    (void)rig_helper_finish(waiter);
}

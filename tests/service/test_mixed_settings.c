/* SPDX-License-Identifier: MIT */
/* test_mixed_settings.c -- services that start beside services, or after queued orders, with
 * other settings, on a database of their own. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/store_options.h"
#include "tests/service/scratch_database.h"
#include "tests/service/stream_rig.h"

enum { FLAGS_MAX = 4 };

static lab_db *scratch;
static char database[600], other_redis[600];

/* The flags of a service that looks for the others. */
static const char *const *with(const char *const *flags)
{
    static const char *args[FLAGS_MAX + 4];
    size_t n = 0;

    args[n++] = database;
    args[n++] = "--allow-mixed-settings=off";
    args[n++] = stream_flag();
    for (; *flags != NULL; flags++)
        args[n++] = strcmp(*flags, "other-redis") == 0 ? other_redis : *flags;
    args[n] = NULL;
    return args;
}

static void expect_started(const char *const *flags)
{
    struct rig_service s = rig_start(with(flags));

    rig_stop(&s);
}

static void expect_refused(const char *const *flags, const char *found)
{
    struct rig_service s = rig_launch(with(flags));
    int status = rig_wait(&s, RIG_PATIENCE_MS);

    if (status != 69 || !rig_has_logged(&s, found) || !rig_has_logged(&s, "--allow-mixed-settings"))
        fail_msg("%s: exit %d, or no \"%s\" in %s", flags[0], status, found, s.log);
    (void)close(s.out);
    (void)unlink(s.log);
}

/* Have the sessions of the services ended? */
static bool is_unmarked(void *arg)
{
    (void)arg;
    return lab_db_run(scratch,
                      "DO 'BEGIN ASSERT NOT EXISTS (SELECT FROM pg_locks JOIN pg_database d"
                      " ON d.oid = database WHERE locktype = ''advisory'' AND"
                      " datname = current_database()); END'");
}

static bool is_voucher_unknown(void *service)
{
    const struct rig_service *s = service;
    struct rig_answer answer;

    return rig_order(s->orders_port, 1, 1, &answer) &&
           strcmp(answer.outcome, "unknown-voucher") == 0;
}

/* A service that would sell twice beside the other does not start.  The left one of a
 * pair starts first, of the next pair the right one. */
TEST(only_settings_that_agree_run_beside_each_other)
{
    static const struct {
        bool agree;
        const char *flags[2][FLAGS_MAX];
    } PAIRS[] = {
        {false, {{"--lock=lua", "--duplicate-guard=count"}, {"--lock=reentrant"}}},
        {false, {{"--lock=lua", "--duplicate-guard=count"}, {"--lock=reentrant"}}},
        {false, {{"--lock=lua", "--duplicate-guard=count"},
                 {"--lock=lua", "--lock-scope=voucher"}}},
        {false, {{"--lock=lua", "--duplicate-guard=count"}, {"--lock=lua", "other-redis"}}},
        {false, {{"--lock=lua", "--duplicate-guard=none"}, {"--lock=lua"}}},
        {false, {{"--lock=local", "--duplicate-guard=count", "--process=a"},
                 {"--lock=local", "--duplicate-guard=count", "--process=a"}}},
        {false, {{"--lock=lua", "--stock-guard=read-write"}, {"--lock=none"}}},
        {false, {{"--lock=lua", "--stock-guard=decrement"}, {"--lock=none"}}},
        {false, {{"--order-path=stream"}, {"--order-path=combined"}}},
        {false, {{"--order-path=stream"}, {"--order-path=stream", "--stream-name=test:other"}}},
        {true, {{"--lock=lua"}, {"--lock=none", "--stock-guard=version", "--order-path=each"}}},
        {true, {{"--lock=lua", "--duplicate-guard=count"},
                {"--lock=lua", "--stock-guard=read-write"}}},
        {true, {{"--lock=local", "--order-path=stream", "--process=a"},
                {"--lock=local", "--order-path=stream", "--process=b"}}},
    };

    (void)STREAM_TEXT("DEL", "test:other:database");
    for (size_t i = 0; i < sizeof(PAIRS) / sizeof(PAIRS[0]); i++) {
        const char *const *second = PAIRS[i].flags[1 - i % 2];
        struct rig_service s = rig_start(with(PAIRS[i].flags[i % 2]));

        if (!PAIRS[i].agree)
            expect_refused(second, " sells from this database with other settings");
        else
            expect_started(second);
        rig_stop(&s);
        assert_true(rig_until(is_unmarked, NULL, RIG_PATIENCE_MS));
        expect_started(second); /* alone */
    }
}

/* The server ends all sessions, and another service, here the session of the test, has its mark
 * before the service has a session again. */
TEST(a_service_whose_mark_was_lost_sells_nothing_beside_another)
{
    static const char *const FLAGS[] = {"--lock=lua", "--duplicate-guard=count", NULL};
    struct rig_service s = rig_start(with(FLAGS));
    struct rig_answer answer;
    char sql[200];

    (void)snprintf(sql, sizeof(sql),
                   "SELECT pg_advisory_lock_shared(%d, %d); SELECT pg_terminate_backend(pid, 5000)"
                   " FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND"
                   " datname = current_database()", DB_MARKS, STORES_MARK_BINDS | 5);
    assert_true(lab_db_run(scratch, sql));
    assert_true(rig_order(s.orders_port, 1, 1, &answer));
    assert_int_equal(answer.status, 503);
    assert_string_equal(answer.outcome, "unavailable");
    assert_true(rig_has_logged(&s, " sells from this database with other settings; stop one of"));
    assert_true(lab_db_run(scratch, "SELECT pg_advisory_unlock_all()"));
    assert_true(rig_until(is_voucher_unknown, &s, RIG_PATIENCE_MS));
    rig_stop(&s);
}

TEST(a_stream_has_the_orders_of_one_database)
{
    static const char *const HERE[] = {"--order-path=stream", NULL};
    static char url[600];
    const char *const elsewhere[] = {"--order-path=stream", url, NULL};
    const char *const flagged[] = {"--order-path=stream", url, "--allow-mixed-settings", NULL};

    (void)snprintf(url, sizeof(url), "--database-url=%s", rig_environment("SECKILL_DATABASE_URL"));
    expect_started(HERE);
    expect_refused(elsewhere, " has the orders of another database");
    expect_started(flagged);
    expect_started(HERE);
}

/* The units of orders that wait in the stream are still in PostgreSQL's stock. */
TEST(queued_orders_are_not_left_behind)
{
    static const char *const STREAM[] = {"--order-path=stream", NULL};
    static const char *const EACH[] = {"--order-path=each", NULL};
    static const char *const FLAGGED[] = {"--allow-mixed-settings", NULL};

    (void)STREAM_TEXT("XADD", stream_name(), "*", "voucher", "1");
    expect_refused(EACH, "1 orders wait in the stream ");
    expect_started(FLAGGED);
    expect_started(STREAM); /* moves the entry, which is no order, aside */
    expect_started(EACH);
}

int main(void)
{
    int failed = 1;

    if (scratch_database_make("seckill_mixed", &scratch)) {
        (void)snprintf(database, sizeof(database), "--database-url=%s", scratch_database_url());
        (void)snprintf(other_redis, sizeof(other_redis), "--redis-url=%s/7",
                       rig_environment("SECKILL_REDIS_URL"));
        failed = rig_run_tests(NULL, NULL);
    }
    return scratch_database_drop(&scratch) ? failed : 1;
}

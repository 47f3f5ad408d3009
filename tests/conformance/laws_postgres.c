/* SPDX-License-Identifier: MIT */
/* laws_postgres.c -- the rows and locks that the pg variants keep in the database, and what they
 * leave there. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/stores/postgres_pool.h"
#include "tests/conformance/database.h"
#include "tests/conformance/laws.h"

enum { LEASE_MS = 60000, MANY_NAMES = 300, THREADS = 6 };

#define TIMEOUT_MS STRETCHED(300)

static long long levels_in_row(const char *name)
{
    return database_ask("SELECT hold_count FROM dlock_lock WHERE name = $1", name);
}

static long long left_ms_in_row(const char *name)
{
    return database_ask("SELECT max((extract(epoch FROM expires_at - clock_timestamp())"
                        " * 1000)::bigint) FROM (SELECT name, expires_at FROM dlock_lock"
                        " UNION ALL SELECT name, expires_at FROM dlock_queue) AS held"
                        " WHERE name = $1",
                        name);
}

static void delete_rows(const char *name)
{
    database_tell("DELETE FROM dlock_lock WHERE name = $1", name);
    database_tell("DELETE FROM dlock_queue WHERE name = $1", name);
}

void has_its_row_in_the_table(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_system *sys;
    dlock_lease lease;

    opts.lease_ms = LEASE_MS;
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    assert_string_equal(
        lease.owner,
        database_tell("SELECT owner FROM dlock_lock WHERE name = $1", name));
    assert_true(left_ms_in_row(name) > LEASE_MS / 2);
    assert_true(left_ms_in_row(name) <= LEASE_MS);
    assert_status(OK, dlock_release(sys, &lease));
    assert_int_equal(0, database_count_rows(name));
}

void counts_levels_in_its_row(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease level[3];
    dlock_lease fresh;

    for (int i = 0; i < 3; i++) {
        assert_status(OK, dlock_acquire(pair.a, name, 0, &level[i]));
        assert_int_equal(i + 1, levels_in_row(name));
        assert_string_equal(level[0].owner, level[i].owner);
    }
    assert_status(OK, dlock_release(pair.a, &level[0]));
    assert_int_equal(2, levels_in_row(name));
    assert_false(dlock_lease_valid(pair.a, &level[0]));
    assert_status(BUSY, rig_try_elsewhere(pair.a, name));
    assert_status(BUSY, rig_try(pair.b, name));
    assert_status(OK, dlock_renew(pair.a, &level[2]));
    assert_status(OK, dlock_release(pair.a, &level[2]));
    assert_status(OK, dlock_release(pair.a, &level[1]));
    assert_int_equal(0, database_count_rows(name));
    /* The row is deleted, and the holder does not know it; the holder acquires again. */
    assert_status(OK, dlock_acquire(pair.a, name, 0, &level[0]));
    delete_rows(name);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &fresh));
    assert_false(dlock_lease_valid(pair.a, &level[0]));
    assert_status(LOST, dlock_release(pair.a, &level[0]));
    assert_int_equal(1, levels_in_row(name));
    assert_status(OK, dlock_release(pair.a, &fresh));
}

void renews_its_row(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease lease;
    dlock_lease others;
    int less_ms = STRETCHED(100);
    int64_t granted_ns, asked_ms;

    opts.lease_ms = LEASE_MS;
    pair = rig_open_pair(&opts);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    granted_ns = lease.deadline_ns;
    assert_comes(left_ms_in_row(name) < LEASE_MS - less_ms);
    asked_ms = rig_now_ms();
    assert_status(OK, dlock_renew(pair.a, &lease));
    assert_true(lease.deadline_ns > granted_ns);
    assert_provided(lasts_until(asked_ms + less_ms),
                    left_ms_in_row(name) >= LEASE_MS - less_ms);
    assert_true(left_ms_in_row(name) <= LEASE_MS);
    delete_rows(name);
    /* A late renewal or release leaves the lock of the next holder as it is. */
    assert_status(OK, dlock_acquire(pair.b, name, 0, &others));
    assert_comes(left_ms_in_row(name) < LEASE_MS - less_ms);
    assert_status(LOST, dlock_renew(pair.a, &lease));
    assert_false(dlock_lease_valid(pair.a, &lease));
    assert_true(left_ms_in_row(name) < LEASE_MS - less_ms);
    assert_status(LOST, dlock_release(pair.a, &lease));
    assert_status(OK, dlock_release(pair.b, &others));
    assert_int_equal(0, database_count_rows(name));
}

static atomic_int told_count;

static void count_told(const dlock_lease *lease, void *arg)
{
    (void)lease;
    (void)arg;
    atomic_fetch_add(&told_count, 1);
}

void tells_of_a_deleted_row(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_system *sys;
    dlock_lease lease;
    dlock_lease other;

    atomic_store(&told_count, 0);
    opts.on_lost = count_told;
    opts.watchdog = true;
    opts.lease_ms = KEPT_LEASE_MS;
    sys = rig_open(&opts);
    premise_watch_pace();
    rig_acquire_short(sys, name, NULL, KEPT_LEASE_MS, &lease);
    rig_acquire_short(sys, rig_name(), NULL, KEPT_LEASE_MS, &other);
    delete_rows(name);
    assert_comes(atomic_load(&told_count) > 0);
    assert_provided(is_steady(KEPT_LEASE_MS), !dlock_lease_valid(sys, &lease));
    assert_stays_provided(is_steady(KEPT_LEASE_MS), atomic_load(&told_count) == 1,
                          SHORT_LEASE_MS);
    assert_provided(is_steady(KEPT_LEASE_MS), dlock_lease_valid(sys, &other));
    assert_status(LOST, dlock_release(sys, &lease));
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK, dlock_release(sys, &other));
}

/* The hold whose row another transaction has locked is due before the others. */
void a_locked_row_ends_no_other_renewal(const char *variant)
{
    enum { MANY = 10 };
    dlock_options opts = rig_options(variant);
    int lease_ms = 4 * KEPT_LEASE_MS; /* renewals that are given up cost new connections */
    const char *base = rig_name();
    dlock_lease many[MANY];
    dlock_system *sys;
    dlock_info info;
    char name[80];

    opts.watchdog = true;
    opts.lease_ms = lease_ms;
    sys = rig_open(&opts);
    premise_watch_pace();
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "%s:%d", base, i);
        rig_acquire_short(sys, name, NULL, lease_ms, &many[i]);
        rig_pause_ms(i == 0 ? lease_ms / 20 : 0);
    }
    database_tell("BEGIN", NULL);
    database_tell("SELECT 1 FROM dlock_lock WHERE name = $1 FOR UPDATE", many[0].name);
    database_tell("SELECT 1 FROM dlock_queue WHERE name = $1 FOR UPDATE", many[0].name);
    rig_pause_ms(lease_ms * 3 / 4);
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK, dlock_inspect(sys, many[1].name, &info));
    assert_provided(is_steady(KEPT_LEASE_MS), info.left_ms > lease_ms * 2 / 5);
    database_tell("ROLLBACK", NULL);
    for (int i = 1; i < MANY; i++)
        assert_status_provided(is_steady(KEPT_LEASE_MS), OK, dlock_release(sys, &many[i]));
}

/* The holder has ended, and no caller asks for this name again; others use the table. */
void reaps_rows_nobody_asks_for(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *orphan = rig_name();
    const char *other = rig_name();
    struct rig_pair pair;
    dlock_lease lease;

    pair.b = rig_open(&opts);
    opts.lease_ms = SHORT_LEASE_MS;
    pair.a = rig_open(&opts);
    rig_acquire_short(pair.a, orphan, NULL, SHORT_LEASE_MS, &lease);
    assert_status(OK, rig_try(pair.b, other));
    assert_while_valid(pair.a, &lease, database_count_rows(orphan) == 1);
    assert_comes(rig_try(pair.b, other) == DLOCK_OK && database_count_rows(orphan) == 0);
    assert_false(dlock_lease_valid(pair.a, &lease));
    assert_status(LOST, dlock_release(pair.a, &lease));
}

static void assert_open(dlock_status want, const dlock_options *opts, const char *text)
{
    dlock_system *sys = (dlock_system *)(uintptr_t)opts; /* any pointer but NULL */
    dlock_status got = dlock_open(&sys, opts);

    if (got != want || strstr(dlock_error(), text) == NULL)
        fail_msg("answered %s, \"%s\"", dlock_status_id(got), dlock_error());
    assert_null(sys);
}

void refuses_bad_database_urls(const char *variant)
{
    dlock_options opts = rig_options(variant);
    char url[256];
    char *database;

    opts.database_timeout_ms = 0;
    assert_open(DLOCK_INVALID, &opts, "timeout");
    opts.database_timeout_ms = rig_options(variant).database_timeout_ms;
    opts.database_url = NULL;
    assert_open(DLOCK_INVALID, &opts, "URL");
    opts.database_url = "";
    assert_open(DLOCK_INVALID, &opts, "URL");
    opts.database_url = "redis://127.0.0.1:1";
    assert_open(DLOCK_INVALID, &opts, "postgresql://");
    opts.database_url = "postgresql://nobody@127.0.0.1:1/none";
    assert_open(DLOCK_IO, &opts, "127.0.0.1:1");
    /* Without the tables, the error names the command that creates them. */
    snprintf(url, sizeof(url), "%s", getenv("SECKILL_LAB_DATABASE_URL"));
    database = strrchr(url, '/');
    assert_non_null(database);
    strcpy(database, "/postgres");
    opts.database_url = url;
    assert_open(DLOCK_PROTOCOL, &opts, "postgres.sql");
    strcpy(database, "/nosuch");
    assert_open(DLOCK_PROTOCOL, &opts, "nosuch");
}

static void end_backends(const char *condition)
{
    char sql[300];

    snprintf(sql, sizeof(sql),
             "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
             " WHERE application_name = 'dlock-%d' AND %s",
             (int)getpid(), condition);
    database_tell(sql, NULL);
}

void survives_ended_connections(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair = rig_open_pair(&opts);
    struct rig_helper *waiter;
    dlock_lease lease;

    assert_status(OK, rig_try(pair.a, name));
    assert_true(database_count_backends("state = 'idle'") > 0);
    end_backends("state = 'idle'");
    assert_int_equal(0, database_count_backends("true"));
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    waiter = rig_helper_start(pair.b, name, -1);
    assert_stays(!rig_helper_is_done(waiter), SHORT_LEASE_MS / 2);
    assert_status(OK, dlock_check(pair.a));
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
}

/* As rig_try(), for a system with so short a timeout that a new connection may take several
 * attempts on a busy machine. */
static dlock_status try_until_answered(dlock_system *sys, const char *name)
{
    dlock_status st = rig_try(sys, name);
    int64_t give_up_ms = rig_now_ms() + PATIENCE_MS;

    while (dlock_is_failure(st) && rig_now_ms() < give_up_ms) {
        rig_pause_ms(10);
        st = rig_try(sys, name);
    }
    return st;
}

/* A command that the backend executed late leaves a lock that ends with its session or with its
 * lease. */
void a_hung_backend_is_unknown(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_lease lease = {.fence = 77};
    char sql[160];
    struct rig_pair pair;

    pair.b = rig_open(&opts);
    opts.lease_ms = 2 * SHORT_LEASE_MS;
    opts.database_timeout_ms = TIMEOUT_MS;
    premise_watch_pace();
    pair.a = rig_open(&opts);
    /* The first call prepares the statements, so that the next one only executes them. */
    assert_status_provided(is_steady(TIMEOUT_MS), OK, rig_try(pair.a, rig_name()));
    assert_int_equal(2, database_count_backends("true"));
    snprintf(sql, sizeof(sql),
             "SELECT pid FROM pg_stat_activity WHERE application_name = 'dlock-%d'"
             " ORDER BY backend_start DESC LIMIT 1",
             (int)getpid());
    database_stop_backend((int)database_ask(sql, NULL));
    assert_status(UNKNOWN, dlock_acquire(pair.a, name, 0, &lease));
    assert_string_not_equal("", dlock_error());
    assert_int_equal(77, lease.fence);
    database_wake();
    assert_status(OK, dlock_acquire(pair.b, name, PATIENCE_MS, &lease));
    premise_watch_pace();
    assert_status(BUSY, try_until_answered(pair.a, name));
    assert_status(OK, dlock_release(pair.b, &lease));
    /* An attempt that was not answered may have taken the lock, which is then held until its lease
     * ends. */
    assert_status_provided(is_steady(TIMEOUT_MS), OK,
                           try_until_answered(pair.a, name));
    assert_comes(database_count_rows(name) == 0);
}

/* The settings of a session that holds a lock; the server reads them from its socket. */
void its_server_gives_up_a_silent_client(const char *variant)
{
    static const struct postgres_question SILENCES = {
        .statement.sql = "SELECT concat_ws(' ', current_setting('tcp_keepalives_idle'),"
                         " current_setting('tcp_keepalives_interval'),"
                         " current_setting('tcp_keepalives_count'),"
                         " current_setting('tcp_user_timeout'))",
        .shape = {.kind = POSTGRES_TEXT}};
    dlock_options opts = rig_options(variant);
    struct postgres_answer answer;
    struct postgres_pool *pool;

    assert_status(OK, postgres_pool_open(&pool, &opts));
    assert_status(OK, postgres_pool_ask(pool, &SILENCES, NULL, INT64_MAX, &answer));
    postgres_pool_close(pool);
    assert_string_equal("5 5 5 30000", answer.text);
}

/* An answer for each renewal is 0, 1 or 2. Another letter is no loss. */
void a_strange_answer_ends_no_hold(const char *variant)
{
    static const struct postgres_question STRANGE = {
        .statement = {"strange", "SELECT 'x' WHERE $1 <> ''", "t"},
        .shape = {.kind = POSTGRES_TEXT}};
    dlock_options opts = rig_options(variant);
    dlock_claim claim = {.name = "x", .owner = "x", .token = "x", .lease_ms = 1000};
    struct postgres_pool *pool;
    dlock_status st = DLOCK_OK;

    claim.give_up_ns = INT64_MAX;
    assert_status(OK, postgres_pool_open(&pool, &opts));
    postgres_renew_all(pool, &STRANGE, NULL, &claim, 1, &st);
    postgres_pool_close(pool);
    assert_int_equal(DLOCK_PROTOCOL, st);
}

/* A caller that is refused keeps its connection: a refusal costs no new backend, and leaves no
 * transaction open. */
void a_refusal_costs_no_connection(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    char newest[64];
    char sql[160];
    dlock_lease lease;

    snprintf(sql, sizeof(sql),
             "SELECT max(backend_start) FROM pg_stat_activity"
             " WHERE application_name = 'dlock-%d'",
             (int)getpid());
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_status(BUSY, rig_try(pair.b, name));
    snprintf(newest, sizeof(newest), "%s", database_tell(sql, NULL));
    for (int i = 0; i < 10; i++)
        assert_status(BUSY, rig_try(pair.b, name));
    assert_status(TIMEOUT, dlock_acquire(pair.b, name, 20, &lease));
    assert_string_equal(newest, database_tell(sql, NULL));
    assert_status(OK, dlock_release(pair.a, &lease));
}

struct user {
    dlock_system *sys;
    const char *name;
    int number;
    pthread_t thread;
};

static void *use(void *arg)
{
    struct user *user = arg;
    char own[64];
    dlock_lease lease;

    for (int i = 0; i < MANY_NAMES / THREADS; i++) {
        snprintf(own, sizeof(own), "%s:%d:%d", user->name, user->number, i);
        (void)rig_try(user->sys, own);
        (void)rig_try(user->sys, user->name);
        if (i % 10 == 0 && dlock_acquire(user->sys, user->name, 5, &lease) == DLOCK_OK)
            (void)dlock_release(user->sys, &lease);
    }
    return NULL;
}

void leaves_nothing_in_the_database(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = NULL;
    struct user users[THREADS];
    const char *name = rig_name();

    assert_status(OK, dlock_open(&sys, &opts));
    for (int i = 0; i < THREADS; i++) {
        users[i] = (struct user){.sys = sys, .name = name, .number = i};
        assert_int_equal(0, pthread_create(&users[i].thread, NULL, use, &users[i]));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(users[i].thread, NULL);
    /* All connections are in the pool; none has an open transaction or a lock. */
    assert_comes(database_count_backends("state <> 'idle'") == 0);
    assert_int_equal(0, database_count_backends(
                            "pid IN (SELECT pid FROM pg_locks WHERE locktype IN"
                            " ('advisory', 'relation', 'tuple'))"));
    assert_true(database_count_backends("true") <= THREADS + 1);
    assert_int_equal(
        0, database_ask("SELECT (SELECT count(*) FROM dlock_lock WHERE substr(name, 1,"
                        " length($1)) = $1) + (SELECT count(*) FROM dlock_row WHERE"
                        " substr(name, 1, length($1)) = $1) + (SELECT count(*) FROM"
                        " dlock_queue WHERE substr(name, 1, length($1)) = $1)",
                        name));
    dlock_close(sys);
    assert_comes(database_count_backends("true") == 0);
}

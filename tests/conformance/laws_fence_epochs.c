/* SPDX-License-Identifier: MIT */
/* laws_fence_epochs.c -- fences that are counted in a store which may lose its data. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/lua_scripts.h"
#include "tests/conformance/database.h"
#include "tests/conformance/laws.h"

static uint64_t fence_of(dlock_system *sys, const char *name)
{
    dlock_lease lease;

    assert_status(OK, dlock_acquire(sys, name, PATIENCE_MS, &lease));
    assert_status(OK, dlock_release(sys, &lease));
    return lease.fence;
}

/* The last epoch that any process has drawn. */
static long long epochs_drawn(void)
{
    return database_ask("SELECT CASE WHEN is_called THEN last_value ELSE 0 END"
                        " FROM dlock_fence_epoch",
                        NULL);
}

void fence_outlives_the_data(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease held;
    uint64_t last;

    servers_start(&opts);
    pair = rig_open_pair(&opts);
    last = fence_of(pair.a, name);
    for (int i = 0; i < 3; i++) {
        dlock_system *sys = i % 2 == 0 ? pair.b : pair.a;

        servers_tell(0, "FLUSHALL");
        assert_true(fence_of(sys, name) > last + 1);
        last = fence_of(pair.a, name);
    }
    /* The data is lost while an owner holds the lock and does not know of the loss yet. */
    assert_status(OK, dlock_acquire(pair.a, name, 0, &held));
    servers_tell(0, "FLUSHALL");
    assert_true(fence_of(pair.b, name) > held.fence);
    assert_status(LOST, dlock_release(pair.a, &held));
}

void fence_outlives_a_restart(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_system *sys;
    uint64_t last;

    servers_start(&opts);
    sys = rig_open(&opts);
    last = fence_of(sys, name);
    servers_signal(0, 1, SIGKILL);
    servers_restart(0);
    assert_int_equal(0, servers_ask(0, "DBSIZE"));
    assert_comes(dlock_check(sys) == DLOCK_OK);
    assert_true(fence_of(sys, name) > last);
}

/* The database hangs: an acquire that needs an epoch fails within its time and is not granted.
 * Other names, and later acquires of this name, are not affected. */
void fence_needs_its_epoch(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    const char *known = rig_name();
    dlock_system *sys;
    dlock_lease lease;
    char sql[160];

    opts.database_timeout_ms = KEPT_LEASE_MS;
    servers_start(&opts);
    sys = rig_open(&opts);
    /* Connects the system, which may take several tries. */
    assert_comes(rig_try(sys, known) == DLOCK_OK);
    assert_true(fence_of(sys, known) > 0);
    snprintf(sql, sizeof(sql),
             "SELECT pid FROM pg_stat_activity WHERE application_name = 'dlock-%d'"
             " AND query LIKE '%%nextval%%'",
             (int)getpid());
    database_stop_backend((int)database_ask(sql, NULL));
    assert_status(IO, dlock_acquire(sys, name, 0, &lease));
    assert_non_null(strstr(dlock_error(), "PostgreSQL"));
    assert_int_equal(0, servers_count_keys(name));
    assert_true(fence_of(sys, known) > 0); /* this name has its epoch already */
    database_wake();
    assert_comes(rig_try(sys, name) == DLOCK_OK);
    assert_true(fence_of(sys, name) > 0);
}

void fence_needs_no_epoch_again(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair = rig_open_pair(&opts);
    uint64_t first = fence_of(pair.a, name);

    assert_true(first >> 32 > 0);
    for (uint64_t i = 1; i < 10; i++)
        assert_true(fence_of(i % 2 == 0 ? pair.a : pair.b, name) == first + i);
}

/* Send by hand the command of a client that was told to bring an epoch and took long to bring
 * it. */
static const redisReply *send_epoch(const char *name, const char *first)
{
    return servers_tell(0, "EVAL %s 3 %s redisson_lock_token:{%s}"
                           " dlock_fence_epoch:{%s} 60000 %s 1 %s late",
                        LUA_FENCED_ACQUIRE, name, name, name, "late:1", first);
}

void fence_takes_no_old_epoch(const char *variant)
{
    enum { EPOCH_MISSING = -4 };
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    char first[32];
    dlock_system *sys;
    uint64_t last;

    servers_start(&opts);
    sys = rig_open(&opts);
    assert_int_equal(EPOCH_MISSING, send_epoch(name, "?")->integer);
    snprintf(first, sizeof(first), "%lld",
             database_ask("SELECT nextval('dlock_fence_epoch')", NULL) << 32);
    last = fence_of(sys, name); /* a client that asked later, and drew its epoch sooner */
    assert_true(last > strtoull(first, NULL, 10));
    servers_tell(0, "FLUSHALL");
    assert_int_equal(EPOCH_MISSING, send_epoch(name, first)->integer);
    assert_int_equal(0, servers_ask(0, "EXISTS %s", name));
    assert_true(fence_of(sys, name) > last);
    /* The counter was not lost, so the command must not use its new epoch. */
    assert_true(strtoull(send_epoch(name, first)->str, NULL, 10) > last);
}

enum { BEGINNERS = 2, NAMES = 40 };

struct beginner {
    pthread_t thread;
    dlock_system *sys;
    char (*names)[40];
    uint64_t fences[NAMES];
};

static void *begin_all(void *arg)
{
    struct beginner *b = arg;
    dlock_lease lease;

    for (int i = 0; i < NAMES; i++) {
        if (dlock_acquire(b->sys, b->names[i], PATIENCE_MS, &lease) != DLOCK_OK)
            return NULL;
        b->fences[i] = lease.fence;
        if (dlock_release(b->sys, &lease) != DLOCK_OK)
            return NULL;
    }
    return NULL;
}

/* Both clients find no counter. One of them starts the counter, and the other goes on from its
 * value. */
void fence_agrees_when_many_begin(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    struct beginner beginners[BEGINNERS] = {{.sys = pair.a}, {.sys = pair.b}};
    char names[NAMES][40];

    servers_find(&opts);
    for (int i = 0; i < NAMES; i++)
        snprintf(names[i], sizeof(names[i]), "%s:%d", rig_name(), i);
    for (int i = 0; i < BEGINNERS; i++) {
        beginners[i].names = names;
        assert_int_equal(
            0, pthread_create(&beginners[i].thread, NULL, begin_all, &beginners[i]));
    }
    for (int i = 0; i < BEGINNERS; i++)
        pthread_join(beginners[i].thread, NULL);
    for (int i = 0; i < NAMES; i++) {
        uint64_t a = beginners[0].fences[i];
        uint64_t b = beginners[1].fences[i];

        assert_true(a > 0 && b > 0);
        assert_int_equal(1, a > b ? a - b : b - a); /* both numbers come from one counter */
        assert_int_equal(0, servers_ask(0, "EXISTS dlock_fence_epoch:{%s}", names[i]));
    }
}

/* Redisson counts from 1 if there is no counter, and else from the counter. */
void fence_goes_on_with_redissons(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    char counter[80];
    long long drawn;
    uint64_t fence;

    servers_find(&opts);
    snprintf(counter, sizeof(counter), "redisson_lock_token:{%s}", name);
    assert_int_equal(1, servers_ask(0, "INCR %s", counter));
    fence = fence_of(sys, name);
    assert_true(fence >> 32 > 0);
    assert_int_equal((long long)fence + 1, servers_ask(0, "INCR %s", counter));
    assert_true(fence_of(sys, name) == fence + 2);
    /* The lock changes to the next epoch before the epoch's numbers are used up. */
    servers_tell(0, "SET %s %llu", counter,
                 (unsigned long long)((fence | 0xffffffffU) - 1000));
    drawn = epochs_drawn();
    fence = fence_of(sys, name);
    assert_true((long long)(fence >> 32) > drawn);
    /* Without a database the fence goes on from the store's counter. */
    opts.database_url = NULL;
    sys = rig_open(&opts);
    assert_true(fence_of(sys, name) == fence + 1);
    assert_int_equal(1, fence_of(sys, rig_name()));
}

/* SPDX-License-Identifier: MIT */
/* laws_shared.c -- readers beside each other, and a writer alone. */
#include "gen/lua_scripts.h"
#include "tests/conformance/laws.h"

enum {
    READERS = 4,
    LASTS_MS = 60,
    AT_ONCE_MS = 50,
    LONG_LEASE_MS = 60000,
};

static const dlock_request READ = {.shared = true};

static dlock_status read_lock(dlock_system *sys, const char *name, dlock_lease *lease)
{
    return dlock_acquire_with(sys, name, &READ, lease);
}

static struct rig_helper *start_reader(dlock_system *sys, const char *name,
                                       int64_t wait_ms)
{
    dlock_request request = {.shared = true, .wait_ms = wait_ms};

    return rig_helper_ask(sys, name, &request);
}

/* Let another thread try to read once, and release the lock if it was granted. */
static dlock_status try_to_read(dlock_system *sys, const char *name)
{
    struct rig_helper *reader = start_reader(sys, name, 0);
    dlock_status st = rig_helper_acquired(reader);

    rig_helper_finish(reader);
    return st;
}

/* Let a reader and a writer try, from each system, and check their answers. */
static void assert_open_to(struct rig_pair pair, const char *name, dlock_status reader,
                           dlock_status writer)
{
    rig_check_status(reader, try_to_read(pair.a, name), "a thread reads", __FILE__,
                     __LINE__);
    rig_check_status(reader, try_to_read(pair.b, name), "another system reads", __FILE__,
                     __LINE__);
    rig_check_status(writer, rig_try_elsewhere(pair.a, name), "a thread writes",
                     __FILE__, __LINE__);
    rig_check_status(writer, rig_try_elsewhere(pair.b, name), "another system writes",
                     __FILE__, __LINE__);
}

void readers_read_together(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    struct rig_helper *readers[READERS];

    for (int i = 0; i < READERS; i++) {
        readers[i] = start_reader(i % 2 == 0 ? pair.a : pair.b, name, 0);
        assert_status(OK, rig_helper_acquired(readers[i]));
    }
    for (int i = 0; i < READERS; i++) {
        assert_open_to(pair, name, DLOCK_OK, DLOCK_BUSY);
        assert_status(OK, rig_helper_finish(readers[i]));
    }
    assert_open_to(pair, name, DLOCK_OK, DLOCK_OK);
}

void writer_and_readers_exclude_each_other(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_false(lease.shared);
    assert_open_to(pair, name, DLOCK_BUSY, DLOCK_BUSY);
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, read_lock(pair.a, name, &lease));
    assert_true(lease.shared && dlock_lease_valid(pair.a, &lease));
    assert_open_to(pair, name, DLOCK_OK, DLOCK_BUSY);
    assert_status(OK, dlock_renew(pair.a, &lease));
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(INVALID, dlock_release(pair.a, &lease));
    assert_open_to(pair, name, DLOCK_OK, DLOCK_OK);
}

/* The fastest of several wake-ups must be far faster than the poll that makes up for lost
 * messages. */
void last_reader_wakes_a_writer(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    int64_t best_ms = INT64_MAX;

    for (int i = 0; is_another_tried(i, best_ms, AT_ONCE_MS); i++) {
        const char *name = rig_name();
        struct rig_helper *other = start_reader(pair.b, name, 0);
        struct rig_helper *writer;
        dlock_lease lease;
        int64_t told_ms, took_ms;

        assert_status(OK, rig_helper_acquired(other));
        assert_status(OK, read_lock(pair.a, name, &lease));
        premise_watch_pace();
        writer = rig_helper_start(pair.b, name, -1);
        rig_let_wait(pair.a, name, LASTS_MS / 2);
        assert_false(rig_helper_is_done(writer));
        assert_status(OK, rig_helper_finish(other));
        assert_stays(!rig_helper_is_done(writer), LASTS_MS / 2);
        told_ms = rig_now_ms();
        assert_status(OK, dlock_release(pair.a, &lease));
        assert_status(OK, rig_helper_acquired(writer));
        took_ms = rig_helper_told_within_ms(writer, told_ms);
        if (took_ms < best_ms)
            best_ms = took_ms;
        assert_status(OK, rig_helper_finish(writer));
    }
    assert_provided(is_steady(AT_ONCE_MS), best_ms < AT_ONCE_MS);
}

/* Let readers wait in both systems; `let_in` opens the lock to them. */
static int64_t time_readers(struct rig_pair pair, const char *name, dlock_lease *writer)
{
    struct rig_helper *readers[READERS];
    int64_t told_ms, took_ms;

    premise_watch_pace();
    for (int i = 0; i < READERS; i++)
        readers[i] = start_reader(i % 2 == 0 ? pair.a : pair.b, name, -1);
    for (int i = 0; i < READERS; i++)
        assert_stays(!rig_helper_is_done(readers[i]), LASTS_MS / READERS);
    told_ms = rig_now_ms();
    assert_status(OK, dlock_release(pair.a, writer));
    for (int i = 0; i < READERS; i++)
        assert_status(OK, rig_helper_acquired(readers[i]));
    took_ms = rig_helper_told_within_ms(readers[0], told_ms);
    for (int i = 0; i < READERS; i++)
        assert_status(OK, rig_helper_finish(readers[i]));
    return took_ms;
}

void writer_wakes_all_readers(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    int64_t best_ms = INT64_MAX;

    for (int i = 0; is_another_tried(i, best_ms, AT_ONCE_MS); i++) {
        const char *name = rig_name();
        dlock_lease lease;
        int64_t took_ms;

        assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
        took_ms = time_readers(pair, name, &lease);
        if (took_ms < best_ms)
            best_ms = took_ms;
    }
    assert_provided(is_steady(AT_ONCE_MS), best_ms < AT_ONCE_MS);
}

/* Redisson sends no message when a writer goes on as a reader. */
void writer_becomes_a_reader(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    int64_t best_ms = INT64_MAX;

    for (int i = 0; is_another_tried(i, best_ms, AT_ONCE_MS); i++) {
        const char *name = rig_name();
        dlock_lease writing, reading;
        int64_t took_ms;

        assert_status(OK, dlock_acquire(pair.a, name, 0, &writing));
        assert_status(OK, read_lock(pair.a, name, &reading));
        assert_open_to(pair, name, DLOCK_BUSY, DLOCK_BUSY);
        took_ms = time_readers(pair, name, &writing);
        if (took_ms < best_ms)
            best_ms = took_ms;
        assert_true(dlock_lease_valid(pair.a, &reading));
        assert_open_to(pair, name, DLOCK_OK, DLOCK_BUSY);
        assert_status(OK, dlock_renew(pair.a, &reading));
        assert_status(OK, dlock_release(pair.a, &reading));
        assert_open_to(pair, name, DLOCK_OK, DLOCK_OK);
    }
    assert_provided(is_steady(AT_ONCE_MS), best_ms < AT_ONCE_MS);
}

/* The watchdog renews the writer's lease first, and after the downgrade the reader's lease. */
void downgraded_is_renewed(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_lease writing, reading;
    struct rig_pair pair;

    opts.lease_ms = KEPT_LEASE_MS;
    opts.watchdog = true;
    pair = rig_open_pair(&opts);
    premise_watch_pace();
    rig_acquire_short(pair.a, name, NULL, KEPT_LEASE_MS, &writing);
    rig_acquire_short(pair.a, name, &READ, KEPT_LEASE_MS, &reading);
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK,
                           dlock_release(pair.a, &writing));
    assert_stays_provided(is_steady(KEPT_LEASE_MS),
                          dlock_lease_valid(pair.a, &reading) &&
                              rig_try(pair.b, name) == DLOCK_BUSY,
                          KEPT_LEASE_MS + RENEWED_MS);
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK,
                           dlock_release(pair.a, &reading));
    assert_status(OK, rig_try(pair.b, name));
}

void reader_becomes_no_writer(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease reading, writing;

    assert_status(OK, read_lock(pair.a, name, &reading));
    assert_status(BUSY, dlock_acquire(pair.a, name, 0, &writing));
    assert_status(TIMEOUT, dlock_acquire(pair.a, name, LASTS_MS, &writing));
    assert_true(dlock_lease_valid(pair.a, &reading));
    assert_status(OK, dlock_release(pair.a, &reading));
    /* In the other order, the thread may release its read level first. */
    assert_status(OK, dlock_acquire(pair.a, name, 0, &writing));
    assert_status(OK, read_lock(pair.a, name, &reading));
    assert_status(OK, dlock_release(pair.a, &reading));
    assert_open_to(pair, name, DLOCK_BUSY, DLOCK_BUSY);
    assert_status(OK, dlock_release(pair.a, &writing));
    assert_open_to(pair, name, DLOCK_OK, DLOCK_OK);
}

void counts_levels_of_a_reader(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease level[3];

    for (int i = 0; i < 3; i++)
        assert_status(OK, read_lock(pair.a, name, &level[i]));
    assert_status(OK, dlock_release(pair.a, &level[0])); /* the outermost level first */
    assert_false(dlock_lease_valid(pair.a, &level[0]));
    assert_open_to(pair, name, DLOCK_OK, DLOCK_BUSY);
    assert_status(OK, dlock_release(pair.a, &level[2]));
    assert_open_to(pair, name, DLOCK_OK, DLOCK_BUSY);
    assert_status(OK, dlock_release(pair.a, &level[1]));
    assert_open_to(pair, name, DLOCK_OK, DLOCK_OK);
}

/* One reader dies and another goes on. The hold of the dead reader ends by its lease, and with the
 * end of the other hold the lock is free. */
void readers_end_one_by_one(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_request brief = {.shared = true, .lease_ms = SHORT_LEASE_MS};
    struct rig_pair pair;
    const char *name = rig_name();
    dlock_lease dead, alive;

    opts.lease_ms = LONG_LEASE_MS;
    pair = rig_open_pair(&opts);
    rig_acquire_short(pair.a, name, &brief, SHORT_LEASE_MS, &dead);
    assert_status(OK, read_lock(pair.b, name, &alive));
    assert_comes(!dlock_lease_valid(pair.a, &dead));
    assert_status(BUSY, rig_try_elsewhere(pair.a, name));
    /* The lease is over in the store too, and not only for the holder. */
    rig_pause_ms(SHORT_LEASE_MS / 4);
    assert_status(OK, dlock_renew(pair.b, &alive));
    assert_status(LOST, dlock_release(pair.a, &dead));
    assert_status(BUSY, rig_try_elsewhere(pair.a, name));
    assert_status(OK, dlock_release(pair.b, &alive));
    assert_status(OK, rig_try_elsewhere(pair.a, name));
    /* The same if no request comes after the lease of the dead reader has ended. */
    rig_acquire_short(pair.a, name, &brief, SHORT_LEASE_MS, &dead);
    assert_status(OK, read_lock(pair.b, name, &alive));
    assert_comes(!dlock_lease_valid(pair.a, &dead));
    rig_pause_ms(SHORT_LEASE_MS / 4);
    assert_status(OK, dlock_release(pair.b, &alive));
    assert_status(OK, rig_try_elsewhere(pair.b, name));
    (void)dlock_release(pair.a, &dead);
    /* The reader with the longer lease releases first: the lock lasts until the lease of the other
     * one ends. */
    rig_acquire_short(pair.a, name, &brief, SHORT_LEASE_MS, &dead);
    assert_status(OK, read_lock(pair.b, name, &alive));
    assert_status(OK, dlock_release(pair.b, &alive));
    assert_comes(rig_try_elsewhere(pair.b, name) == DLOCK_OK);
    (void)dlock_release(pair.a, &dead);
}

static long long level_pttl(const char *name, const char *owner, int level)
{
    return servers_ask(0, "PTTL {%s}:%s:rwlock_timeout:%d", name, owner, level);
}

void reader_renews_its_own(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_system *watched;
    dlock_lease dead, alive;

    opts.lease_ms = SHORT_LEASE_MS;
    pair = rig_open_pair(&opts);
    opts.lease_ms = KEPT_LEASE_MS;
    opts.watchdog = true;
    watched = rig_open(&opts);
    servers_find(&opts);
    premise_watch_pace();
    rig_acquire_short(pair.a, name, &READ, SHORT_LEASE_MS, &dead);
    rig_acquire_short(watched, name, &READ, KEPT_LEASE_MS, &alive);
    assert_comes(level_pttl(name, dead.owner, 1) == -2);
    assert_stays_provided(is_steady(KEPT_LEASE_MS),
                          level_pttl(name, alive.owner, 1) > 0,
                          KEPT_LEASE_MS + SHORT_LEASE_MS);
    assert_int_equal(-2, level_pttl(name, dead.owner, 1));
    assert_provided(is_steady(KEPT_LEASE_MS), rig_try(pair.b, name) == DLOCK_BUSY);
    assert_status_provided(is_steady(KEPT_LEASE_MS), OK, dlock_release(watched, &alive));
    assert_status(OK, rig_try(pair.b, name));
    assert_int_equal(0, servers_count_keys(name));
}

void counts_a_resent_reader_once(const char *variant)
{
    static const char owner[] = "00000000-0000-4000-8000-000000000000:7";
    static const char levels[] = "{r}:00000000-0000-4000-8000-000000000000:7"
                                 ":rwlock_timeout:";
    dlock_options opts = rig_options(variant);

    servers_start(&opts);
    for (int level = 1; level <= 2; level++)
        for (int sent = 0; sent < 2; sent++) {
            assert_int_equal(REDIS_REPLY_NIL,
                             servers_tell(0, "EVAL %s 2 r %s 60000 %s %d",
                                          LUA_RWLOCK_READ_ACQUIRE, levels, owner, level)
                                 ->type);
            assert_int_equal(level, atoi(servers_tell(0, "HGET r %s", owner)->str));
        }
    servers_tell(0, "EVAL %s 2 r %s 60000 %s 1", LUA_RWLOCK_READ_ACQUIRE, levels, owner);
    assert_string_equal("2", servers_tell(0, "HGET r %s", owner)->str);
    assert_int_equal(-3, servers_ask(0, "EVAL %s 2 r %s 60000 %s 4",
                                     LUA_RWLOCK_READ_ACQUIRE, levels, owner));
    for (int level = 3; level >= 2; level--) /* a level that never was, and a level twice */
        for (int sent = 0; sent < 2; sent++)
            assert_int_equal(0, servers_ask(0, "EVAL %s 3 r c {r} %s %d 0",
                                            LUA_RWLOCK_READ_RELEASE, owner, level));
    assert_int_equal(2, servers_ask(0, "DBSIZE")); /* the lock, and the key of its only level */
    assert_int_equal(1, servers_ask(0, "EVAL %s 3 r c {r} %s 1 0",
                                    LUA_RWLOCK_READ_RELEASE, owner));
    assert_int_equal(REDIS_REPLY_NIL,
                     servers_tell(0, "EVAL %s 3 r c {r} %s 1 0", LUA_RWLOCK_READ_RELEASE,
                                  owner)
                         ->type);
    assert_int_equal(0, servers_ask(0, "DBSIZE"));
    /* The lock is deleted, and the key of its level is not: no further level must build on this
     * key. */
    servers_tell(0, "SET %s1 1 PX 60000", levels);
    assert_int_equal(-3, servers_ask(0, "EVAL %s 2 r %s 60000 %s 2",
                                     LUA_RWLOCK_READ_ACQUIRE, levels, owner));
}

void shows_and_frees_its_readers(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_request brief = {.shared = true, .lease_ms = SHORT_LEASE_MS};
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease lease, again, other;
    dlock_info info;
    int64_t until_ms;

    assert_status(OK, read_lock(pair.a, name, &lease));
    assert_status(OK, read_lock(pair.a, name, &again));
    assert_status(OK, dlock_inspect(pair.b, name, &info));
    assert_true(info.locked && info.shared);
    assert_int_equal(1, info.reader_count);
    assert_int_equal(2, info.hold_count);
    assert_string_equal(lease.owner, info.owner);
    until_ms = rig_acquire_short(pair.b, name, &brief, SHORT_LEASE_MS, &other);
    assert_status(OK, dlock_inspect(pair.b, name, &info));
    assert_provided(lasts_until(until_ms), info.reader_count == 2);
    assert_comes(dlock_inspect(pair.b, name, &info) == DLOCK_OK &&
                 info.reader_count == 1); /* the lease of the other reader has ended */
    servers_find(&opts);
    assert_true(level_pttl(name, lease.owner, 2) > 0);
    assert_status(OK, dlock_force_release(pair.b, name));
    assert_int_equal(-2, level_pttl(name, lease.owner, 1));
    assert_int_equal(-2, level_pttl(name, lease.owner, 2));
    assert_status(LOST, dlock_force_release(pair.b, name));
    assert_open_to(pair, name, DLOCK_OK, DLOCK_OK);
    assert_status(LOST, dlock_release(pair.a, &lease));
    (void)dlock_release(pair.a, &again);
    (void)dlock_release(pair.b, &other);
    assert_open_to(pair, name, DLOCK_OK, DLOCK_OK);
}

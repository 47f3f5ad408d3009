/* SPDX-License-Identifier: MIT */
/* test_admission.c -- the admission limits the orders in progress of several
 * processes. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/dlock_primitives.h"
#include "tests/service/rig.h"

enum { INSIDE = 2, PROCESSES = 2, BUYERS = 8, ORDERS_EACH = 25 };
enum { LEASE_MS = 400, LONG_LEASE_MS = 60000, TIMEOUT_MS = 300 };

static const char *const KINDS[] = {"semaphore", "permits"};
enum { SEMAPHORE, PERMITS, KIND_COUNT };

static struct rig_answer answer;
static char name[64];
static dlock_primitives *prims;
static int64_t voucher;

/* Each test uses a name of its own, since the tests share a Redis. */
static void begin(void)
{
    static unsigned drawn;

    (void)snprintf(name, sizeof(name), "test:admission:%d:%u", (int)getpid(), drawn++);
    if (dlock_primitives_open(&prims, getenv("SECKILL_REDIS_URL"), 2000) != DLOCK_OK)
        fail_msg("%s", dlock_error());
}

static void end(void)
{
    (void)dlock_latch_delete(prims, name); /* deletes the key, whatever its kind is */
    dlock_primitives_close(prims);
    prims = NULL;
}

static int64_t free_places(int kind)
{
    int64_t places = -77;
    dlock_status st = kind == PERMITS ? dlock_permits_available(prims, name, &places)
                                      : dlock_semaphore_available(prims, name, &places);

    if (st != DLOCK_OK)
        fail_msg("%s", dlock_error());
    return places;
}

/* If Redis gets no processor for longer than the timeout, an order is answered with "unavailable".
 * So only the test of such a Redis has a short timeout. */
static struct rig_service start_with(int kind, int lease_ms, int timeout_ms)
{
    char admission[64], named[96], lease[64], timeout[64];

    (void)snprintf(admission, sizeof(admission), "--admission=%s:%d", KINDS[kind],
                   INSIDE);
    (void)snprintf(named, sizeof(named), "--admission-name=%s", name);
    (void)snprintf(lease, sizeof(lease), "--admission-lease=%dms",
                   kind == PERMITS ? lease_ms : LONG_LEASE_MS);
    (void)snprintf(timeout, sizeof(timeout), "--redis-timeout=%dms", timeout_ms);
    return RIG_START("--allow-faults", timeout, admission, named, lease, "--lock=local",
                     "--process=admission-test");
}

static struct rig_service start(int kind)
{
    return start_with(kind, LONG_LEASE_MS, RIG_PATIENCE_MS);
}

static void hold_one(struct rig_held *h, const struct rig_service *s, int64_t user)
{
    rig_hold(h, s, "after-acquire", voucher, user);
}

static void let_go(struct rig_held *h, const struct rig_service *s)
{
    rig_let_go(h, s, "after-acquire");
    assert_string_equal(h->answer.outcome, "accepted");
}

static void expect(int port, int64_t user, const char *outcome)
{
    assert_true(rig_order(port, voucher, user, &answer));
    if (strcmp(answer.outcome, outcome) != 0)
        fail_msg("%s instead of %s: %s", answer.outcome, outcome, answer.body);
}

/* One held order in each of two processes uses all places. */
TEST(no_more_are_inside_than_may_be)
{
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        static struct rig_held held[PROCESSES];
        struct rig_service s[PROCESSES];

        begin();
        voucher = rig_voucher(100);
        for (int i = 0; i < PROCESSES; i++)
            s[i] = start(kind);
        for (int i = 0; i < PROCESSES; i++) {
            hold_one(&held[i], &s[i], i + 1);
            assert_int_equal(free_places(kind), INSIDE - i - 1);
        }
        for (int i = 0; i < 6; i++)
            expect(s[i % PROCESSES].orders_port, 10 + i, "admission-full");
        assert_int_equal(rig_orders(voucher), 0);
        assert_true(rig_metric(&s[0],
                               "seckill_orders_stopped_total{layer=\"admission\"") == 3);
        let_go(&held[0], &s[0]);
        assert_int_equal(free_places(kind), 1);
        expect(s[1].orders_port, 20, "accepted"); /* the other process' place */
        expect(s[0].orders_port, 21, "accepted");
        let_go(&held[1], &s[1]);
        assert_int_equal(free_places(kind), INSIDE);
        for (int i = 0; i < PROCESSES; i++)
            rig_stop(&s[i]);
        end();
    }
}

TEST(a_refused_client_is_told_to_come_again)
{
    static struct rig_held held[INSIDE];
    char path[64], token[TOKEN_LEN + 1], header[TOKEN_LEN + 32];
    struct rig_service s, other;

    begin();
    voucher = rig_voucher(100);
    s = start(PERMITS);
    other = start(PERMITS);
    hold_one(&held[0], &s, 1);
    hold_one(&held[1], &other, 2);
    expect(s.orders_port, 3, "admission-full");
    assert_int_equal(answer.status, 429);
    assert_non_null(strstr(answer.head, "429 Too Many Requests"));
    assert_non_null(strstr(answer.head, "Retry-After: 1"));
    rig_token(3, token);
    (void)snprintf(path, sizeof(path), "/voucher-order/seckill/%lld",
                   (long long)voucher);
    (void)snprintf(header, sizeof(header), "authorization: %s\r\n", token);
    assert_true(rig_request(s.orders_port, "POST", path, header, "", &answer));
    assert_int_equal(answer.status, 200); /* the course face */
    assert_string_equal(answer.outcome, "admission-full");
    assert_non_null(strstr(answer.body, "\"success\":false"));
    assert_non_null(strstr(answer.head, "Retry-After: 1"));
    let_go(&held[0], &s);
    let_go(&held[1], &other);
    rig_stop(&s);
    rig_stop(&other);
    end();
}

struct buyer {
    pthread_t thread;
    int port;
    int64_t first_user;
    int accepted;
    char other[128]; /* the last answer that is neither "accepted" nor "admission-full" */
};

static void *buy(void *arg)
{
    struct buyer *b = arg;
    static _Thread_local struct rig_answer got;

    for (int i = 0; i < ORDERS_EACH; i++) {
        if (!rig_order(b->port, voucher, b->first_user + i, &got))
            (void)snprintf(b->other, sizeof(b->other), "no answer");
        else if (strcmp(got.outcome, "accepted") == 0)
            b->accepted++;
        else if (strcmp(got.outcome, "admission-full") != 0)
            (void)snprintf(b->other, sizeof(b->other), "%.120s", got.body);
    }
    return NULL;
}

/* Under overload a client gets no other answer, and in the end every place is free. */
TEST(an_overload_leaves_every_place_free)
{
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        static struct buyer buyers[BUYERS]; /* a failed test leaves their threads behind */
        struct rig_service s[PROCESSES];
        int accepted = 0;

        begin();
        voucher = rig_voucher(100000);
        for (int i = 0; i < PROCESSES; i++)
            s[i] = start(kind);
        for (int i = 0; i < BUYERS; i++) {
            buyers[i] = (struct buyer){.port = s[i % PROCESSES].orders_port,
                                       .first_user = 1 + i * ORDERS_EACH};
            assert_int_equal(
                pthread_create(&buyers[i].thread, NULL, buy, &buyers[i]), 0);
        }
        for (int i = 0; i < BUYERS; i++) {
            (void)pthread_join(buyers[i].thread, NULL);
            accepted += buyers[i].accepted;
        }
        for (int i = 0; i < BUYERS; i++)
            assert_string_equal(buyers[i].other, "");
        assert_true(accepted > 0);
        assert_int_equal(rig_orders(voucher), accepted);
        assert_int_equal(free_places(kind), INSIDE);
        for (int i = 0; i < PROCESSES; i++)
            rig_stop(&s[i]);
        end();
    }
}

TEST(every_way_out_gives_the_place_back)
{
    static const struct postgres_statement END_ALL = {
        "admission_end_all",
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE application_name = $1",
        "t"};

    for (int kind = 0; kind < KIND_COUNT; kind++) {
        static struct rig_held held;
        struct rig_service s;

        begin();
        s = start(kind);
        voucher = rig_voucher(2);
        expect(s.orders_port, 1, "accepted");
        expect(s.orders_port, 1, "duplicate");
        hold_one(&held, &s, 2);
        expect(s.orders_port, 2, "lock-busy");
        let_go(&held, &s);
        expect(s.orders_port, 3, "sold-out");
        assert_int_equal(free_places(kind), INSIDE);
        /* The session of the order's transaction is ended. */
        voucher = rig_voucher(2);
        hold_one(&held, &s, 4);
        assert_int_equal(
            db_run_one(rig_db(), &END_ALL, DB_VALUES(DB_TEXT("admission-test"))), DB_OK);
        rig_let_go(&held, &s, "after-acquire");
        assert_int_equal(free_places(kind), INSIDE);
        rig_stop(&s);
        end();
    }
}

struct places {
    int kind;
    int64_t wanted;
};

static bool are_free(void *arg)
{
    const struct places *p = arg;

    return free_places(p->kind) == p->wanted;
}

/* A semaphore has this flaw in Redisson too: the store does not know which process has its
 * places. */
TEST(a_killed_process_takes_its_places_along)
{
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        static struct rig_held held;
        struct places all = {kind, INSIDE};
        struct rig_service s;

            begin();
        voucher = rig_voucher(100);
        s = start_with(kind, LEASE_MS, RIG_PATIENCE_MS);
        hold_one(&held, &s, 1);
        assert_int_equal(free_places(kind), INSIDE - 1);
        rig_signal(&s, SIGKILL);
        assert_int_equal(rig_wait(&s, RIG_PATIENCE_MS), 128 + SIGKILL);
        (void)pthread_join(held.thread, NULL);
        if (kind == PERMITS) {
            assert_true(rig_until(are_free, &all, 10 * LEASE_MS));
        } else {
            assert_false(rig_until(are_free, &all, 2 * LEASE_MS));
            s = start(kind); /* a new process does not free the places */
            assert_int_equal(free_places(kind), INSIDE - 1);
            rig_stop(&s);
        }
        end();
    }
}

/* After a connection broke, the library does not open another one for a moment. */
static bool is_accepted(void *arg)
{
    const struct rig_service *s = arg;

    assert_true(rig_order(s->orders_port, voucher, 2, &answer));
    return strcmp(answer.outcome, "accepted") == 0;
}

/* Without Redis the number of admitted orders is unknown, so no order is admitted. */
TEST(without_redis_nobody_is_let_in)
{
    struct places all = {PERMITS, INSIDE};
    struct rig_service s;
    pid_t redis;

    rig_lab_up();
    begin();
    voucher = rig_voucher(100);
    s = start_with(PERMITS, LEASE_MS, TIMEOUT_MS);
    expect(s.orders_port, 1, "accepted");
    redis = rig_lab_pid("redis");
    assert_int_equal(kill(redis, SIGSTOP), 0);
    expect(s.orders_port, 2, "unavailable");
    assert_int_equal(answer.status, 503);
    assert_non_null(strstr(answer.head, "Retry-After: 1"));
    assert_int_equal(rig_orders(voucher), 1);
    assert_int_equal(kill(redis, SIGCONT), 0);
    assert_true(rig_until(are_free, &all, RIG_PATIENCE_MS));
    assert_true(rig_until(is_accepted, &s, RIG_PATIENCE_MS));
    /* A Redis that lost its data has no places, so they are made again. */
    rig_lab_restart("redis");
    voucher = rig_voucher(100);
    assert_true(rig_until(is_accepted, &s, RIG_PATIENCE_MS));
    assert_true(rig_until(are_free, &all, RIG_PATIENCE_MS));
    rig_stop(&s);
    dlock_primitives_close(prims);
    rig_lab_down();
}

TEST(an_impossible_admission_is_refused)
{
    static const char *const WRONG[] = {"semaphore",    "semaphore:0", "permits:-1",
                                        "permits:1x",   "permits:",    "latch:3",
                                        "semaphore: 3", "permits:01",
                                        "permits:99999999999999999999"};

    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
        char flag[64], log[1024];

        (void)snprintf(flag, sizeof(flag), "--admission=%s", WRONG[i]);
        assert_int_equal(
            rig_run((const char *const[]){flag, NULL}, log, sizeof(log)), 64);
        assert_non_null(strstr(log, "none, semaphore:N or permits:N"));
    }
}

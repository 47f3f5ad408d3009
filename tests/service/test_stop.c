/* SPDX-License-Identifier: MIT */
/* test_stop.c -- a stop of the service: orders in progress are finished, or their clients get an
 * answer. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "tests/service/rig.h"

enum { BUYERS = 8 };

struct buyer {
    pthread_t thread;
    int port;
    int64_t voucher;
    int64_t next_user;
    atomic_bool *stop;
    atomic_int *accepted;
    int broken; /* connections that got no answer */
};

/* Order on one connection after another until the service has ended. */
static void *buy(void *arg)
{
    struct buyer *b = arg;
    static _Thread_local struct rig_answer got;

    while (!atomic_load(b->stop)) {
        if (!rig_order(b->port, b->voucher, b->next_user, &got)) {
            b->broken++;
            if (b->broken > 3)
                break;
            continue;
        }
        b->next_user += BUYERS;
        if (strcmp(got.outcome, "accepted") == 0)
            atomic_fetch_add(b->accepted, 1);
    }
    return NULL;
}

static bool is_under_way(void *accepted)
{
    return atomic_load((atomic_int *)accepted) >= 100;
}

/* SIGTERM under load: each client that was told of an order has this order, and there is no other
 * order. */
TEST(a_stop_loses_no_order)
{
    static const char *const LOCKS[] = {"--lock=none", "--lock=reentrant"};

    for (int i = 0; i < 2; i++) {
        struct rig_service s = RIG_START(LOCKS[i], "--workers=16");
        struct buyer buyers[BUYERS];
        atomic_bool stop = false;
        atomic_int accepted = 0;
        int64_t voucher = rig_voucher(1000000);

        for (int b = 0; b < BUYERS; b++) {
            buyers[b] = (struct buyer){.port = s.orders_port, .voucher = voucher,
                                       .next_user = b + 1, .stop = &stop,
                                       .accepted = &accepted};
            assert_int_equal(pthread_create(&buyers[b].thread, NULL, buy, &buyers[b]),
                             0);
        }
        assert_true(rig_until(is_under_way, &accepted, RIG_PATIENCE_MS));
        rig_stop(&s);
        atomic_store(&stop, true);
        for (int b = 0; b < BUYERS; b++)
            (void)pthread_join(buyers[b].thread, NULL);
        assert_int_equal(rig_orders(voucher), atomic_load(&accepted));
        assert_int_equal(rig_stock(voucher), 1000000 - atomic_load(&accepted));
    }
}

static struct rig_service faulty;

/* An order that is held at a fault point is released, finished and answered. */
TEST(a_stop_lets_held_orders_finish)
{
    static struct rig_held held;
    int64_t voucher = rig_voucher(1);

    faulty = RIG_START("--lock=reentrant", "--allow-faults");
    rig_hold(&held, &faulty, "before-commit", voucher, 1);
    rig_stop(&faulty);
    (void)pthread_join(held.thread, NULL);
    assert_string_equal(held.answer.outcome, "accepted");
    assert_int_equal(rig_orders(voucher), 1);
}

/* A silent connection does not delay a stop. */
TEST(a_stop_does_not_wait_for_the_silent)
{
    struct rig_service s = RIG_START("--lock=none", "--request-timeout=60s");
    int fd = rig_connect(s.orders_port);
    int64_t start_ns = monotonic_ns();

    assert_true(fd >= 0);
    rig_stop(&s);
    assert_true(monotonic_ns() - start_ns < 30000000000); /* half of the request timeout */
    (void)close(fd);
}

/* The waiter's request has read the voucher, which is its last statement before the lock. */
static bool is_waiting(void *arg)
{
    static const struct postgres_statement LOOKED_UP = {
        "stop_looked_up",
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'waiter'"
        " AND query LIKE '%begin_time%'",
        ""};

    (void)arg;
    assert_int_equal(db_run_one(rig_db(), &LOOKED_UP, NULL), DB_OK);
    return rig_metric(&faulty, "seckill_http_workers_busy") >= 1 &&
           db_int(rig_db(), 0, 0, 0) > 0;
}

static void expect_in_log(const struct rig_service *s, const char *said)
{
    if (!rig_has_logged(s, said))
        fail_msg("no \"%s\" in %s", said, s->log);
}

/* Another process holds the lock, and the request waits for it longer than the stop waits for the
 * request. The exit status is not 1, with which the audit says that a run is invalid. */
TEST(a_stop_that_leaves_a_request_exits_with_70)
{
    struct rig_service holder = RIG_START("--lock=lua", "--allow-faults");
    int64_t voucher = rig_voucher(2);
    struct rig_service waiter;
    static struct rig_held held[2];
    int status;

    rig_hold(&held[0], &holder, "after-acquire", voucher, 1);
    faulty = waiter =
        RIG_START("--lock=lua", "--lock-wait=20s", "--drain-timeout=200ms",
                  "--process=waiter");
    expect_in_log(&waiter, "--lock-wait=20000ms is not below --drain-timeout=200ms");
    rig_order_beside(&held[1], &waiter, voucher, 1);
    assert_true(rig_until(is_waiting, NULL, RIG_PATIENCE_MS));
    rig_signal(&waiter, SIGTERM);
    status = rig_wait(&waiter, RIG_PATIENCE_MS);
    assert_int_equal(status, 70);
    expect_in_log(&waiter,
                  "1 request was still in progress at the end of --drain-timeout (200 ms)");
    (void)unlink(waiter.log);
    (void)pthread_join(held[1].thread, NULL);
    rig_stop(&holder);
    (void)pthread_join(held[0].thread, NULL);
    assert_int_equal(rig_orders(voucher), 1);
}

static bool is_stopping(void *arg)
{
    return rig_has_logged(arg, ": stopping\n");
}

/* Start a service with an order that cannot finish: another session holds the voucher's row. */
static void start_with_endless_order(struct rig_held *held, int64_t voucher)
{
    static const struct postgres_statement BEGIN = {"stop_begin", "BEGIN", ""};
    static const struct postgres_statement HOLD = {
        "stop_hold",
        "SELECT 1 FROM tb_seckill_voucher WHERE voucher_id = $1 FOR UPDATE", "i"};

    faulty = RIG_START("--lock=none", "--statement-timeout=300s", "--drain-timeout=300s");
    db_queue(rig_db(), &BEGIN, NULL);
    db_queue(rig_db(), &HOLD, DB_VALUES(DB_INT(voucher)));
    assert_int_equal(db_run(rig_db()), DB_OK);
    rig_order_beside(held, &faulty, voucher, 1);
    while (rig_metric(&faulty, "seckill_http_workers_busy") < 1)
        ;
}

static void free_the_row(void)
{
    static const struct postgres_statement ROLLBACK = {"stop_rollback", "ROLLBACK", ""};

    assert_int_equal(db_run_one(rig_db(), &ROLLBACK, NULL), DB_OK);
}

TEST(a_second_signal_ends_it_at_once)
{
    static struct rig_held held;
    int64_t voucher = rig_voucher(1);
    int status;

    start_with_endless_order(&held, voucher);
    rig_signal(&faulty, SIGTERM);
    assert_true(rig_until(is_stopping, &faulty, RIG_PATIENCE_MS));
    assert_int_equal(rig_wait(&faulty, 300), -1);
    rig_signal(&faulty, SIGTERM);
    status = rig_wait(&faulty, RIG_PATIENCE_MS);
    assert_int_equal(status, 128 + SIGTERM);
    (void)unlink(faulty.log);
    (void)pthread_join(held.thread, NULL);
    free_the_row();
    assert_int_equal(rig_orders(voucher), 0);
}

/* Supervisors send SIGHUP together with SIGTERM, and a closed terminal sends it to all
 * processes. */
TEST(a_hangup_stops_in_order_and_cuts_no_stop_short)
{
    static struct rig_held held;
    int64_t voucher = rig_voucher(1);

    start_with_endless_order(&held, voucher);
    rig_signal(&faulty, SIGHUP);
    assert_true(rig_until(is_stopping, &faulty, RIG_PATIENCE_MS));
    rig_signal(&faulty, SIGTERM);
    assert_int_equal(rig_wait(&faulty, 100), -1);
    rig_signal(&faulty, SIGHUP);
    assert_int_equal(rig_wait(&faulty, 300), -1);
    free_the_row();
    (void)pthread_join(held.thread, NULL);
    rig_expect(&held.answer, 201, "accepted");
    assert_int_equal(rig_wait(&faulty, RIG_PATIENCE_MS), 0);
    (void)unlink(faulty.log);
    assert_int_equal(rig_orders(voucher), 1);
}

/* nohup starts a process with SIGHUP ignored. */
TEST(a_hangup_that_is_ignored_changes_nothing)
{
    static struct rig_answer got;
    int64_t voucher = rig_voucher(1);

    (void)signal(SIGHUP, SIG_IGN);
    faulty = RIG_START("--lock=none");
    (void)signal(SIGHUP, SIG_DFL);
    rig_signal(&faulty, SIGHUP);
    assert_int_equal(rig_wait(&faulty, 300), -1);
    assert_true(rig_order(faulty.orders_port, voucher, 1, &got));
    rig_expect(&got, 201, "accepted");
    assert_false(rig_has_logged(&faulty, "signal"));
    rig_stop(&faulty);
}

static bool tells_fronts(void *arg)
{
    static struct rig_answer got;
    const struct rig_service *s = arg;

    return rig_request(s->admin_port, "GET", "/readyz", NULL, NULL, &got) &&
           got.status == 503 && strstr(got.body, "\"stopping\":true") != NULL;
}

/* A front notices a stop by /readyz. Until then its orders are accepted, but no connection stays
 * open. */
TEST(a_stop_is_told_to_fronts_before_it_begins)
{
    static struct rig_answer got;
    int64_t voucher = rig_voucher(1);

    faulty = RIG_START("--lock=reentrant", "--stop-delay=10m");
    rig_signal(&faulty, SIGTERM);
    assert_true(rig_until(tells_fronts, &faulty, RIG_PATIENCE_MS));
    assert_true(rig_order(faulty.orders_port, voucher, 1, &got));
    rig_expect(&got, 201, "accepted");
    rig_expect_in_head(&got, "Connection: close");
    rig_signal(&faulty, SIGTERM); /* the delay of 10 minutes would be too long */
    assert_int_equal(rig_wait(&faulty, RIG_PATIENCE_MS), 128 + SIGTERM);
    (void)unlink(faulty.log);
    assert_int_equal(rig_orders(voucher), 1);
}

TEST(a_delayed_stop_ends_by_itself)
{
    struct rig_service s = RIG_START("--lock=none", "--stop-delay=300ms");
    int64_t start_ns = monotonic_ns();

    rig_stop(&s); /* expects exit status 0 */
    assert_true(monotonic_ns() - start_ns >= 300000000);
}

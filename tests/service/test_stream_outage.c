/* SPDX-License-Identifier: MIT */
/* test_stream_outage.c -- --order-path=stream: Redis, PostgreSQL or a part of the stream goes away
 * while orders wait in the stream.  A promise is then as durable as the data of Redis. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/service/batch.h"
#include "tests/service/stream_rig.h"

enum { USERS = 12, STOCK = 20 };

static struct rig_service service;
static struct rig_answer answer;

static bool is_ordering_again(void *arg)
{
    int64_t *next = arg;

    (void)rig_order(service.orders_port, next[0], next[1], &answer);
    next[1] += strcmp(answer.outcome, "queued") == 0;
    return strcmp(answer.outcome, "queued") == 0;
}

/* Queue orders of users 1 to USERS: the writer has taken the first one, and cannot write it yet. */
static void queue_orders(int64_t voucher, int64_t *orders)
{
    char request[48];

    for (int user = 1; user <= USERS; user++) {
        (void)snprintf(request, sizeof(request), "kept:%lld:%d", (long long)voucher, user);
        orders[user] = stream_buy(&service, voucher, user, request, 202, "queued");
        stream_await_taken();
    }
    assert_int_equal(stream_waiting(), USERS);
}

static void restart_redis(void)
{
    rig_lab_kill("redis");
    rig_lab_restart("redis");
}

static void await_reader(int64_t voucher)
{
    int64_t next[2] = {voucher, USERS + 1};

    if (!rig_until(is_ordering_again, next, RIG_PATIENCE_MS))
        fail_msg("nobody is let in: %s", answer.outcome);
}

/* The writer writes the order that it has in memory. The other orders are lost without an answer to
 * their clients, and Redis gets its stock from PostgreSQL again. */
TEST(a_redis_that_keeps_nothing_breaks_promises)
{
    int64_t voucher = rig_voucher(STOCK), orders[USERS + 1];
    char request[48];

    stream_anew();
    service = STREAM_START("--lock=none", "--redis-timeout=1s");
    assert_true(rig_has_logged(&service, "has no append-only file"));
    batch_begin(voucher);
    queue_orders(voucher, orders);
    restart_redis();
    batch_let_go();
    await_reader(voucher);
    stream_await_waiting(0);
    rig_stop(&service);
    assert_int_equal(rig_orders(voucher), 2); /* the first order, and the order after the restart */
    assert_int_equal(rig_stock(voucher), STOCK - 2);
    service = STREAM_START("--lock=none");
    (void)snprintf(request, sizeof(request), "kept:%lld:%d", (long long)voucher, USERS);
    stream_expect_request(&service, USERS, request, "none", 0);
    rig_stop(&service);
}

TEST(a_redis_with_a_log_breaks_none)
{
    int64_t voucher = rig_voucher(STOCK), orders[USERS + 1];

    stream_anew();
    stream_keep_all();
    service = STREAM_START("--lock=none", "--redis-timeout=1s");
    assert_false(rig_has_logged(&service, "has no append-only file"));
    batch_begin(voucher);
    queue_orders(voucher, orders);
    restart_redis();
    assert_int_equal(stream_waiting(), USERS);
    batch_let_go();
    await_reader(voucher);
    rig_stop(&service);
    service = RIG_START("--order-path=stream", stream_flag(), "--lock=none",
                        "--stream-claim=100ms");
    stream_await_waiting(0);
    for (int user = 1; user <= USERS; user++)
        stream_expect_row(orders[user], voucher, user);
    assert_int_equal(rig_orders(voucher), USERS + 1);
    assert_int_equal(rig_stock(voucher), STOCK - USERS - 1);
    rig_stop(&service);
}

/* The writer goes on without a restart of the service. */
TEST(a_postgresql_that_restarts_breaks_none)
{
    int64_t voucher = rig_voucher(STOCK), orders[USERS + 1];

    stream_anew();
    service = STREAM_START("--lock=none", "--allow-faults");
    stream_arm(&service, "before-commit", "hold");
    queue_orders(voucher, orders);
    rig_lab_kill("postgres");
    stream_release(&service, "before-commit");
    rig_lab_restart("postgres");
    stream_await_waiting(0);
    for (int user = 1; user <= USERS; user++)
        stream_expect_row(orders[user], voucher, user);
    assert_int_equal(rig_orders(voucher), USERS);
    assert_int_equal(rig_stock(voucher), STOCK - USERS);
    rig_stop(&service);
}

/* Without Redis no order is admitted, and no client gets a promise. */
TEST(without_redis_nobody_is_let_in)
{
    int64_t voucher = rig_voucher(STOCK);

    stream_anew();
    service = STREAM_START("--lock=none", "--redis-timeout=300ms");
    rig_lab_kill("redis");
    assert_true(rig_order(service.orders_port, voucher, 1, &answer));
    assert_int_equal(answer.status, 503);
    assert_non_null(strstr(answer.head, "Retry-After: "));
    rig_lab_restart("redis");
    await_reader(voucher);
    stream_await_rows(voucher, 1);
    rig_stop(&service);
}

static bool have_vanished(void *unused)
{
    (void)unused;
    return rig_metric(&service, "seckill_stream_vanished_total ") >= USERS - 1;
}

/* Somebody deletes the waiting orders, also the first, which the writer has in its memory. The
 * units of the others are sold, also to their buyers: by the same request, or by another one. */
static void lose_orders(const char *const *command)
{
    int64_t voucher = rig_voucher(USERS), orders[USERS + 1], next[2] = {voucher, USERS + 1};
    char request[48];

    stream_anew();
    service = STREAM_START("--lock=none");
    batch_begin(voucher);
    queue_orders(voucher, orders);
    (void)stream_buy(&service, voucher, USERS + 1, "", 409, "sold-out");
    (void)STREAM_NUMBER(command[0], stream_name(), command[1], command[2]);
    (void)snprintf(request, sizeof(request), "kept:%lld:2", (long long)voucher);
    stream_expect_request(&service, 2, request, "lost", orders[2]);
    batch_let_go();
    assert_true(rig_until(have_vanished, NULL, RIG_PATIENCE_MS));
    assert_true(rig_has_logged(&service, "entries fewer than the services have queued"));
    stream_expect_row(orders[1], voucher, 1);
    assert_true(rig_until(is_ordering_again, next, RIG_PATIENCE_MS));
    (void)stream_buy(&service, voucher, 2, request, 202, "queued");
    for (int user = 3; user < USERS; user++)
        (void)stream_buy(&service, voucher, user, "", 202, "queued");
    (void)stream_buy(&service, voucher, USERS, "", 409, "sold-out");
    stream_await_rows(voucher, USERS);
    assert_int_equal(rig_stock(voucher), 0);
    rig_stop(&service);
}

TEST(orders_that_vanish_are_seen_and_their_units_sold)
{
    lose_orders((const char *const[]){"XTRIM", "MAXLEN", "0"});
    lose_orders((const char *const[]){"DEL", NULL, NULL});
}

/* Somebody deletes a writer that has died, with the orders that it had taken, from the group. */
TEST(the_orders_of_a_deleted_writer_are_written)
{
    int64_t voucher = rig_voucher(STOCK), orders[USERS + 1];

    stream_anew();
    service = STREAM_START("--lock=none", "--allow-faults", "--process=died");
    stream_arm(&service, "before-commit", "hold");
    queue_orders(voucher, orders);
    rig_signal(&service, SIGKILL);
    assert_int_equal(rig_wait(&service, RIG_PATIENCE_MS), 128 + SIGKILL);
    assert_true(STREAM_NUMBER("XGROUP", "DELCONSUMER", stream_name(), "writers", "died") > 0);
    service = STREAM_START("--lock=none");
    stream_await_waiting(0);
    for (int user = 1; user <= USERS; user++)
        stream_expect_row(orders[user], voucher, user);
    rig_stop(&service);
}

int main(void)
{
    return rig_run_with_lab();
}

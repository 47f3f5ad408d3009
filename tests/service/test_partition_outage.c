/* SPDX-License-Identifier: MIT */
/* test_partition_outage.c -- one of several databases is down, or hangs. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/partition.h"
#include "tests/service/partition_rig.h"
#include "tests/service/stream_rig.h"

enum { BUYERS = 6 };

static struct rig_answer answer;

static void get(const struct rig_service *s, int64_t user, const char *path)
{
    char token[TOKEN_LEN + 1];
    char extra[128];

    rig_token(user, token);
    (void)snprintf(extra, sizeof(extra), "authorization: %s\r\n", token);
    assert_true(rig_request(s->orders_port, "GET", path, extra, NULL, &answer));
}

static bool names_partition(void *service)
{
    assert_true(rig_admin(service, "GET", "/readyz", &answer));
    return strstr(answer.body, "partition 1 of ") != NULL;
}

static bool is_whole(void *service)
{
    assert_true(rig_admin(service, "GET", "/readyz", &answer));
    return strstr(answer.body, "\"postgresql\":\"ok\"") != NULL;
}

struct wanted {
    const struct rig_service *service;
    int64_t voucher, user;
};

static bool is_sold(void *arg)
{
    struct wanted *w = arg;

    return rig_order(w->service->orders_port, w->voucher, w->user, &answer) &&
           answer.status == 201;
}

/* /readyz names the database and stays ready; orders of the other databases are accepted. */
TEST(a_database_that_is_down_stops_its_own_orders_alone)
{
    struct rig_service s = RIG_START(parts_flag_all());
    int64_t vouchers[PARTS_MOST];
    struct wanted wanted = {.service = &s, .user = 77};

    for (size_t i = 0; i < parts.count; i++)
        vouchers[i] = parts_voucher(i, 50);
    parts_shut(1, true);
    assert_true(rig_until(names_partition, &s, RIG_PATIENCE_MS));
    assert_int_equal(answer.status, 200);
    for (size_t i = 0; i < parts.count; i++) {
        assert_true(rig_order(s.orders_port, vouchers[i], 1, &answer));
        rig_expect(&answer, i == 1 ? 503 : 201, i == 1 ? "unavailable" : "accepted");
    }
    get(&s, 1, "/api/v1/vouchers?limit=100");
    rig_expect(&answer, 503, "unavailable"); /* and no list without the vouchers of one database */
    get(&s, 1, "/api/v1/requests/none-of-this-id");
    rig_expect(&answer, 503, "unavailable"); /* the database that is down may have the order */
    assert_true(rig_metric(&s, "seckill_partition_takes_total{partition=\"1\",result=\"lost\"}") >
                0);
    parts_shut(1, false);
    wanted.voucher = vouchers[1];
    assert_true(rig_until(is_sold, &wanted, RIG_PATIENCE_MS));
    assert_true(rig_until(is_whole, &s, RIG_PATIENCE_MS));
    rig_stop(&s);
}

struct buyer {
    pthread_t thread;
    int port;
    int64_t voucher, user;
    struct rig_answer answer;
};

static void *buy(void *arg)
{
    struct buyer *b = arg;

    (void)rig_order(b->port, b->voucher, b->user, &b->answer);
    return NULL;
}

static bool is_full(void *service)
{
    return rig_metric(service, "seckill_partition_turned_away_total{partition=\"1\"}") > 0;
}

/* As many orders as there are workers are in transactions of a database that hangs, because its
 * table is locked.  Some workers must be left for the other databases. */
TEST(a_database_that_hangs_leaves_workers_to_the_others)
{
    static struct buyer buyers[BUYERS];
    struct rig_service s = RIG_START(parts_flag_all(), "--workers=6", "--worker-wait=20s",
                                     "--statement-timeout=20s", "--order-path=each");
    int64_t slow = parts_voucher(1, 50), fast = parts_voucher(0, 50);
    struct db_conn *db = parts_connect(parts.owners[1]);
    int turned_away = 0;

    assert_true(rig_order(s.orders_port, slow, 99, &answer)); /* reads the sale window */
    rig_expect(&answer, 201, "accepted");
    assert_int_equal(db_script(db, "BEGIN; LOCK TABLE tb_seckill_voucher"), DB_OK);
    for (int i = 0; i < BUYERS; i++) {
        buyers[i] = (struct buyer){.port = s.orders_port, .voucher = slow, .user = i + 1};
        assert_int_equal(pthread_create(&buyers[i].thread, NULL, buy, &buyers[i]), 0);
    }
    assert_true(rig_until(is_full, &s, RIG_PATIENCE_MS));
    assert_true(rig_order(s.orders_port, fast, 98, &answer));
    rig_expect(&answer, 201, "accepted");
    assert_int_equal(db_script(db, "ROLLBACK"), DB_OK);
    db_free(db);
    for (int i = 0; i < BUYERS; i++) {
        (void)pthread_join(buyers[i].thread, NULL);
        turned_away += strcmp(buyers[i].answer.outcome, "database-busy") == 0;
    }
    assert_true(turned_away > 0 && turned_away < BUYERS);
    rig_stop(&s);
}

static bool is_written(void *arg)
{
    char sql[120];
    int64_t voucher = *(int64_t *)arg;

    (void)snprintf(sql, sizeof(sql),
                   "SELECT count(*) FROM tb_voucher_order WHERE voucher_id = %lld",
                   (long long)voucher);
    return parts_number(partition_of_voucher(voucher, parts.count), sql) == 1;
}

/* Queued orders of all partitions are written; those of a database that is down, once it is up. */
TEST(the_writer_of_the_stream_serves_all_databases)
{
    char stream[60];
    struct rig_service s;
    int64_t vouchers[PARTS_MOST];

    (void)snprintf(stream, sizeof(stream), "--stream-name=part:%d:%zu", (int)getpid(), parts.count);
    s = RIG_START(parts_flag_all(), "--order-path=stream", "--stream-claim=100ms", stream);
    for (size_t i = 0; i < parts.count; i++) {
        vouchers[i] = parts_voucher(i, 5);
        assert_true(rig_order(s.orders_port, vouchers[i], 1, &answer));
        rig_expect(&answer, 202, "queued");
        assert_true(rig_until(is_written, &vouchers[i], RIG_PATIENCE_MS));
    }
    parts_shut(1, true);
    assert_true(rig_until(names_partition, &s, RIG_PATIENCE_MS));
    assert_true(rig_order(s.orders_port, vouchers[1], 2, &answer)); /* reads the stock */
    vouchers[0] = parts_voucher(0, 5);
    assert_true(rig_order(s.orders_port, vouchers[0], 2, &answer));
    rig_expect(&answer, 202, "queued");
    assert_true(rig_until(is_written, &vouchers[0], RIG_PATIENCE_MS));
    parts_shut(1, false);
    rig_stop(&s);
}

static bool is_aside(void *unused)
{
    (void)unused;
    return STREAM_NUMBER("XLEN", stream_key("poison")) == 1;
}

/* PostgreSQL refuses the entry, because the entry has the number of another order. The writer has
 * taken no other entry. */
TEST(an_entry_that_a_database_refuses_goes_aside)
{
    struct rig_service s;
    int64_t voucher, taken;

    stream_anew();
    s = RIG_START(parts_flag_all(), "--order-path=stream", "--stream-claim=100ms", stream_flag());
    voucher = parts_voucher(1, 5);
    taken = stream_buy(&s, voucher, 1, "", 202, "queued");
    assert_true(rig_until(is_written, &voucher, RIG_PATIENCE_MS));
    stream_append(voucher, 7, taken, "part-poison", 0, -1);
    assert_true(rig_until(is_aside, NULL, RIG_PATIENCE_MS));
    stream_await_waiting(0);
    rig_stop(&s);
}

static int run_with(size_t databases)
{

    parts.count = databases;
    return rig_run_tests(parts_make, parts_drop);
}

int main(void)
{
    int failed = run_with(2);

    return run_with(4) + failed;
}

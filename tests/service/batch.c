/* SPDX-License-Identifier: MIT */
/* batch.c -- buyers in threads, and a row lock on a voucher that the test holds. */
#include "tests/service/batch.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { BUYERS_MAX = 32 };

static struct buyer {
    pthread_t thread;
    int port;
    int64_t voucher, user;
    char request_id[64];
    struct rig_answer answer;
    bool is_answered; /* the thread was joined */
} buyers[BUYERS_MAX];
static int buyer_count;

static void *buy(void *arg)
{
    struct buyer *b = arg;

    if (b->request_id[0] != '\0')
        (void)rig_order_named(b->port, b->voucher, b->user, b->request_id, &b->answer);
    else
        (void)rig_order(b->port, b->voucher, b->user, &b->answer);
    return NULL;
}

void batch_buy(const struct rig_service *at, int64_t voucher, int64_t user,
               const char *request_id)
{
    struct buyer *b = &buyers[buyer_count++];

    assert_true(buyer_count <= BUYERS_MAX);
    memset(b, 0, sizeof(*b));
    b->port = at->orders_port;
    b->voucher = voucher;
    b->user = user;
    (void)snprintf(b->request_id, sizeof(b->request_id), "%s", request_id);
    assert_int_equal(pthread_create(&b->thread, NULL, buy, b), 0);
}

int batch_count(const char *outcome)
{
    int count = 0;

    for (int i = 0; i < buyer_count; i++)
        count += strcmp(buyers[i].answer.outcome, outcome) == 0;
    return count;
}

void batch_expect(const char *outcome, int count)
{
    if (batch_count(outcome) == count)
        return;
    for (int i = 0; i < buyer_count; i++)
        print_message("user %lld: %s %s\n", (long long)buyers[i].user,
                      buyers[i].answer.outcome, buyers[i].answer.body);
    fail_msg("%d instead of %d are %s", batch_count(outcome), count, outcome);
}

void batch_expect_own_orders(int64_t voucher)
{
    static const struct postgres_statement OWNER = {
        "batch_owner", "SELECT user_id FROM tb_voucher_order WHERE id = $1"
                       " AND voucher_id = $2", "ii"};

    for (int i = 0; i < buyer_count; i++) {
        long long id = 0;

        assert_int_equal(sscanf(buyers[i].answer.body, "{\"id\":\"%lld\"", &id), 1);
        assert_int_equal(db_run_one(rig_db(), &OWNER, DB_VALUES(DB_INT(id), DB_INT(voucher))),
                         DB_OK);
        assert_int_equal(db_int(rig_db(), 0, 0, 0), rig_user(buyers[i].user));
    }
}

/* ---- the row ---- */

static void run(const char *sql)
{
    assert_int_equal(db_script(rig_db(), sql), DB_OK);
}

void batch_begin(int64_t voucher)
{
    char sql[160];

    buyer_count = 0;
    run("BEGIN");
    (void)snprintf(sql, sizeof(sql),
                   "SELECT 1 FROM tb_seckill_voucher WHERE voucher_id = %lld FOR UPDATE",
                   (long long)voucher);
    run(sql);
}

void batch_await_answers(void)
{
    for (int i = 0; i < buyer_count; i++) {
        if (!buyers[i].is_answered)
            (void)pthread_join(buyers[i].thread, NULL);
        buyers[i].is_answered = true;
    }
}

void batch_let_go(void)
{
    run("COMMIT");
    batch_await_answers();
}

/* A session that waits for the row may wait for another waiting session. Within one transaction
 * pg_stat_activity always has the same contents; pg_locks does not. */
static bool is_blocking(void *count)
{
    static const struct postgres_statement BLOCKED = {
        "batch_blocked",
        "WITH RECURSIVE waiting (pid) AS (SELECT pg_backend_pid() UNION"
        " SELECT l.pid FROM pg_locks l, waiting WHERE NOT l.granted"
        " AND waiting.pid = ANY(pg_blocking_pids(l.pid)))"
        " SELECT count(*) - 1 FROM waiting", ""};

    assert_int_equal(db_run_one(rig_db(), &BLOCKED, NULL), DB_OK);
    return db_int(rig_db(), 0, 0, 0) == *(const int *)count;
}

void batch_buy_blocked(const struct rig_service *at, int64_t voucher, int64_t user,
                       int blocked)
{
    batch_buy(at, voucher, user, "");
    if (!rig_until(is_blocking, &blocked, RIG_PATIENCE_MS))
        fail_msg("there are not %d transactions that wait for the row", blocked);
}

struct expected_waiting {
    const struct rig_service *at;
    int count;
};

static bool are_waiting(void *arg)
{
    const struct expected_waiting *e = arg;

    return rig_metric(e->at, "seckill_orders_waiting ") == e->count;
}

void batch_await_waiting(const struct rig_service *at, int count)
{
    struct expected_waiting e = {at, count};

    if (!rig_until(are_waiting, &e, RIG_PATIENCE_MS))
        fail_msg("%g orders wait instead of %d",
                 rig_metric(at, "seckill_orders_waiting "), count);
}

void batch_sell(const struct rig_service *at, int64_t voucher, int last)
{
    batch_begin(voucher);
    batch_buy_blocked(at, voucher, 1, 1);
    for (int user = 2; user <= last; user++)
        batch_buy(at, voucher, user, "");
    batch_await_waiting(at, last - 1);
    batch_let_go();
}

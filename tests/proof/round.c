/* SPDX-License-Identifier: MIT */
/* round.c -- the services, the buyers and the comparison of one sale. */
#include "tests/proof/round.h"

#include <stdio.h>
#include <string.h>

#include "tests/proof/books.h"
#include "tests/service/rig_inside.h"
#include "tests/service/stream_rig.h"

enum {
    MANY = 1000000,
    FEW = 300,
    BATCH_OF_A_WRITER = 128,
    /* More than the writers can take at once. */
    MANY_WAITING = BUYERS_SERVICES * BATCH_OF_A_WRITER + ROUND_ORDERS,
};

/* The rounds use these in turn. The last one sells by the fence, which a Redis that loses its data
 * would break. */
static const char *const CONFIGS[][4] = {
    {"--lock=none", "--lock-scope=user", "--stock-guard=conditional", NULL},
    {"--lock=reentrant", "--lock-scope=user", "--stock-guard=version", NULL},
    {"--lock=reentrant", "--lock-scope=voucher", "--stock-guard=row-lock", NULL},
    {"--lock=fenced", "--lock-scope=voucher", "--stock-guard=fence", NULL},
};
enum { CONFIG_COUNT = sizeof(CONFIGS) / sizeof(CONFIGS[0]), KEEPS_FENCES = CONFIG_COUNT - 1 };

/* The differences between the order paths that are proved. */
static const struct path {
    const char *name, *flag;
    const char *metric; /* a metric that counts the orders that the path has sold */
    bool is_queued;
} PATHS[] = {
    {"combined", "--order-path=combined", "seckill_batched_orders_total ", false},
    {"stream", "--order-path=stream", "seckill_stream_written_total ", true},
};

struct round round_now;
static const struct path *path = &PATHS[0];
static const char *const *config; /* of the present round */

const char *round_path_at(int i)
{
    return i < (int)(sizeof(PATHS) / sizeof(PATHS[0])) ? PATHS[i].name : NULL;
}

void round_choose_path(int i)
{
    path = &PATHS[i];
}

bool round_is_queued(void)
{
    return path->is_queued;
}

static struct rig_service start_service(void)
{
    const char *args[] = {
        path->flag, stream_flag(), "--stream-claim=3s", "--workers=32", "--lock-wait=500ms",
        "--lock-lease=2s", "--statement-timeout=2s", "--settle-timeout=2s",
        "--redis-timeout=1s", "--idle-transaction-timeout=3s", "--duplicate-guard=unique",
        rig_record_flag(), config[0], config[1], config[2], round_now.database_flag, NULL};

    return rig_start(args);
}

void round_begin(int number, bool forgets)
{
    struct round *r = &round_now;
    int ports[BUYERS_SERVICES];

    config = CONFIGS[number % (forgets ? KEEPS_FENCES : CONFIG_COUNT)];
    stream_anew();
    r->number = number;
    r->issued[0] = MANY;
    r->issued[1] = FEW;
    for (int v = 0; v < 2; v++)
        r->vouchers[v] = rig_voucher(r->issued[v]);
    for (int i = 0; i < BUYERS_SERVICES; i++) {
        r->services[i] = start_service();
        ports[i] = r->services[i].orders_port;
    }
    buyers_start(r->vouchers, ports);
    buyers_await_served(ROUND_ORDERS, "at the start");
}

void round_restart_service(int i)
{
    round_now.services[i] = start_service();
    buyers_move(i, round_now.services[i].orders_port);
}

/* ---- orders that wait ---- */

static bool are_many_waiting(void *unused)
{
    (void)unused;
    return stream_waiting() >= MANY_WAITING;
}

static void await_many_waiting(const char *when)
{
    if (!rig_until(are_many_waiting, NULL, RIG_PATIENCE_MS))
        fail_msg("only %lld orders wait %s", (long long)stream_waiting(), when);
}

static void run(const char *sql)
{
    if (db_script(rig_db(), sql) != DB_OK)
        fail_msg("%s: %s", sql, db_error(rig_db()));
}

void round_stop_writers(void)
{
    char sql[128];

    (void)snprintf(sql, sizeof(sql),
                   "BEGIN; SELECT FROM tb_seckill_voucher WHERE voucher_id = %lld FOR UPDATE",
                   (long long)round_now.vouchers[0]);
    run(sql);
    await_many_waiting("while the voucher's row is held");
}

void round_let_writers_go(void)
{
    run("ROLLBACK");
}

void round_await_trouble(const char *when)
{
    if (path->is_queued)
        await_many_waiting(when);
    else
        buyers_await_refused(ROUND_ORDERS, when);
}

/* ---- the end ---- */

static double sold_by_path(void)
{
    double sum = 0;

    for (int i = 0; i < BUYERS_SERVICES; i++)
        sum += rig_metric(&round_now.services[i], path->metric);
    return sum;
}

void round_end(const char *fault, enum round_promises promises)
{
    struct round *r = &round_now;
    struct books books;
    double sold;

    buyers_await_served(ROUND_ORDERS, fault);
    buyers_stop();
    if (path->is_queued)
        stream_await_waiting(0);
    sold = sold_by_path();
    for (int i = 0; i < BUYERS_SERVICES; i++)
        rig_stop(&r->services[i]);
    if (buyers_odd()[0] != '\0')
        fail_msg("%s", buyers_odd());
    rig_forget_database();
    books = books_audit(r->vouchers, r->issued);
    print_message("# %s, round %d %s, %s %s %s: %lld accepted, %lld queued, %lld refused, %lld"
                  " open, %lld rows, %.0f by the path, %lld promises broken\n",
                  path->name, r->number + 1, fault, config[0], config[1], config[2],
                  (long long)books.accepted, (long long)books.queued,
                  (long long)books.refused, (long long)books.open, (long long)books.rows,
                  sold, (long long)books.broken);
    assert_true(sold > 0);
    if (promises == ROUND_BREAKS && books.broken == 0)
        fail_msg("no promise is broken %s", fault);
    if (promises == ROUND_KEEPS && books.broken > 0)
        fail_msg("%lld promises are broken, such as %s", (long long)books.broken,
                 books.broken_example);
}

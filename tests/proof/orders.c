/* SPDX-License-Identifier: MIT */
/* orders.c -- the answers to clients stay true after any fault: two services sell under load, a
 * server or process fails meanwhile, and afterwards the database is compared with every answer. The
 * path `stream` breaks promises when its Redis loses its data, and in no other case.
 *
 *     prove-orders [--order-path=NAME|all] [--times=N] [PATTERN]
 *
 * Each fault is tried N times, on each path; PATTERN is cmocka's, of tests.
 *
 * A lab of its own is up while a fault is tried. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/proof/books.h"
#include "tests/proof/buyers.h"
#include "tests/proof/disk.h"
#include "tests/service/commit_proxy.h"
#include "tests/service/file_limit.h"
#include "tests/service/rig_inside.h"
#include "tests/service/stream_rig.h"

enum { ROUND_ORDERS = 100 }; /* the orders that are awaited before and after a fault */

/* May a fault lose orders that were queued and have no row yet? */
enum round_promises { ROUND_KEEPS, ROUND_BREAKS };

struct round {
    int number;
    const char *database_flag; /* a flag with another URL of PostgreSQL; NULL: the lab's URL */
    int64_t vouchers[2], issued[2];
    struct rig_service services[BUYERS_SERVICES];
};

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
static const struct order_path {
    const char *name, *flag;
    const char *metric; /* a metric that counts the orders that the path has sold */
    bool is_queued;
} PATHS[] = {
    {"combined", "--order-path=combined", "seckill_batched_orders_total ", false},
    {"stream", "--order-path=stream", "seckill_stream_written_total ", true},
};

static struct round round_now; /* the one that goes on */
static const struct order_path *sold_by = &PATHS[0];
static const char *const *config; /* of the present round */

/* The name of the order path number `i`; NULL behind the last one. */
static const char *round_path_at(int i)
{
    return i < (int)(sizeof(PATHS) / sizeof(PATHS[0])) ? PATHS[i].name : NULL;
}

/* Use this order path from now on. */
static void round_choose_path(int i)
{
    sold_by = &PATHS[i];
}

/* Does the order path queue orders, and write their rows later? */
static bool round_is_queued(void)
{
    return sold_by->is_queued;
}

static struct rig_service start_service(void)
{
    const char *args[] = {
        sold_by->flag, stream_flag(), "--stream-claim=3s", "--workers=32", "--lock-wait=500ms",
        "--lock-lease=2s", "--statement-timeout=2s", "--settle-timeout=2s",
        "--redis-timeout=1s", "--idle-transaction-timeout=3s", "--duplicate-guard=unique",
        rig_record_flag(), config[0], config[1], config[2], round_now.database_flag, NULL};

    return rig_start(args);
}

/* Begin the round of that number, from which its lock and guards are drawn, and wait for the first
 * orders. `forgets`: the round's Redis will lose its data, so no round with `forgets` uses the
 * fence. */
static void round_begin(int number, bool forgets)
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

/* Start a killed service again, and tell the buyers its port. */
static void round_restart_service(int i)
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

/* Hold the row of the first voucher until round_let_writers_go(), and wait until orders of it wait
 * in the stream that no writer has taken. */
static void round_stop_writers(void)
{
    char sql[128];

    (void)snprintf(sql, sizeof(sql),
                   "BEGIN; SELECT FROM tb_seckill_voucher WHERE voucher_id = %lld FOR UPDATE",
                   (long long)round_now.vouchers[0]);
    run(sql);
    await_many_waiting("while the voucher's row is held");
}

static void round_let_writers_go(void)
{
    run("ROLLBACK");
}

/* Wait until orders cannot be written any more: either their buyers are told to come again, or the
 * orders wait in the stream. */
static void round_await_trouble(const char *when)
{
    if (sold_by->is_queued)
        await_many_waiting(when);
    else
        buyers_await_refused(ROUND_ORDERS, when);
}

/* ---- the end ---- */

static double sold_by_path(void)
{
    double sum = 0;

    for (int i = 0; i < BUYERS_SERVICES; i++)
        sum += rig_metric(&round_now.services[i], sold_by->metric);
    return sum;
}

/* Wait for orders after the fault, stop the buyers, wait until no order is queued, stop the
 * services, and compare. With ROUND_BREAKS at least one queued order must have lost its row, and
 * with ROUND_KEEPS none. Everything else has to match in both cases. */
static void round_end(const char *fault, enum round_promises promises)
{
    struct round *r = &round_now;
    struct books books;
    double sold;

    buyers_await_served(ROUND_ORDERS, fault);
    buyers_stop();
    if (sold_by->is_queued)
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
                  sold_by->name, r->number + 1, fault, config[0], config[1], config[2],
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

enum { CUTS = 6 };

static int times = 1;

/* ---- the faults ---- */

static void a_service_is_killed(void **state)
{
    (void)state;
    for (int n = 0; n < times; n++) {
        int victim = n % BUYERS_SERVICES;

        round_begin(n, false);
        rig_signal(&round_now.services[victim], SIGKILL);
        assert_int_equal(rig_wait(&round_now.services[victim], RIG_PATIENCE_MS),
                         128 + SIGKILL);
        round_restart_service(victim);
        round_end("after a service was killed", ROUND_KEEPS);
    }
}

static void postgres_ends_at_once(void **state)
{
    (void)state;
    for (int n = 0; n < times; n++) {
        round_begin(n, false);
        /* After SIGQUIT and after SIGKILL the server has to recover from its WAL. */
        if (n % 2 == 0)
            assert_int_equal(kill(rig_lab_pid("postgres"), SIGQUIT), 0);
        else
            rig_lab_kill("postgres");
        rig_lab_restart("postgres");
        round_end("after PostgreSQL ended at once", ROUND_KEEPS);
    }
}

static void end_redis(int n)
{
    if (n % 2 == 1)
        rig_lab_kill("redis");
    rig_lab_restart("redis");
}

/* Redis keeps nothing on its disk. Of the orders in the stream, those that no writer has taken are
 * lost. */
static void redis_ends_at_once(void **state)
{
    bool is_queued = round_is_queued();

    (void)state;
    for (int n = 0; n < times; n++) {
        round_begin(n, true);
        if (is_queued)
            round_stop_writers();
        end_redis(n);
        if (is_queued)
            round_let_writers_go();
        round_end("after Redis ended", is_queued ? ROUND_BREAKS : ROUND_KEEPS);
    }
}

/* Redis writes to its disk before it answers. */
static void redis_with_a_log_ends_at_once(void **state)
{
    bool is_queued = round_is_queued();

    (void)state;
    stream_keep_all();
    for (int n = 0; n < times; n++) {
        round_begin(n, false);
        if (is_queued)
            round_stop_writers();
        end_redis(n);
        if (is_queued)
            round_let_writers_go();
        round_end("after Redis with a log ended", ROUND_KEEPS);
    }
}

static bool are_dropped(void *count)
{
    return commit_proxy_dropped() >= *(int *)count;
}

/* The COMMIT is executed and its answer is lost, or the COMMIT itself is lost. */
static void a_commit_is_not_answered(void **state)
{
    char flag[512];

    (void)state;
    for (int n = 0; n < times; n++) {
        commit_proxy_start(flag, sizeof(flag));
        round_now.database_flag = flag;
        round_begin(n, false);
        for (int cut = 1; cut <= CUTS; cut++) {
            commit_proxy_set(cut % 2 == 1 ? DROP_ANSWER : DROP_COMMIT);
            buyers_await_served(ROUND_ORDERS, "while COMMITs are not answered");
            if (!rig_until(are_dropped, &cut, RIG_PATIENCE_MS))
                fail_msg("there was no COMMIT to drop");
        }
        round_end("after COMMITs were not answered", ROUND_KEEPS);
        assert_int_equal(commit_proxy_dropped(), CUTS);
        commit_proxy_stop();
        round_now.database_flag = NULL;
    }
}

static bool has_ended(pid_t pid)
{
    char path[64], state = 'Z';
    FILE *file = NULL;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file != NULL && fscanf(file, "%*d %*s %c", &state) != 1)
        state = 'Z';
    if (file != NULL)
        (void)fclose(file);
    return state == 'Z';
}

/* A server without room for its WAL ends, and cannot recover until there is room. */
static void the_disk_is_full(void **state)
{
    bool is_disk = *(bool *)*state;

    for (int n = 0; n < times; n++) {
        pid_t postgres = rig_lab_pid("postgres");

        if (!is_disk)
            file_limit_prepare();
        round_begin(n, false);
        if (is_disk)
            disk_fill();
        else
            file_limit_set();
        round_await_trouble("while the disk is full");
        if (is_disk)
            disk_empty();
        else
            file_limit_end();
        if (has_ended(postgres))
            rig_lab_restart("postgres");
        round_end(is_disk ? "after a full disk" : "after files could not grow", ROUND_KEEPS);
    }
}

/* ---- */

static int lab_up(void **state)
{
    (void)state;
    round_now.database_flag = NULL; /* an earlier test may have failed */
    rig_lab_up();
    return 0;
}

static int lab_down(void **state)
{
    (void)state;
    buyers_stop();
    rig_lab_down();
    return 0;
}

static int disk_up(void **state)
{
    static bool is_disk;

    is_disk = disk_mount();
    (void)lab_up(state);
    *state = &is_disk;
    return 0;
}

static int disk_down(void **state)
{
    (void)lab_down(state);
    disk_unmount();
    return 0;
}

static int prove(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_service_is_killed, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(postgres_ends_at_once, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(redis_ends_at_once, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(redis_with_a_log_ends_at_once, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(a_commit_is_not_answered, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(the_disk_is_full, disk_up, disk_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    const char *path = "all";
    bool has_path = false;
    int failed = 0;

    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--times=", 8) == 0)
            times = atoi(argv[i] + 8);
        else if (strncmp(argv[i], "--order-path=", 13) == 0)
            path = argv[i] + 13;
        else
            cmocka_set_test_filter(argv[i]);
    }
    if (times < 1) {
        fprintf(stderr, "prove-orders: --times must be 1 or more\n");
        return 64;
    }
    for (int i = 0; round_path_at(i) != NULL; i++) {
        if (strcmp(path, "all") != 0 && strcmp(path, round_path_at(i)) != 0)
            continue;
        round_choose_path(i);
        failed += prove();
        has_path = true;
    }
    if (!has_path) {
        fprintf(stderr, "prove-orders: there is no --order-path=%s\n", path);
        return 64;
    }
    return failed > 0;
}

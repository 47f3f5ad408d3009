/* SPDX-License-Identifier: MIT */
/* orders.c -- what clients were told of their orders stays true, whatever breaks: two services
 * sell in batches under load, something fails in the middle, and afterwards the database is
 * compared with every answer.
 *
 *     prove-orders [--times=N] [PATTERN]     // each fault N times; cmocka's pattern of tests
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
#include "tests/service/rig.h"
#include "tests/service/rig_inside.h"

enum { MANY = 1000000, FEW = 300, SOME_ORDERS = 100, CUTS = 6 };

static int times = 1;

/* By turns; the last of them sells by the fence, which a Redis that forgets does not survive. */
static const char *const CONFIGS[][4] = {
    {"--lock=none", "--lock-scope=user", "--stock-guard=conditional", NULL},
    {"--lock=reentrant", "--lock-scope=user", "--stock-guard=version", NULL},
    {"--lock=reentrant", "--lock-scope=voucher", "--stock-guard=row-lock", NULL},
    {"--lock=fenced", "--lock-scope=voucher", "--stock-guard=fence", NULL},
};
enum { CONFIG_COUNT = sizeof(CONFIGS) / sizeof(CONFIGS[0]), KEEPS_FENCES = CONFIG_COUNT - 1 };

static struct round {
    int number;
    const char *database_flag; /* another way to PostgreSQL; NULL: the lab's */
    int64_t vouchers[2], issued[2];
    struct rig_service services[BUYERS_SERVICES];
} round_now;

static struct rig_service start_service(const struct round *r)
{
    const char *const *config = CONFIGS[r->number % CONFIG_COUNT];
    const char *args[] = {
        "--order-path=combined", "--workers=32", "--lock-wait=500ms", "--lock-lease=2s",
        "--statement-timeout=2s", "--settle-timeout=2s", "--redis-timeout=1s",
        "--idle-transaction-timeout=3s", "--duplicate-guard=unique", rig_record_flag(),
        config[0], config[1], config[2], r->database_flag, NULL};

    return rig_start(args);
}

/* Two services sell two vouchers, one of which is soon sold out. */
static void begin_round(int number)
{
    struct round *r = &round_now;
    int ports[BUYERS_SERVICES];

    r->number = number;
    r->issued[0] = MANY;
    r->issued[1] = FEW;
    for (int v = 0; v < 2; v++)
        r->vouchers[v] = rig_voucher(r->issued[v]);
    for (int i = 0; i < BUYERS_SERVICES; i++) {
        r->services[i] = start_service(r);
        ports[i] = r->services[i].orders_port;
    }
    buyers_start(r->vouchers, ports);
    buyers_await_accepted(SOME_ORDERS, "at the start");
}

static double batched(const struct round *r)
{
    double sum = 0;

    for (int i = 0; i < BUYERS_SERVICES; i++)
        sum += rig_metric(&r->services[i], "seckill_batched_orders_total ");
    return sum;
}

/* All buyers stop, and every answer is compared with the rows. */
static void end_round(const char *fault)
{
    struct round *r = &round_now;
    struct books books;
    double in_batches;

    buyers_await_accepted(SOME_ORDERS, fault);
    buyers_stop();
    in_batches = batched(r);
    for (int i = 0; i < BUYERS_SERVICES; i++)
        rig_stop(&r->services[i]);
    if (buyers_odd()[0] != '\0')
        fail_msg("%s", buyers_odd());
    rig_forget_database();
    books = books_audit(r->vouchers, r->issued);
    print_message("# round %d %s, %s %s %s: %lld accepted, %lld refused, %lld open, %lld"
                  " rows, %.0f of batches\n",
                  r->number + 1, fault, CONFIGS[r->number % CONFIG_COUNT][0],
                  CONFIGS[r->number % CONFIG_COUNT][1], CONFIGS[r->number % CONFIG_COUNT][2],
                  (long long)books.accepted, (long long)books.refused, (long long)books.open,
                  (long long)books.rows, in_batches);
    assert_true(in_batches > 0);
}

/* ---- the faults ---- */

static void a_service_is_killed(void **state)
{
    (void)state;
    for (int n = 0; n < times; n++) {
        struct rig_service *victim = &round_now.services[n % BUYERS_SERVICES];

        begin_round(n);
        rig_signal(victim, SIGKILL);
        assert_int_equal(rig_wait(victim, RIG_PATIENCE_MS), 128 + SIGKILL);
        *victim = start_service(&round_now);
        buyers_move(n % BUYERS_SERVICES, victim->orders_port);
        end_round("after a service was killed");
    }
}

static void postgres_ends_at_once(void **state)
{
    (void)state;
    for (int n = 0; n < times; n++) {
        begin_round(n);
        /* Either way it has to recover from its log. */
        if (n % 2 == 0)
            assert_int_equal(kill(rig_lab_pid("postgres"), SIGQUIT), 0);
        else
            rig_lab_kill("postgres");
        rig_lab_restart("postgres");
        end_round("after PostgreSQL ended at once");
    }
}

static void redis_ends_at_once(void **state)
{
    (void)state;
    for (int n = 0; n < times; n++) {
        begin_round(n % KEEPS_FENCES);
        if (n % 2 == 1)
            rig_lab_kill("redis");
        rig_lab_restart("redis");
        end_round("after Redis ended");
    }
}

/* The COMMIT goes through and its answer is lost, or the COMMIT itself is lost. */
static void a_commit_is_not_answered(void **state)
{
    char flag[512];

    (void)state;
    for (int n = 0; n < times; n++) {
        commit_proxy_start(flag, sizeof(flag));
        round_now.database_flag = flag;
        begin_round(n);
        for (int cut = 0; cut < CUTS; cut++) {
            commit_proxy_set(cut % 2 == 0 ? DROP_ANSWER : DROP_COMMIT);
            buyers_await_accepted(SOME_ORDERS, "while COMMITs are not answered");
        }
        end_round("after COMMITs were not answered");
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

/* A server that had no room for its log ends, and cannot recover as long as there is none. */
static void the_disk_is_full(void **state)
{
    bool is_disk = *(bool *)*state;

    for (int n = 0; n < times; n++) {
        pid_t postgres = rig_lab_pid("postgres");

        if (!is_disk)
            file_limit_prepare();
        begin_round(n);
        if (is_disk)
            disk_fill();
        else
            file_limit_set();
        buyers_await_refused(SOME_ORDERS, "while the disk is full");
        if (is_disk)
            disk_empty();
        else
            file_limit_end();
        if (has_ended(postgres))
            rig_lab_restart("postgres");
        end_round(is_disk ? "after a full disk" : "after files could not grow");
    }
}

/* ---- */

static int lab_up(void **state)
{
    (void)state;
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
    *state = &is_disk;
    rig_lab_up();
    return 0;
}

static int disk_down(void **state)
{
    (void)lab_down(state);
    disk_unmount();
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_service_is_killed, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(postgres_ends_at_once, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(redis_ends_at_once, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(a_commit_is_not_answered, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(the_disk_is_full, disk_up, disk_down),
    };

    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--times=", 8) == 0)
            times = atoi(argv[i] + 8);
        else
            cmocka_set_test_filter(argv[i]);
    }
    if (times < 1) {
        fprintf(stderr, "prove-orders: --times must be 1 or more\n");
        return 64;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

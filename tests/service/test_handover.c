/* SPDX-License-Identifier: MIT */
/* test_handover.c -- services with --handover hand the voucher's lock over inside the process: the
 * orders and the record of the lock calls are correct. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/service/rig.h"

enum { SERVICES = 2, THREADS = 8, ORDERS = 10, STOCK = 100, FIRST_USER = 790001 };

/* A client of one service. */
struct client {
    pthread_t thread;
    const struct rig_service *service;
    int64_t voucher, first_user;
};

static struct rig_service services[SERVICES];
static atomic_int accepted, sold_out, other;

static void *buy(void *arg)
{
    static _Thread_local struct rig_answer answer;
    const struct client *client = arg;

    for (int64_t i = 0; i < ORDERS; i++) {
        bool is_answered = rig_order(client->service->orders_port, client->voucher,
                                     client->first_user + i, &answer);

        if (!is_answered)
            answer = (struct rig_answer){.outcome = "no answer"};
        if (strcmp(answer.outcome, "accepted") == 0)
            atomic_fetch_add(&accepted, 1);
        else if (strcmp(answer.outcome, "sold-out") == 0)
            atomic_fetch_add(&sold_out, 1);
        else if (atomic_fetch_add(&other, 1) == 0)
            print_message("# the first other answer: %s %s\n", answer.outcome, answer.body);
    }
    return NULL;
}

static void start(void)
{
    for (int i = 0; i < SERVICES; i++)
        services[i] = RIG_START("--lock=fair", "--lock-scope=voucher", "--lock-wait=60s",
                                "--handover=4", "--stock-guard=read-write",
                                "--order-path=each", rig_record_flag());
}

static void sell(int64_t voucher)
{
    static struct client clients[SERVICES * THREADS];

    for (int i = 0; i < SERVICES * THREADS; i++) {
        clients[i] = (struct client){.service = &services[i % SERVICES],
                                     .voucher = voucher,
                                     .first_user = FIRST_USER + i * ORDERS};
        assert_int_equal(pthread_create(&clients[i].thread, NULL, buy, &clients[i]), 0);
    }
    for (int i = 0; i < SERVICES * THREADS; i++)
        (void)pthread_join(clients[i].thread, NULL);
}

static double local_grants(void)
{
    double count = 0;

    for (int i = 0; i < SERVICES; i++)
        count += rig_metric(&services[i],
                            "seckill_dlock_local_grants_total{variant=\"fair\"} ");
    return count;
}

/* Only the lock guards the stock. */
TEST(no_unit_is_sold_twice_and_the_record_is_valid)
{
    int64_t voucher = rig_voucher(STOCK);
    char command[256];

    start();
    sell(voucher);
    assert_int_equal(atomic_load(&other), 0);
    assert_int_equal(atomic_load(&accepted), STOCK);
    assert_int_equal(atomic_load(&sold_out), SERVICES * THREADS * ORDERS - STOCK);
    assert_int_equal(rig_orders(voucher), STOCK);
    assert_int_equal(rig_stock(voucher), 0);
    print_message("# %.0f local grants\n", local_grants());
    assert_true(local_grants() >= 0);
    for (int i = 0; i < SERVICES; i++)
        rig_stop(&services[i]);
    (void)snprintf(command, sizeof(command), "build/seckill check %s >&2",
                   strchr(rig_record_flag(), '/'));
    assert_int_equal(system(command), 0);
}

TEST(a_lock_that_cannot_be_handed_over_is_refused)
{
    static const char *const OTHER[] = {"--lock=lua", "--handover=4", NULL};
    char log[4096];

    assert_int_not_equal(rig_run(OTHER, log, sizeof(log)), 0);
    assert_non_null(strstr(log, "cannot be handed over"));
}

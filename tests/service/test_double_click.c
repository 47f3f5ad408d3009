/* SPDX-License-Identifier: MIT */
/* test_double_click.c -- users click twice while their locks are freed by force: with the service's
 * defaults no user has two orders. A second click beside the first is refused as the client's. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/service/rig.h"

enum { GROUPS = 8, USERS_OF_A_GROUP = 100, CLICKS = 2 };

/* No other test has these users, because their locks are in a shared Redis, and this test frees
 * them. */
enum { FIRST_USER = 700001 };

static struct rig_service service;
static int64_t voucher;

/* The threads of one group order for the same user at the same time. */
struct group {
    pthread_barrier_t together;
    atomic_int clicking;
    int64_t first_user;
    atomic_int accepted, duplicate, busy, other;
};

static void *click(void *arg)
{
    static _Thread_local struct rig_answer answer;
    struct group *g = arg;

    for (int64_t i = 0; i < USERS_OF_A_GROUP; i++) {
        (void)pthread_barrier_wait(&g->together);
        if (!rig_order(service.orders_port, voucher, g->first_user + i, &answer))
            atomic_fetch_add(&g->other, 1);
        else if (strcmp(answer.outcome, "accepted") == 0)
            atomic_fetch_add(&g->accepted, 1);
        else if (strcmp(answer.outcome, "duplicate") == 0)
            atomic_fetch_add(&g->duplicate, 1);
        else if (strcmp(answer.outcome, "lock-busy") == 0)
            atomic_fetch_add(&g->busy, 1);
        else
            atomic_fetch_add(&g->other, 1);
        atomic_fetch_sub(&g->clicking, 1);
    }
    return NULL;
}

/* Free the lock of the group's user for as long as a thread orders. */
static void *free_by_force(void *arg)
{
    static _Thread_local struct rig_answer answer;
    struct group *g = arg;
    char path[80];

    for (int64_t i = 0; i < USERS_OF_A_GROUP; i++) {
        (void)snprintf(path, sizeof(path), "/admin/locks/lock:order:%lld",
                       (long long)rig_user(g->first_user + i));
        atomic_store(&g->clicking, CLICKS);
        (void)pthread_barrier_wait(&g->together);
        while (atomic_load(&g->clicking) > 0)
            if (!rig_admin(&service, "DELETE", path, &answer) || answer.status != 200)
                atomic_fetch_add(&g->other, 1);
    }
    return NULL;
}

TEST(nobody_buys_twice_though_locks_are_freed_by_force)
{
    static struct group groups[GROUPS];
    pthread_t threads[GROUPS][CLICKS + 1];
    int accepted = 0;

    voucher = rig_voucher(GROUPS * USERS_OF_A_GROUP * CLICKS);
    for (int i = 0; i < GROUPS; i++) {
        groups[i].first_user = FIRST_USER + i * USERS_OF_A_GROUP;
        assert_int_equal(
            pthread_barrier_init(&groups[i].together, NULL, CLICKS + 1), 0);
        for (int t = 0; t <= CLICKS; t++)
            assert_int_equal(pthread_create(&threads[i][t], NULL,
                                            t < CLICKS ? click : free_by_force,
                                            &groups[i]), 0);
    }
    for (int i = 0; i < GROUPS; i++) {
        for (int t = 0; t <= CLICKS; t++)
            (void)pthread_join(threads[i][t], NULL);
        (void)pthread_barrier_destroy(&groups[i].together);
        accepted += atomic_load(&groups[i].accepted);
        assert_int_equal(atomic_load(&groups[i].other), 0);
    }
    print_message("# %d of %d users bought, %d bought twice\n", accepted,
                  GROUPS * USERS_OF_A_GROUP, (int)rig_duplicates(voucher));
    assert_int_equal(rig_duplicates(voucher), 0);
    assert_int_equal(rig_orders(voucher), accepted);
    assert_int_equal(accepted, GROUPS * USERS_OF_A_GROUP);
}

/* The first click holds the user's lock. The second one is the client's own doing, so neither the
 * status nor a figure counts it as a failure of the service. */
TEST(the_second_click_is_no_failure_of_the_service)
{
    static struct rig_answer answer;
    struct rig_held first;
    char path[80], extra[TOKEN_LEN + 32], token[TOKEN_LEN + 1];

    voucher = rig_voucher(2);
    rig_hold(&first, &service, "after-acquire", voucher, FIRST_USER);
    assert_true(rig_order(service.orders_port, voucher, FIRST_USER, &answer));
    rig_expect(&answer, 409, "lock-busy");
    rig_expect_in_head(&answer, "\r\nRetry-After: 1\r\n");
    rig_expect_in_body(&answer, "\"status\":409");
    rig_token(FIRST_USER, token);
    (void)snprintf(extra, sizeof(extra), "authorization: %s\r\n", token);
    (void)snprintf(path, sizeof(path), "/voucher-order/seckill/%lld", (long long)voucher);
    assert_true(rig_request(service.orders_port, "POST", path, extra, NULL, &answer));
    rig_expect(&answer, 200, "lock-busy");
    assert_string_equal(answer.body, "{\"success\":false,\"errorMsg\":\"不允许重复下单\"}");
    rig_let_go(&first, &service, "after-acquire");
    rig_expect(&first.answer, 201, "accepted");
    assert_true(rig_metric(&service, "seckill_http_requests_failed_total") == 0);
}

int main(void)
{
    return RIG_RUN_WITH_SERVICE(&service, "--workers=32", "--admin-workers=16",
                                "--allow-faults");
}

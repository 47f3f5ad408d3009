/* SPDX-License-Identifier: MIT */
/* test_sharing.c -- the number of connections of a service to Redis.
 *
 * The servers are the test's own, so that the test knows every connection. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/service/rig.h"

enum { WORKERS = 64, BUYERS = 64, ORDERS = 1500, STOCK = 1000000, LIST_MAX = 65536 };

static struct rig_service service;
static int64_t voucher;
static atomic_bool stopping;
static atomic_int accepted_count;

static void *buy(void *first_user)
{
    struct rig_answer *got = malloc(sizeof(*got));

    if (got == NULL)
        return NULL;
    for (int64_t user = *(int64_t *)first_user; !atomic_load(&stopping); user += BUYERS)
        if (rig_order(service.orders_port, voucher, user, got) &&
            strcmp(got->outcome, "accepted") == 0)
            atomic_fetch_add(&accepted_count, 1);
    free(got);
    return NULL;
}

static bool has_all_of_it(const char *text)
{
    const char *list = strchr(text, '$');
    char *begin = NULL;

    return list != NULL &&
           strlen(list) >= strtoul(list + 1, &begin, 10) &&
           begin != NULL && strlen(begin) >= strtoul(list + 1, NULL, 10) + 4;
}

/* Count the clients of the lab's Redis by an inline command, without a library. */
static int count_clients(void)
{
    static char text[LIST_MAX];
    char password[128] = "";
    char ask[256];
    size_t len = 0;
    int port = 0;
    int fd;
    int count = -1; /* without the connection that asks */

    assert_int_equal(2, sscanf(getenv("SECKILL_REDIS_URL"),
                               "redis://default:%127[^@]@127.0.0.1:%d", password, &port));
    fd = rig_connect(port);
    assert_true(fd >= 0);
    (void)snprintf(ask, sizeof(ask), "AUTH %s\r\nCLIENT LIST\r\n", password);
    assert_true(rig_send(fd, ask, strlen(ask)));
    do {
        ssize_t got = recv(fd, text + len, sizeof(text) - 1 - len, 0);

        assert_true(got > 0);
        len += (size_t)got;
        text[len] = '\0';
    } while (!has_all_of_it(text));
    (void)close(fd);
    for (const char *at = text; (at = strstr(at, "\nid=")) != NULL; at++)
        count++;
    return count;
}

static bool has_sold(void *order_count)
{
    return atomic_load(&accepted_count) >= *(int *)order_count;
}

/* The service has one connection for commands, and at most one for threads that wait for a
 * release. */
TEST(sixty_four_workers_share_one_connection)
{
    pthread_t threads[BUYERS];
    int64_t first_users[BUYERS];

    rig_lab_up();
    service = RIG_START("--lock=reentrant", "--workers=64");
    voucher = rig_voucher(STOCK);
    for (int i = 0; i < BUYERS; i++) {
        first_users[i] = i + 1;
        assert_int_equal(0, pthread_create(&threads[i], NULL, buy, &first_users[i]));
    }
    for (int sold = ORDERS / 10; sold <= ORDERS; sold += ORDERS / 10) {
        assert_true(rig_until(has_sold, &sold, RIG_PATIENCE_MS));
        assert_in_range(count_clients(), 1, 2);
    }
    atomic_store(&stopping, true);
    for (int i = 0; i < BUYERS; i++)
        (void)pthread_join(threads[i], NULL);
    assert_int_equal(rig_orders(voucher), atomic_load(&accepted_count));
    rig_stop(&service);
    rig_lab_down();
}

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return rig_run_tests(NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_hostile_clients.c -- clients that disappear, come in thousands, send requests
 * during a stop, or use up the file descriptors: the service goes on, or stops as it
 * should. */
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/service/rig.h"

static const char GET[] = "GET /voucher/list/1 HTTP/1.1\r\nHost: x\r\n\r\n";
static struct rig_answer answer;

/* Is no client connected to the orders listener? */
static bool is_empty(void *arg)
{
    static const char *const STATES[] = {"no-request-yet", "head-arriving", "body-arriving",
                                         "working", "answering", "between-requests"};
    char line[128];

    for (size_t i = 0; i < sizeof(STATES) / sizeof(STATES[0]); i++) {
        (void)snprintf(line, sizeof(line),
                       "seckill_http_connections{listener=\"orders\",state=\"%s\"}",
                       STATES[i]);
        if (rig_metric(arg, line) != 0)
            return false;
    }
    return true;
}

static bool is_served(void *arg)
{
    const struct rig_service *s = arg;

    return rig_request(s->orders_port, "GET", "/voucher/list/1", NULL, NULL, &answer) &&
           answer.status == 200;
}

static bool is_working(void *arg)
{
    return rig_metric(arg, "seckill_http_workers_busy") == 1;
}

/* Close a socket without a packet to the other end, like a client whose machine loses its power.
 * Returns false if this process may not do so (CAP_NET_ADMIN). */
static bool vanish(int fd)
{
    const int on = 1;
    bool is_silent = setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)) == 0;

    (void)close(fd);
    return is_silent;
}

static bool may_vanish(void)
{
    return vanish(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

/* Vanished clients occupy half of the connections: clients that vanished before their request,
 * inside of its head, and after an answer. */
static void clients_that_vanished_leave_their_room(void **state)
{
    enum { GONE = 12 };
    struct rig_service s =
        RIG_START("--lock=none", "--connections=24", "--request-timeout=1s");

    (void)state;
    for (int i = 0; i < GONE; i++) {
        int fd = rig_connect(s.orders_port);

        assert_true(fd >= 0);
        assert_true(rig_send(fd, GET, i % 3 == 0 ? 0 : i % 3 == 1 ? 12 : strlen(GET)));
        if (i % 3 == 2)
            assert_true(rig_read(fd, &answer, RIG_PATIENCE_MS));
        assert_true(vanish(fd));
    }
    assert_true(is_served(&s));
    assert_true(rig_until(is_empty, &s, RIG_PATIENCE_MS));
    rig_stop(&s);
}

/* The client vanishes while its order waits for the voucher's row. */
static void an_order_of_a_client_that_vanished_is_complete(void **state)
{
    struct rig_service s =
        RIG_START("--lock=none", "--statement-timeout=60s", "--request-timeout=1s");
    int64_t voucher = rig_voucher(5);
    int fd = rig_connect(s.orders_port);
    char token[TOKEN_LEN + 1];
    char text[512];

    (void)state;
    (void)snprintf(text, sizeof(text),
                   "BEGIN; SELECT 1 FROM tb_seckill_voucher WHERE voucher_id = %lld FOR "
                   "UPDATE",
                   (long long)voucher);
    assert_int_equal(db_script(rig_db(), text), DB_OK);
    rig_token(7, token);
    (void)snprintf(text, sizeof(text),
                   "POST /api/v1/vouchers/%lld/orders HTTP/1.1\r\nHost: x\r\n"
                   "authorization: %s\r\nContent-Length: 0\r\n\r\n",
                   (long long)voucher, token);
    assert_true(rig_send(fd, text, strlen(text)));
    assert_true(rig_until(is_working, &s, RIG_PATIENCE_MS));
    assert_true(vanish(fd));
    assert_int_equal(db_script(rig_db(), "COMMIT"), DB_OK);
    assert_true(rig_until(is_empty, &s, RIG_PATIENCE_MS));
    assert_int_equal(rig_orders(voucher), 1);
    assert_int_equal(rig_stock(voucher), 4);
    assert_true(is_served(&s));
    rig_stop(&s);
}

static void thousands_of_idle_sockets_shut_nobody_out(void **state)
{
    enum { FLOOD = 5000, HONEST = 50, ROOM = 1024 };
    struct rlimit limit;
    struct rig_service s = RIG_START("--lock=none", "--request-timeout=60s");
    static int fds[FLOOD];

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max < FLOOD + 100)
        fail_msg("this test needs %d file descriptors; the hard limit (ulimit -Hn) is %llu",
                 FLOOD + 100, (unsigned long long)limit.rlim_max);
    for (int i = 0; i < FLOOD; i++) {
        fds[i] = rig_connect(s.orders_port);
        if (fds[i] < 0)
            fail_msg("socket %d of %d: %s", i, FLOOD, strerror(errno));
    }
    for (int i = 0; i < HONEST; i++)
        assert_true(is_served(&s));
    assert_true(rig_metric(&s, "seckill_http_connections_ended_total{listener=\"orders\","
                               "reason=\"crowded\"}") >= FLOOD - ROOM);
    for (int i = 0; i < FLOOD; i++)
        (void)close(fds[i]);
    assert_true(rig_until(is_empty, &s, RIG_PATIENCE_MS));
    assert_true(is_served(&s));
    rig_stop(&s);
}

/* A buyer sends orders until the service accepts no more connections. */
struct buyer {
    const struct rig_service *service;
    pthread_t thread;
    int64_t voucher, first_user;
    int accepted;
};

static atomic_int accepted_by_all;

static void *buy_until_the_end(void *arg)
{
    static _Thread_local struct rig_answer got;
    struct buyer *b = arg;

    while (rig_order(b->service->orders_port, b->voucher, b->first_user + b->accepted,
                     &got) &&
           got.status == 201) {
        b->accepted++;
        (void)atomic_fetch_add(&accepted_by_all, 1);
    }
    return NULL;
}

static bool is_busy(void *arg)
{
    (void)arg;
    return atomic_load(&accepted_by_all) >= 100;
}

/* Buyers, silent sockets, and bodies that are never complete. Exit status 0 shows that the service
 * was done within --drain-timeout. */
static void a_stop_in_a_flood_answers_every_order(void **state)
{
    enum { BUYERS = 8, FLOOD = 120 };
    struct rig_service s =
        RIG_START("--workers=8", "--request-timeout=60s", "--drain-timeout=30s");
    int64_t voucher = rig_voucher(1000000);
    struct buyer buyers[BUYERS];
    char token[TOKEN_LEN + 1];
    char head[512];
    int fds[FLOOD];
    int accepted = 0;

    (void)state;
    rig_operator_token(token);
    (void)snprintf(head, sizeof(head),
                   "POST /voucher/seckill HTTP/1.1\r\nHost: x\r\nauthorization: %s\r\n"
                   "Content-Length: 4000\r\n\r\nx",
                   token);
    for (int i = 0; i < FLOOD; i++) {
        fds[i] = rig_connect(s.orders_port);
        assert_true(fds[i] >= 0);
        assert_true(rig_send(fds[i], head, i % 3 == 0   ? 0
                                           : i % 3 == 1 ? 12
                                                        : strlen(head)));
    }
    for (int i = 0; i < BUYERS; i++) {
        buyers[i] = (struct buyer){
            .service = &s, .voucher = voucher, .first_user = 1 + 10000000 * (int64_t)i};
        assert_int_equal(
            pthread_create(&buyers[i].thread, NULL, buy_until_the_end, &buyers[i]), 0);
    }
    assert_true(rig_until(is_busy, NULL, RIG_PATIENCE_MS));
    rig_signal(&s, SIGTERM);
    assert_int_equal(rig_wait(&s, RIG_PATIENCE_MS), 0);
    for (int i = 0; i < BUYERS; i++) {
        (void)pthread_join(buyers[i].thread, NULL);
        accepted += buyers[i].accepted;
    }
    for (int i = 0; i < FLOOD; i++)
        (void)close(fds[i]);
    assert_int_equal(rig_orders(voucher), accepted);
    assert_int_equal(rig_stock(voucher), 1000000 - accepted);
}

/* Count descriptors: a new one gets the lowest free number. */
static int count_descriptors(pid_t pid)
{
    char path[64];
    int count = 0;
    DIR *dir = NULL;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        count += e->d_name[0] != '.';
    (void)closedir(dir);
    return count;
}

static bool has_named_the_limit(void *arg)
{
    return rig_has_logged(arg, "out of file descriptors: a client cannot be accepted") &&
           rig_has_logged(arg, "raise `ulimit -n`, or lower --connections");
}

/* The limit stays low after the clients have left. */
static void file_descriptors_run_out_and_come_back(void **state)
{
    enum { FREE = 8, FLOOD = 32 };
    struct rig_service s = RIG_START("--lock=none", "--request-timeout=60s");
    struct rlimit limit;
    int fds[FLOOD];

    (void)state;
    assert_true(is_served(&s));
    assert_int_equal(prlimit(s.pid, RLIMIT_NOFILE, NULL, &limit), 0);
    limit.rlim_cur = (rlim_t)count_descriptors(s.pid) + FREE;
    assert_int_equal(prlimit(s.pid, RLIMIT_NOFILE, &limit, NULL), 0);
    for (int i = 0; i < FLOOD; i++) {
        fds[i] = rig_connect(s.orders_port);
        assert_true(fds[i] >= 0);
    }
    assert_true(rig_until(has_named_the_limit, &s, RIG_PATIENCE_MS));
    for (int i = 0; i < FLOOD; i++)
        (void)close(fds[i]);
    assert_true(rig_until(is_served, &s, RIG_PATIENCE_MS));
    assert_true(rig_until(is_empty, &s, RIG_PATIENCE_MS));
    rig_stop(&s);
}

int main(void)
{
    const struct CMUnitTest as_root[] = {
        cmocka_unit_test(clients_that_vanished_leave_their_room),
        cmocka_unit_test(an_order_of_a_client_that_vanished_is_complete),
    };
    const struct CMUnitTest as_anybody[] = {
        cmocka_unit_test(thousands_of_idle_sockets_shut_nobody_out),
        cmocka_unit_test(a_stop_in_a_flood_answers_every_order),
        cmocka_unit_test(file_descriptors_run_out_and_come_back),
    };
    int failed = 0;

    if (may_vanish())
        failed = cmocka_run_group_tests(as_root, NULL, NULL);
    else
        print_message("# no socket may vanish here: TCP_REPAIR needs CAP_NET_ADMIN\n");
    return failed + cmocka_run_group_tests(as_anybody, NULL, NULL);
}

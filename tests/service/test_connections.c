/* SPDX-License-Identifier: MIT */
/* test_connections.c -- clients that are slow, silent, many or gone. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "tests/service/rig.h"

static struct rig_service service;
static char token[TOKEN_LEN + 1];

/* What an earlier connection left in the thread's buffer says nothing of this request:
 * one thread, and the same head with another end. */
static void the_end_of_a_head_is_its_own(void **state)
{
    static const char *const HEADS[] = {
        "GET /voucher/list/1 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /voucher/list/1 HTTP/1.1\r\nHost: x\n\n",
        "GET /voucher/list/1 HTTP/1.1\r\nHost: x\n\n\r",
    };
    static struct rig_answer answer;
    struct rig_service one =
        RIG_START("--lock=none", "--workers=1", "--request-timeout=1s");

    (void)state;
    for (int i = 0; i < 6; i++) {
        int fd = rig_connect(one.orders_port);
        const char *head = HEADS[i % 3];

        assert_true(rig_send(fd, head, strlen(head) + (i % 3 == 2)));
        assert_true(rig_read(fd, &answer, 5000));
        assert_int_equal(answer.status, i % 3 == 0 ? 200 : 400);
        (void)close(fd);
    }
    rig_stop(&one);
}

/* A head that comes slowly is answered at the end of its time. */
static void half_a_head_is_answered(void **state)
{
    static struct rig_answer answer;
    int fd = rig_connect(service.orders_port);

    (void)state;
    assert_true(rig_send(fd, "GET / HT", 8));
    assert_true(rig_read(fd, &answer, 5000));
    assert_int_equal(answer.status, 408);
    assert_true(rig_is_closed(fd, 5000));
    (void)close(fd);
}

struct honest {
    pthread_t thread;
    atomic_bool stop;
    int64_t worst_ns;
    int served, failed;
};

static void *be_honest(void *arg)
{
    struct honest *h = arg;
    static _Thread_local struct rig_answer answer;

    while (!atomic_load(&h->stop)) {
        int64_t start_ns = monotonic_ns();

        if (rig_request(service.orders_port, "GET", "/voucher/list/987654", NULL, NULL,
                        &answer) &&
            answer.status == 200)
            h->served++;
        else
            h->failed++;
        if (monotonic_ns() - start_ns > h->worst_ns)
            h->worst_ns = monotonic_ns() - start_ns;
    }
    return NULL;
}

/* Sockets that say nothing, or too little, are cut at the request timeout of 1 s. */
static void silent_and_dripping_sockets_are_cut(void **state)
{
    enum { SILENT = 3, HEAD_DRIPS = 1, BODY_DRIPS = 2, ALL = 6 };
    static const char HEAD[] = "POST /voucher/seckill HTTP/1.1\r\nHost: x\r\n";
    struct honest honest = {0};
    char head[512];
    bool is_open[ALL];
    int fds[ALL];
    int open = ALL;
    int64_t start_ns = monotonic_ns();

    (void)state;
    (void)snprintf(head, sizeof(head),
                   "%sauthorization: %s\r\nContent-Length: 4000\r\n\r\n", HEAD, token);
    for (int i = 0; i < ALL; i++) {
        fds[i] = rig_connect(service.orders_port);
        assert_true(fds[i] >= 0);
        is_open[i] = true;
        if (i >= SILENT + HEAD_DRIPS)
            assert_true(rig_send(fds[i], head, strlen(head)));
    }
    assert_int_equal(pthread_create(&honest.thread, NULL, be_honest, &honest), 0);
    while (open > 0 && monotonic_ns() - start_ns < 6000000000) {
        for (int i = 0; i < ALL; i++) {
            if (!is_open[i])
                continue;
            if (i >= SILENT)
                (void)rig_send(fds[i], "x", 1);
            if (rig_is_closed(fds[i], 20)) {
                is_open[i] = false;
                open--;
                (void)close(fds[i]);
            }
        }
    }
    atomic_store(&honest.stop, true);
    (void)pthread_join(honest.thread, NULL);
    assert_int_equal(open, 0);
    assert_true(monotonic_ns() - start_ns < 4000000000);
    assert_int_equal(honest.failed, 0);
    assert_true(honest.served > 10);
    assert_true(honest.worst_ns < 1000000000);
}

/* More silent sockets than workers: the honest wait, but only until those are cut. */
static void a_flood_of_silent_sockets_passes(void **state)
{
    enum { FLOOD = 16 };
    static struct rig_answer answer;
    int fds[FLOOD];

    (void)state;
    for (int i = 0; i < FLOOD; i++) {
        fds[i] = rig_connect(service.orders_port);
        assert_true(fds[i] >= 0);
    }
    assert_true(rig_request(service.orders_port, "GET", "/voucher/list/1", NULL, NULL,
                            &answer));
    assert_int_equal(answer.status, 200);
    for (int i = 0; i < FLOOD; i++)
        (void)close(fds[i]);
}

static int begin(void **state)
{
    (void)state;
    service = RIG_START("--lock=none", "--request-timeout=1s");
    rig_operator_token(token);
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_stop(&service);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_a_head_is_its_own),
        cmocka_unit_test(half_a_head_is_answered),
        cmocka_unit_test(silent_and_dripping_sockets_are_cut),
        cmocka_unit_test(a_flood_of_silent_sockets_passes),
    };

    return cmocka_run_group_tests(tests, begin, end);
}

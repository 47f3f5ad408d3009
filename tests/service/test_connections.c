/* SPDX-License-Identifier: MIT */
/* test_connections.c -- clients that are slow, silent, many or disconnected. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "tests/service/rig.h"

static struct rig_service service;
static char token[TOKEN_LEN + 1];

/* Bytes of an earlier connection in the thread's buffer are no part of this request. One thread
 * gets the same head with different ends. */
TEST(the_end_of_a_head_is_its_own)
{
    static const char *const HEADS[] = {
        "GET /voucher/list/1 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /voucher/list/1 HTTP/1.1\r\nHost: x\n\n",
        "GET /voucher/list/1 HTTP/1.1\r\nHost: x\n\n\r",
    };
    static struct rig_answer answer;
    struct rig_service one =
        RIG_START("--lock=none", "--connections=1", "--request-timeout=1s");

    for (int i = 0; i < 6; i++) {
        int fd = rig_connect(one.orders_port);
        const char *head = HEADS[i % 3];

        assert_true(rig_send(fd, head, strlen(head) + (i % 3 == 2)));
        assert_true(rig_read(fd, &answer, RIG_PATIENCE_MS));
        assert_int_equal(answer.status, i % 3 == 0 ? 200 : 400);
        (void)close(fd);
    }
    rig_stop(&one);
}

/* A head that arrives slowly is answered at the end of its time limit. */
TEST(half_a_head_is_answered)
{
    static struct rig_answer answer;
    int fd = rig_connect(service.orders_port);

    assert_true(rig_send(fd, "GET / HT", 8));
    assert_true(rig_read(fd, &answer, RIG_PATIENCE_MS));
    assert_int_equal(answer.status, 408);
    assert_true(rig_is_closed(fd, RIG_PATIENCE_MS));
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

/* Are silent sockets, and those that send single bytes, closed in time, and does the honest client
 * not wait for it? */
static bool are_cut_in_time(void)
{
    enum { SILENT = 3, HEAD_DRIPS = 1, BODY_DRIPS = 2, ALL = 6 };
    static const char HEAD[] = "POST /voucher/seckill HTTP/1.1\r\nHost: x\r\n";
    struct honest honest = {0};
    char head[512];
    bool is_open[ALL];
    int fds[ALL];
    int open = ALL;
    int64_t start_ns = monotonic_ns();

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
    while (open > 0 && monotonic_ns() - start_ns < RIG_PATIENCE_MS * 1000000LL) {
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
    assert_int_equal(honest.failed, 0);
    assert_true(honest.served > 10);
    return monotonic_ns() - start_ns < 4000000000 && honest.worst_ns < 1000000000;
}

/* Sockets that send nothing, or too little, are closed at the request timeout of 1 s, and an honest
 * client waits for none of them. A loaded machine may be late sometimes, but not in every try. */
TEST(silent_and_dripping_sockets_are_cut)
{
    enum { TRIES = 10 };
    bool is_in_time = false;

    for (int i = 0; i < TRIES && !is_in_time; i++)
        is_in_time = are_cut_in_time();
    assert_true(is_in_time);
}

/* There are more silent sockets than workers: an honest client waits only until these are
 * closed. */
TEST(a_flood_of_silent_sockets_passes)
{
    enum { FLOOD = 16 };
    static struct rig_answer answer;
    int fds[FLOOD];

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

/* The number of requests that the orders listener has answered. */
static double answered(const struct rig_service *s)
{
    return rig_metric(s, "seckill_http_request_duration_seconds_count{route=\"order\"}") +
           rig_metric(s, "seckill_http_request_duration_seconds_count{route=\"other\"}");
}

#define STATE(state) "seckill_http_connections{listener=\"orders\",state=\"" state "\"}"
#define ENDED(reason)                                                                  \
    "seckill_http_connections_ended_total{listener=\"orders\",reason=\"" reason "\"}"

/* A metric that must reach a value. */
struct wanted {
    const struct rig_service *service;
    const char *line_start;
    double value;
};

static bool has_value(void *arg)
{
    const struct wanted *w = arg;

    return rig_metric(w->service, w->line_start) == w->value;
}

static void wait_for(const struct rig_service *s, const char *line_start, double value)
{
    struct wanted w = {s, line_start, value};

    if (!rig_until(has_value, &w, RIG_PATIENCE_MS))
        fail_msg("%s is not %g", line_start, value);
}

/* More clients than connections, which the service would otherwise keep for a minute: silent
 * clients, and clients whose head or body is not complete. */
TEST(a_newcomer_never_waits_for_one_that_is_idle)
{
    enum { ROOM = 8, FLOOD = 32 };
    static const char *const BEGINNINGS[] = {"", "GET / HTTP/1.1\r\nHost: x\r\nX: y"};
    static struct rig_answer answer;
    struct rig_service s =
        RIG_START("--lock=none", "--connections=8", "--request-timeout=60s");
    char body[512];
    int fds[FLOOD];

    (void)snprintf(body, sizeof(body),
                   "POST /voucher/seckill HTTP/1.1\r\nHost: x\r\nauthorization: %s\r\n"
                   "Content-Length: 4000\r\n\r\nx",
                   token);
    for (int i = 0; i < FLOOD; i++) {
        const char *begin = i % 3 < 2 ? BEGINNINGS[i % 3] : body;

        fds[i] = rig_connect(s.orders_port);
        assert_true(fds[i] >= 0);
        assert_true(rig_send(fds[i], begin, strlen(begin)));
    }
    for (int i = 0; i < FLOOD; i++) {
        assert_true(rig_request(s.orders_port, "GET", "/voucher/list/1", NULL, NULL,
                                &answer));
        assert_int_equal(answer.status, 200);
    }
    assert_true(rig_metric(&s, ENDED("crowded")) >= FLOOD - ROOM);
    for (int i = 0; i < FLOOD; i++)
        (void)close(fds[i]);
    rig_stop(&s);
}

static void *order_once(void *arg)
{
    const struct rig_service *s = ((void **)arg)[0];
    struct rig_answer *answer = ((void **)arg)[1];

    (void)rig_order(s->orders_port, *(int64_t *)((void **)arg)[2], 7, answer);
    return NULL;
}

/* An order waits for the row of its voucher, so it keeps its worker and its connection. The next
 * request waits in vain for a worker. */
TEST(a_request_in_progress_keeps_its_connection)
{
    enum { FLOOD = 20 };
    static struct rig_answer first, second;
    struct rig_service s =
        RIG_START("--lock=none", "--connections=4", "--workers=1", "--worker-wait=50ms",
                  "--statement-timeout=60s", "--request-timeout=60s");
    int64_t voucher = rig_voucher(5);
    void *args[] = {&s, &first, &voucher};
    char script[120];
    pthread_t thread;
    int fds[FLOOD];

    (void)snprintf(script, sizeof(script),
                   "BEGIN; SELECT 1 FROM tb_seckill_voucher WHERE voucher_id = %lld FOR "
                   "UPDATE",
                   (long long)voucher);
    assert_int_equal(db_script(rig_db(), script), DB_OK);
    assert_int_equal(pthread_create(&thread, NULL, order_once, args), 0);
    wait_for(&s, "seckill_http_workers_busy", 1);
    for (int i = 0; i < FLOOD; i++)
        fds[i] = rig_connect(s.orders_port);
    assert_true(
        rig_request(s.orders_port, "GET", "/api/v1/vouchers", NULL, NULL, &second));
    assert_int_equal(second.status, 503);
    assert_string_equal(second.outcome, "unavailable");
    assert_non_null(strstr(second.head, "Retry-After: "));
    assert_non_null(strstr(second.body, "--worker-wait"));
    assert_true(rig_has_logged(&s, "refused: each of --workers=1 was busy for 50 ms"));
    assert_true(rig_request(s.admin_port, "GET", "/livez", NULL, NULL, &second));
    assert_int_equal(second.status, 200);
    assert_int_equal(db_script(rig_db(), "COMMIT"), DB_OK);
    (void)pthread_join(thread, NULL);
    assert_int_equal(first.status, 201);
    assert_true(rig_metric(&s, "seckill_http_workers_timed_out_total") == 1);
    for (int i = 0; i < FLOOD; i++)
        (void)close(fds[i]);
    rig_stop(&s);
}

/* A client that sends the same request again and again and reads no answer. */
struct sender {
    const struct rig_service *service;
    int fd;
    size_t sent; /* bytes */
    double answered;
};

/* Send until the socket takes no more bytes. Returns true if the service waits for this client to
 * read. The pieces are large, since a receive buffer holds few small ones. */
static bool is_waited_for(void *arg)
{
    static const char GET[] = "GET /api/v1/vouchers HTTP/1.1\r\nHost: x\r\n\r\n";
    enum { TIMES = 1000, LENGTH = sizeof(GET) - 1 };
    static char piece[TIMES * LENGTH];
    struct sender *s = arg;
    double before = s->answered;
    ssize_t n;

    for (size_t i = 0; i < TIMES; i++)
        memcpy(piece + i * LENGTH, GET, LENGTH);
    do {
        size_t at = s->sent % LENGTH;

        n = send(s->fd, piece + at, sizeof(piece) - at, MSG_DONTWAIT | MSG_NOSIGNAL);
        s->sent += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    s->answered = answered(s->service);
    return s->answered == before && rig_metric(s->service, STATE("answering")) == 1;
}

/* A connection whose buffers hold few answers that were not read. */
static int connect_narrow(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int size = 4096;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

/* A client sends many requests at once, reads nothing, and disconnects when the buffers are full.
 * The service executes only a few of these requests. */
TEST(a_client_that_hung_up_is_not_worked_for)
{
    enum { WAITING = 100, AFTERWARDS = 8 };
    struct rig_service s = RIG_START("--lock=none", "--request-timeout=60s");
    struct sender client = {.service = &s, .fd = connect_narrow(s.orders_port)};
    double afterwards;

    assert_true(rig_until(is_waited_for, &client, RIG_PATIENCE_MS));
    assert_true((double)client.sent / 46 > client.answered + (double)WAITING);
    (void)close(client.fd);
    wait_for(&s, ENDED("write-failed"), 1);
    afterwards = answered(&s) - client.answered;
    if (afterwards > (double)AFTERWARDS)
        fail_msg("%g requests were worked on after their client had gone", afterwards);
    rig_stop(&s);
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

GROUP(begin, end)

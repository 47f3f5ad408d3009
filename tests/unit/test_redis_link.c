/* SPDX-License-Identifier: MIT */
/* test_redis_link.c -- commands to a server that misbehaves: the status and the error of each
 * failure. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "lock/stores/redis_request.h"
#include "tests/registered.h"

enum { TIMEOUT_MS = 120, LONG_MS = 60000, CONNS_MAX = 8 };

/* A server that answers every request with the text that the test sets. When a connection got no
 * answer, its next answer is sent together with the late one, if there is one. */
static struct {
    char dir[40];
    char url[80];
    struct sockaddr_un address;
    int listen_fd;
    pthread_t thread;
    atomic_bool stopping;
    const char *_Atomic says; /* NULL: closes the connection */
    const char *_Atomic then; /* the answer to all requests but the first */
    const char *_Atomic late;
    atomic_int accepted_count;
    atomic_int heard_count;
} server;

static void answer(int *fd, bool *owes)
{
    char heard[2048], said[256];
    ssize_t len = recv(*fd, heard, sizeof(heard), 0);
    const char *text = atomic_load(&server.says);

    if (len > 0) {
        if (atomic_fetch_add(&server.heard_count, 1) > 0 && atomic_load(&server.then))
            text = atomic_load(&server.then);
        snprintf(said, sizeof(said), "%s%s",
                 *owes && atomic_load(&server.late) ? atomic_load(&server.late) : "",
                 text != NULL ? text : "");
        *owes = text != NULL && text[0] == '\0';
        if (text != NULL && send(*fd, said, strlen(said), MSG_NOSIGNAL) >= 0)
            return;
    }
    close(*fd);
    *fd = -1;
    *owes = false;
}

static void *serve(void *arg)
{
    struct pollfd polled[CONNS_MAX + 1];
    bool owes[CONNS_MAX + 1] = {false};

    (void)arg;
    for (int i = 0; i <= CONNS_MAX; i++)
        polled[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    polled[0].fd = server.listen_fd;
    while (!atomic_load(&server.stopping)) {
        poll(polled, CONNS_MAX + 1, 5);
        for (int i = 1; i <= CONNS_MAX; i++)
            if (polled[i].fd >= 0 && polled[i].revents != 0)
                answer(&polled[i].fd, &owes[i]);
        for (int i = 1; i <= CONNS_MAX && polled[0].revents != 0; i++)
            if (polled[i].fd < 0) {
                polled[i].fd = accept(server.listen_fd, NULL, NULL);
                atomic_fetch_add(&server.accepted_count, 1);
                break;
            }
    }
    for (int i = 1; i <= CONNS_MAX; i++)
        if (polled[i].fd >= 0)
            close(polled[i].fd);
    return NULL;
}

static int set_up(void **state)
{
    (void)state;
    memset(&server, 0, sizeof(server));
    strcpy(server.dir, "/tmp/seckill-link-XXXXXX");
    assert_non_null(mkdtemp(server.dir));
    server.address.sun_family = AF_UNIX;
    snprintf(server.address.sun_path, sizeof(server.address.sun_path), "%s/s",
             server.dir);
    snprintf(server.url, sizeof(server.url), "unix://%s/s", server.dir);
    server.listen_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(0, bind(server.listen_fd, (struct sockaddr *)&server.address,
                             sizeof(server.address)));
    assert_int_equal(0, listen(server.listen_fd, 8));
    assert_int_equal(0, pthread_create(&server.thread, NULL, serve, NULL));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    atomic_store(&server.stopping, true);
    pthread_join(server.thread, NULL);
    close(server.listen_fd);
    unlink(server.address.sun_path);
    rmdir(server.dir);
    return 0;
}

static struct redis_link *open_link(void)
{
    struct redis_link *link;

    assert_int_equal(DLOCK_OK, redis_link_open(&link, server.url, TIMEOUT_MS, false));
    return link;
}

static dlock_status call(struct redis_link *link, struct redis_answer *out)
{
    static const struct redis_command get = {2, {"GET", "k"}, REDIS_SHAPE_ANY};

    return redis_call(link, &get, INT64_MAX, out);
}

/* The status of a call to a server that answers `text`. */
static dlock_status call_to(const char *text, struct redis_answer *out)
{
    struct redis_link *link = open_link();
    dlock_status st;

    atomic_store(&server.says, text);
    st = call(link, out);
    redis_link_close(link);
    return st;
}

static int64_t now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

TEST_WITH(set_up, tear_down, answers_are_told_apart)
{
    struct redis_answer out;

    assert_int_equal(DLOCK_OK, call_to("$5\r\nhello\r\n", &out));
    assert_int_equal(REDIS_BULK, out.kind);
    assert_string_equal("hello", out.text);
    assert_int_equal(DLOCK_OK, call_to("+OK\r\n", &out));
    assert_int_equal(REDIS_STATUS, out.kind);
    assert_string_equal("OK", out.text);
    assert_int_equal(DLOCK_OK, call_to(":-3\r\n", &out));
    assert_int_equal(REDIS_INTEGER, out.kind);
    assert_int_equal(-3, out.integer);
    assert_int_equal(DLOCK_OK, call_to("$-1\r\n", &out));
    assert_int_equal(REDIS_NIL, out.kind);
    assert_int_equal(DLOCK_OK, call_to("*-1\r\n", &out));
    assert_int_equal(REDIS_NIL_ARRAY, out.kind);
    assert_int_equal(DLOCK_OK, call_to("*1\r\n:1\r\n", &out));
    assert_int_equal(REDIS_SINGLE, out.kind);
    assert_int_equal(1, out.integer);
    assert_int_equal(DLOCK_OK, call_to("*2\r\n:1\r\n:2\r\n", &out));
    assert_int_equal(REDIS_OTHER, out.kind);
    assert_int_equal(DLOCK_OK, call_to("*1\r\n*1\r\n:1\r\n", &out));
    assert_int_equal(REDIS_OTHER, out.kind);
}

TEST_WITH(set_up, tear_down, nonsense_is_a_protocol_failure)
{
    static const char *const nonsense[] = {
        "-ERR no\r\n", "HTTP/1.1 200 OK\r\n\r\n", "*-7\r\n",
        ":12x\r\n", "$-7\r\n",
    };
    struct redis_answer out;

    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
        assert_int_equal(DLOCK_PROTOCOL, call_to(nonsense[i], &out));
        assert_non_null(strstr(dlock_error(), server.dir));
    }
}

TEST_WITH(set_up, tear_down, a_server_that_is_full_could_not_be_reached)
{
    struct redis_answer out;

    assert_int_equal(DLOCK_IO, call_to("-ERR max number of clients reached\r\n", &out));
    assert_non_null(strstr(dlock_error(), "max number of clients"));
}

TEST_WITH(set_up, tear_down, what_left_and_is_not_answered_is_unknown)
{
    struct redis_answer out;
    int64_t begun_ms = now_ms();

    assert_int_equal(DLOCK_UNKNOWN, call_to(NULL, &out)); /* closes the connection */
    assert_true(now_ms() - begun_ms < 40 * TIMEOUT_MS);
    assert_int_equal(DLOCK_UNKNOWN, call_to("", &out)); /* does not answer */
    assert_int_equal(DLOCK_UNKNOWN, call_to("$100\r\nhalf", &out));
    assert_true(now_ms() - begun_ms >= 2 * TIMEOUT_MS);
}

TEST_WITH(set_up, tear_down, a_failed_connection_is_not_used_again)
{
    struct redis_link *link = open_link();
    struct redis_answer out;

    atomic_store(&server.says, "$9\r\nof the fir");
    assert_int_equal(DLOCK_UNKNOWN, call(link, &out));
    atomic_store(&server.says, "+second\r\n");
    assert_int_equal(DLOCK_OK, call(link, &out));
    assert_string_equal("second", out.text);
    assert_int_equal(2, atomic_load(&server.accepted_count));
    /* A connection without an error is used for the next command. */
    assert_int_equal(DLOCK_OK, call(link, &out));
    assert_int_equal(2, atomic_load(&server.accepted_count));
    redis_link_close(link);
}

TEST_WITH(set_up, tear_down, a_late_answer_beside_the_next_is_nobodys)
{
    struct redis_link *link = open_link();
    struct redis_answer out;

    atomic_store(&server.late, "+late\r\n");
    atomic_store(&server.says, "");
    assert_int_equal(DLOCK_UNKNOWN, call(link, &out));
    atomic_store(&server.says, "+next\r\n");
    assert_int_equal(DLOCK_OK, call(link, &out));
    assert_string_equal("next", out.text);
    redis_link_close(link);
}

TEST_WITH(set_up, tear_down, a_reply_too_many_is_not_taken_for_the_next)
{
    struct redis_link *link = open_link();
    struct redis_answer out;

    atomic_store(&server.says, "+first\r\n+stray\r\n");
    assert_int_equal(DLOCK_OK, call(link, &out));
    assert_string_equal("first", out.text);
    atomic_store(&server.says, "+second\r\n$40\r\nhalf of a stray");
    assert_int_equal(DLOCK_OK, call(link, &out));
    assert_string_equal("second", out.text);
    atomic_store(&server.says, "+third\r\n");
    assert_int_equal(DLOCK_OK, call(link, &out));
    assert_string_equal("third", out.text);
    redis_link_close(link);
}

TEST_WITH(set_up, tear_down, a_dead_server_is_left_alone_for_a_while)
{
    struct redis_link *link;
    struct redis_answer out;

    assert_int_equal(DLOCK_OK, redis_link_open(&link, "unix:///nonexistent/s",
                                               TIMEOUT_MS, false));
    assert_false(redis_link_is_left_alone(link));
    assert_int_equal(DLOCK_IO, call(link, &out));
    assert_true(redis_link_is_left_alone(link));
    assert_int_equal(DLOCK_IO, call(link, &out));
    assert_non_null(strstr(dlock_error(), "/nonexistent/s"));
    assert_int_equal(DLOCK_IO, redis_ping(link)); /* always tries to connect */
    redis_link_close(link);
}

static bool is_answered(struct redis_talk *talk)
{
    static const struct redis_command get = {2, {"GET", "k"}, REDIS_SHAPE_ANY};
    struct redis_answer out;

    talk->is_broken = false;
    redis_talk_ask(talk, &get, INT64_MAX, &out);
    return out.outcome == REDIS_ANSWERED;
}

/* With LONG_MS, the time in which the link leaves a dead server alone is noticed on a slow machine
 * too. */
TEST_WITH(set_up, tear_down, a_conversation_ends_leaving_alone)
{
    struct redis_talk talk = {0};
    char away[sizeof(server.address.sun_path) + 4];

    snprintf(away, sizeof(away), "%s.off", server.address.sun_path);
    atomic_store(&server.says, "+OK\r\n");
    assert_int_equal(DLOCK_OK, redis_link_open(&talk.link, server.url, LONG_MS, false));
    assert_int_equal(0, rename(server.address.sun_path, away));
    assert_false(is_answered(&talk));
    assert_int_equal(0, rename(away, server.address.sun_path));
    while (!is_answered(&talk)) /* the server may be left without a request for a moment */
        poll(NULL, 0, 1);
    assert_false(redis_link_is_left_alone(talk.link));
    redis_talk_end(&talk, true);
    redis_link_close(talk.link);
}

TEST_WITH(set_up, tear_down, an_unknown_script_is_sent_by_its_text)
{
    static const struct redis_script script = {"return 1", "0123"};
    struct redis_script_call one = {&script, false, 1, 1, {"k"}, REDIS_SHAPE_ANY};
    struct redis_link *link = open_link();
    struct redis_answer out;

    atomic_store(&server.says, "-NOSCRIPT No matching script. Please use EVAL.\r\n");
    atomic_store(&server.then, ":1\r\n");
    assert_int_equal(DLOCK_OK, redis_script_run(link, &one, INT64_MAX, &out));
    assert_int_equal(1, out.integer);
    assert_int_equal(2, atomic_load(&server.heard_count));
    /* No other command is ever sent twice. */
    atomic_store(&server.then, "-ERR no\r\n");
    assert_int_equal(DLOCK_PROTOCOL, redis_script_run(link, &one, INT64_MAX, &out));
    assert_int_equal(3, atomic_load(&server.heard_count));
    redis_link_close(link);
}

TEST_WITH(set_up, tear_down, after_its_deadline_nothing_is_sent)
{
    static const struct redis_command get = {2, {"GET", "k"}, REDIS_SHAPE_ANY};
    struct redis_link *link = open_link();
    struct redis_answer out;

    atomic_store(&server.says, "+late\r\n");
    assert_int_equal(DLOCK_IO, redis_call(link, &get, 1, &out));
    assert_int_equal(DLOCK_OK, redis_call(link, &get, INT64_MAX, &out));
    assert_int_equal(DLOCK_IO, redis_call(link, &get, 1, &out));
    assert_int_equal(DLOCK_OK, redis_call(link, &get, INT64_MAX, &out));
    assert_int_equal(2, atomic_load(&server.heard_count));
    redis_link_close(link);
}

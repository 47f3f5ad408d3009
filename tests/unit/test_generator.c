/* SPDX-License-Identifier: MIT */
/* test_generator.c -- the open loop with a server that stalls, breaks connections and sends
 * malformed answers: every due request is counted once, and a stall shows in the latency of every
 * request that it delays. */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "loadtest/open_loop/generator.h"
#include "tests/registered.h"

enum { CLIENTS_MAX = 64, STALL_MS = 300, SLOW_MS = 7 };

enum manner {
    ANSWERS,
    STALLS_ONCE,      /* for STALL_MS, at the 20th request                             */
    CUTS_EVERY_THIRD, /* closes the connection in place of an answer                   */
    SAYS_CLOSE,       /* answers, and then closes the connection */
    TALKS_NONSENSE,   /* in place of every third answer                                */
    SENDS_PIECES,     /* a byte at a time                                              */
    SAYS_NOTHING,
    SLOW_EVERY_OTHER, /* for SLOW_MS                                                   */
};

static struct server {
    pthread_t thread;
    enum manner manner;
    int listener, port;
    atomic_bool ends;
    int served;
} server;

static const char answer[] = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"
                             "x-outcome: accepted\r\nContent-Length: 2\r\n\r\n{}";
static const char last_answer[] = "HTTP/1.1 409 Conflict\r\nX-Outcome: sold-out\r\n"
                                  "Connection: close\r\nContent-Length: 0\r\n\r\n";

static void send_text(int fd, const char *text)
{
    size_t size = strlen(text), part = server.manner == SENDS_PIECES ? 1 : size;

    for (size_t i = 0; i < size; i += part)
        (void)!send(fd, text + i, part, MSG_NOSIGNAL);
}

/* Serve a request that has arrived. Returns false if the connection is to be closed. */
static bool serve(int fd)
{
    int n = ++server.served;

    switch (server.manner) {
    case STALLS_ONCE:
        if (n == 20)
            usleep(STALL_MS * 1000);
        break;
    case CUTS_EVERY_THIRD:
        if (n % 3 == 0)
            return false;
        break;
    case SAYS_CLOSE:
        send_text(fd, last_answer);
        return false;
    case TALKS_NONSENSE:
        if (n % 3 == 0) {
            send_text(fd, "220 mail.example.org\r\n");
            return true;
        }
        break;
    case SAYS_NOTHING:
        return true;
    case SLOW_EVERY_OTHER:
        if (n % 2 == 0)
            usleep(SLOW_MS * 1000);
        break;
    default:
        break;
    }
    send_text(fd, answer);
    return true;
}

static void *run_server(void *arg)
{
    struct pollfd polled[CLIENTS_MAX + 1] = {{.fd = server.listener, .events = POLLIN}};
    char request[4096];
    int count = 1;

    (void)arg;
    while (!server.ends) {
        (void)poll(polled, (nfds_t)count, 5);
        for (int i = count - 1; i > 0; i--) {
            ssize_t n = polled[i].revents ? recv(polled[i].fd, request, sizeof request, 0) : 1;

            if (n > 0 && (!polled[i].revents || serve(polled[i].fd)))
                continue;
            close(polled[i].fd);
            polled[i] = polled[--count];
        }
        if ((polled[0].revents & POLLIN) && count <= CLIENTS_MAX)
            polled[count++] =
                (struct pollfd){.fd = accept(server.listener, NULL, NULL), .events = POLLIN};
    }
    while (--count > 0)
        close(polled[count].fd);
    return NULL;
}

static void start_server(enum manner manner)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;

    server = (struct server){.manner = manner};
    server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server.listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(server.listener, CLIENTS_MAX), 0);
    assert_int_equal(getsockname(server.listener, (struct sockaddr *)&address, &size), 0);
    server.port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&server.thread, NULL, run_server, NULL), 0);
}

static void stop_server(void)
{
    server.ends = true;
    pthread_join(server.thread, NULL);
    close(server.listener);
}

/* The requests and the answers that the client reported. */
struct told {
    int64_t written, answered, silent, last;
    bool has_stalled;
};

static size_t write_request(void *arg, int64_t n, int target, char *out, size_t size)
{
    struct told *told = arg;

    assert_int_equal(target, 0);
    assert_true(n > told->last);
    told->last = n;
    told->written++;
    return (size_t)snprintf(out, size, "POST /%d HTTP/1.1\r\n\r\n", (int)n);
}

static enum answer_kind take_answer(void *arg, int64_t n, int target,
                                    const struct received_answer *got)
{
    struct told *told = arg;

    assert_int_equal(target, 0);
    assert_true(n <= told->last);
    told->answered++;
    return answer_kind_of(got->outcome);
}

static void take_silence(void *arg, int64_t n, int target)
{
    struct told *told = arg;

    assert_int_equal(target, 0);
    assert_true(n <= told->last);
    told->silent++;
}

static bool tick(void *arg, int64_t since_begin_ns)
{
    (void)arg;
    (void)since_begin_ns;
    return true;
}

/* The generator itself gets no processor for STALL_MS. */
static bool stall(void *arg, int64_t since_begin_ns)
{
    struct told *told = arg;

    if (!told->has_stalled && since_begin_ns > 300000000)
        usleep(STALL_MS * 1000);
    told->has_stalled = since_begin_ns > 300000000;
    return true;
}

/* End a step of a minute after 20 ms. */
static bool end_soon(void *arg, int64_t since_begin_ns)
{
    (void)arg;
    return since_begin_ns < 20000000;
}

/* Run a step with a server of this behaviour; the caller frees the result. */
static struct step_result *run_ticking(bool (*ticks)(void *, int64_t), enum manner manner,
                                       int connections, int64_t rate, int64_t duration_ms,
                                       int64_t drain_ms)
{
    struct told told = {.last = -1};
    struct generator_client client = {&told, write_request, take_answer, take_silence, ticks};
    struct generator_plan plan = {&server.port, 1, connections, &client, NULL};
    struct step_result *step = calloc(1, sizeof *step);
    struct generator *generator;

    start_server(manner);
    generator = generator_open(&plan);
    assert_non_null(step);
    assert_non_null(generator);
    assert_true(generator_run(generator, rate, duration_ms, drain_ms, step));
    generator_close(generator);
    stop_server();
    assert_int_equal(step->due, rate * duration_ms / 1000);
    assert_int_equal(answers_total(&step->answers) + step->unanswered + step->unsent, step->due);
    assert_int_equal(step->latency.count, step->due);
    assert_int_equal((int64_t)step->lag.count + step->queued, step->due);
    assert_int_equal(step->sent, step->due - step->unsent);
    assert_int_equal(told.written, step->sent);
    assert_int_equal(told.answered, answers_total(&step->answers));
    assert_int_equal(told.silent, step->unanswered);
    return step;
}

static struct step_result *run(enum manner manner, int connections, int64_t rate,
                               int64_t duration_ms, int64_t drain_ms)
{
    return run_ticking(tick, manner, connections, rate, duration_ms, drain_ms);
}

TEST(every_request_that_is_due_is_sent_and_answered)
{
    struct step_result *step = run(ANSWERS, 8, 400, 500, 20000);

    assert_int_equal(step->answers.counts[ANSWER_ACCEPTED], 200);
    assert_int_equal(step->accepted.count, 200);
    free(step);
}

/* 150 requests are due while the server stalls for 300 ms. A closed loop of two connections would
 * have sent two of them. */
TEST(a_stall_is_seen_by_all_that_were_due_in_it)
{
    struct step_result *step = run(STALLS_ONCE, 2, 500, 1000, 20000);

    assert_int_equal(step->answers.counts[ANSWER_ACCEPTED], 500);
    assert_true(step_quantile_ms(step, 0.91) >= STALL_MS / 3);
    assert_true(step_max_ms(step) >= STALL_MS - 10);
    assert_true(step->queued >= 90);
    free(step);
}

/* Every second request occupies the only connection until after the next request is due. */
TEST(a_wait_for_a_connection_is_no_lag_of_the_generator)
{
    struct step_result *step = run(SLOW_EVERY_OTHER, 1, 200, 1000, 20000);

    assert_true(step->queued >= 50);
    free(step);
}

/* 600 requests are due while the generator stalls.  However slowly they are answered then, 64 of
 * them get a connection at once, which is more than two of a hundred. */
TEST(a_stall_of_the_generator_is_its_lag)
{
    struct step_result *step = run_ticking(stall, ANSWERS, CLIENTS_MAX, 2000, 1000, 20000);

    assert_true(latency_quantile_ms(&step->lag, 0.98) >= (double)STALL_MS / 10);
    assert_non_null(step_flaw(step));
    free(step);
}

TEST(a_request_on_a_connection_that_breaks_is_unanswered)
{
    struct step_result *step = run(CUTS_EVERY_THIRD, 8, 300, 500, 20000);

    assert_int_equal(step->unanswered, 50);
    assert_int_equal(step->answers.counts[ANSWER_ACCEPTED], 100);
    free(step);
}

TEST(a_server_may_close_each_connection)
{
    struct step_result *step = run(SAYS_CLOSE, 8, 300, 500, 20000);

    assert_int_equal(step->answers.counts[ANSWER_SOLD_OUT], 150);
    free(step);
}

TEST(nonsense_is_no_answer)
{
    struct step_result *step = run(TALKS_NONSENSE, 8, 300, 500, 20000);

    assert_int_equal(step->unanswered, 50);
    assert_int_equal(step->answers.counts[ANSWER_ACCEPTED], 100);
    free(step);
}

TEST(an_answer_may_come_in_pieces)
{
    struct step_result *step = run(SENDS_PIECES, 8, 300, 500, 20000);

    assert_int_equal(step->answers.counts[ANSWER_ACCEPTED], 150);
    free(step);
}

/* Four connections have four requests under way, and the generator gives up all others. */
TEST(a_server_that_says_nothing_fails_every_request)
{
    struct step_result *step = run(SAYS_NOTHING, 4, 100, 500, 100);

    assert_int_equal(step->unanswered, 4);
    assert_int_equal(step->unsent, 46);
    assert_true(step_failed(step) > 0.999);
    assert_true(step_max_ms(step) >= 500);
    free(step);
}

/* No request is answered, and all are given up at the same time, so their latencies differ as their
 * due times do.  Half of 200 requests are due in the first 1/sqrt(2) of the second, and a quarter
 * in its first half. */
TEST(the_rate_of_a_ramp_rises_evenly)
{
    struct told told = {.last = -1};
    struct generator_client client = {&told, write_request, take_answer, take_silence, tick};
    struct generator_plan plan = {&server.port, 1, 4, &client, NULL};
    struct step_result *step = calloc(1, sizeof *step);
    struct generator *generator;

    start_server(SAYS_NOTHING);
    generator = generator_open(&plan);
    assert_non_null(generator);
    assert_true(generator_ramp(generator, 400, 1000, 100, step));
    generator_close(generator);
    stop_server();
    assert_int_equal(step->due, 200);
    assert_int_equal(step->unanswered + step->unsent, 200);
    assert_in_range((int)(step_max_ms(step) - step_quantile_ms(step, 0.5)), 690, 720);
    assert_in_range((int)(step_max_ms(step) - step_quantile_ms(step, 0.75)), 485, 510);
    assert_string_equal(step_flaw(step), "the rate rose");
    free(step);
}

TEST(the_client_may_end_a_step)
{
    struct told told = {.last = -1};
    struct generator_client client = {&told, write_request, take_answer, take_silence, end_soon};
    struct generator_plan plan = {&server.port, 1, 2, &client, NULL};
    struct step_result *step = calloc(1, sizeof *step);
    struct generator *generator;
    int64_t begin_ns = monotonic_ns();

    start_server(SAYS_NOTHING);
    generator = generator_open(&plan);
    assert_non_null(generator);
    assert_true(generator_run(generator, 100, 60000, 60000, step));
    generator_close(generator);
    stop_server();
    assert_true(monotonic_ns() - begin_ns < INT64_C(30000000000));
    assert_int_equal(told.written, step->sent);
    assert_int_equal(told.answered + told.silent, step->sent);
    free(step);
}

TEST(without_a_server_there_is_no_generator)
{
    struct generator_client client = {NULL, write_request, take_answer, take_silence, tick};
    struct generator_plan plan = {&server.port, 1, 2, &client, NULL};

    start_server(ANSWERS);
    stop_server();
    assert_null(generator_open(&plan));
}

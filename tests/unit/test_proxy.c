/* SPDX-License-Identifier: MIT */
/* test_proxy.c -- a real Redis behind a wire that fails on command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs these four first. */
#include <cmocka.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loadtest/proxy/proxy.h"
#include "base/os/clock.h"
#include "lock/dlock.h"

enum { PATIENCE_MS = 10000, ABSENCE_MS = 50, BIG_SIZE = 8 << 20 };

static struct {
    char dir[40], path[64], target[80];
    pid_t pid;
    redisContext *side; /* sees the server past the proxy */
} server;

static struct proxy *wire;
static char why[PROXY_WHY_MAX];

#define assert_comes(state)                                                            \
    do {                                                                               \
        int64_t end_ns_ = dlock_clock_after(dlock_clock_ns(), PATIENCE_MS);            \
        while (!(state)) {                                                             \
            assert_true(dlock_clock_ns() < end_ns_);                                   \
            poll(NULL, 0, 1);                                                          \
        }                                                                              \
    } while (0)

/* ---- the server ---- */

static bool is_up(void)
{
    redisContext *side = redisConnectUnix(server.path);

    if (side != NULL && side->err == 0) {
        server.side = side;
        return true;
    }
    if (side != NULL)
        redisFree(side);
    return false;
}

static int start_server(void **state)
{
    (void)state;
    alarm(120); /* a hang ends the program: the runner sees it */
    strcpy(server.dir, "/tmp/seckill-proxy-XXXXXX");
    assert_non_null(mkdtemp(server.dir));
    snprintf(server.path, sizeof(server.path), "%s/s", server.dir);
    snprintf(server.target, sizeof(server.target), "unix:%s", server.path);
    server.pid = fork();
    assert_true(server.pid >= 0);
    if (server.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (freopen("/dev/null", "w", stdout) != NULL)
            execlp("redis-server", "redis-server", "--port", "0", "--unixsocket",
                   server.path, "--save", "", "--dir", server.dir, (char *)NULL);
        _exit(127);
    }
    assert_comes(is_up());
    return 0;
}

static int stop_server(void **state)
{
    (void)state;
    redisFree(server.side);
    kill(server.pid, SIGKILL);
    waitpid(server.pid, NULL, 0);
    unlink(server.path);
    rmdir(server.dir);
    return 0;
}

static long long tell(const char *command)
{
    redisReply *reply = redisCommand(server.side, command);
    long long number;

    assert_non_null(reply);
    number = reply->integer;
    freeReplyObject(reply);
    return number;
}

static int set_up(void **state)
{
    struct proxy_options options = {.target = server.target, .protocol = PROXY_REDIS};

    (void)state;
    tell("FLUSHALL");
    assert_true(proxy_open(&wire, &options, why));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    proxy_close(wire);
    return 0;
}

/* ---- a client ---- */

static int call(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)proxy_port(wire)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(0, connect(fd, (struct sockaddr *)&address, sizeof(address)));
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(strlen(text), send(fd, text, strlen(text), MSG_NOSIGNAL));
}

static void hears(int fd, const char *text)
{
    char got[256] = "";
    size_t have = 0;

    while (have < strlen(text)) {
        struct pollfd polled = {.fd = fd, .events = POLLIN};
        ssize_t n;

        assert_int_equal(1, poll(&polled, 1, PATIENCE_MS));
        n = recv(fd, got + have, strlen(text) - have, 0);
        assert_true(n > 0);
        have += (size_t)n;
    }
    assert_string_equal(text, got);
}

static void hears_nothing(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};

    assert_int_equal(0, poll(&polled, 1, ABSENCE_MS));
}

/* 0: it ended in order; else the errno. */
static int end_of(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    char byte;
    ssize_t n;

    assert_int_equal(1, poll(&polled, 1, PATIENCE_MS));
    n = recv(fd, &byte, 1, 0);
    assert_true(n <= 0);
    return n < 0 ? errno : 0;
}

static int arm(const char *fault)
{
    int number = proxy_arm(wire, fault, why);

    assert_true(number >= 0);
    return number;
}

static struct proxy_stats stats(void)
{
    struct proxy_stats s;

    proxy_read_stats(wire, &s);
    return s;
}

/* ---- tests ---- */

static void *take_lock(void *arg)
{
    dlock_lease lease;

    return (void *)(intptr_t)dlock_acquire(arg, "lock:lost", 0, &lease);
}

static void a_lost_reply_is_unknown_and_the_lock_is_in_the_store(void **state)
{
    dlock_options options = dlock_options_default();
    dlock_system *sys = NULL;
    char url[64];
    pthread_t thread;
    void *answer;
    int fault;

    (void)state;
    snprintf(url, sizeof(url), "redis://127.0.0.1:%d", proxy_port(wire));
    options.variant = "lua";
    options.redis_url = url;
    options.redis_timeout_ms = 500;
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &options));
    fault = arm("drop:1 to-client at to-server lock:lost");
    /* Or it would be cleaned up before anybody could see it. */
    arm("drop:all to-server after to-client message 0 of connection 2");
    assert_int_equal(0, pthread_create(&thread, NULL, take_lock, sys));
    assert_true(proxy_wait(wire, fault, PATIENCE_MS));
    assert_int_equal(1, tell("EXISTS lock:lost"));
    pthread_join(thread, &answer);
    assert_int_equal(DLOCK_UNKNOWN, (int)(intptr_t)answer);
    dlock_close(sys);
}

static void a_reply_is_cut_in_the_middle(void **state)
{
    int fd = call();
    int fault = arm("cut to-client after message 1 byte 3");

    (void)state;
    say(fd, "PING\r\nPING\r\n");
    hears(fd, "+PONG\r\n+PO");
    assert_int_equal(ECONNRESET, end_of(fd));
    assert_true(proxy_wait(wire, fault, 0));
    close(fd);
    fd = call();
    arm("cut:fin to-server at \"SET b\" byte 5 of connection 2");
    say(fd, "SET a 1\r\n");
    hears(fd, "+OK\r\n");
    say(fd, "SET b 1\r\n");
    assert_int_equal(0, end_of(fd));
    assert_int_equal(1, tell("EXISTS a b"));
    close(fd);
}

static void a_half_closed_request_line_still_answers(void **state)
{
    int fd = call();
    int fault = arm("half-close to-server after message 2");

    (void)state;
    say(fd, "PING\r\nSET h 1\r\nSET i 1\r\n");
    hears(fd, "+PONG\r\n+OK\r\n");
    assert_int_equal(0, end_of(fd)); /* the server has seen our end */
    assert_true(proxy_wait(wire, fault, PATIENCE_MS));
    assert_int_equal(1, tell("EXISTS h i"));
    close(fd);
}

static void held_replies_come_later_and_in_order(void **state)
{
    int fd = call();
    int fault = arm("hold to-client after message 1");
    struct proxy_strike strike;
    int64_t before_ns = dlock_clock_ns();

    (void)state;
    say(fd, "ECHO 1\r\nECHO 2\r\nECHO 3\r\n");
    hears(fd, "$1\r\n1\r\n");
    assert_true(proxy_wait(wire, fault, PATIENCE_MS));
    hears_nothing(fd);
    say(fd, "ECHO 4\r\n");
    assert_true(proxy_look(wire, fault, &strike));
    assert_true(strike.strikes == 1 && strike.connection == 1);
    assert_true(strike.first_ns >= before_ns && strike.first_ns <= dlock_clock_ns());
    arm("release to-client");
    hears(fd, "$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n");
    say(fd, "PING\r\n"); /* nothing is held any more */
    hears(fd, "+PONG\r\n");
    close(fd);
}

static void a_hold_is_released_by_what_another_connection_says(void **state)
{
    int first = call(), second;
    int hold = arm("hold to-client of connection 1");

    (void)state;
    say(first, "PING\r\n");
    assert_true(proxy_wait(wire, hold, PATIENCE_MS));
    arm("release to-client at to-server GO of connection 2");
    hears_nothing(first);
    second = call();
    say(second, "ECHO GO\r\n");
    hears(first, "+PONG\r\n");
    hears(second, "$2\r\nGO\r\n");
    close(first);
    close(second);
}

static void a_delay_keeps_every_byte_and_the_order(void **state)
{
    int fd = call();
    int64_t before_ns = dlock_clock_ns();

    (void)state;
    arm("delay:80ms to-client");
    say(fd, "ECHO 1\r\nECHO 2\r\n");
    hears(fd, "$1\r\n1\r\n$1\r\n2\r\n");
    assert_true(dlock_clock_ns() - before_ns >= 80 * DLOCK_NS_PER_MS);
    close(fd);
}

static void exactly_one_reply_of_a_pipeline_is_dropped(void **state)
{
    int fd = call();
    int fault = arm("drop:1 to-client at to-server LOST");

    (void)state;
    say(fd, "ECHO 1\r\nECHO LOST\r\nECHO 3\r\nECHO LOST\r\n");
    hears(fd, "$1\r\n1\r\n$1\r\n3\r\n$4\r\nLOST\r\n");
    assert_true(proxy_wait(wire, fault, 0));
    assert_int_equal(strlen("$4\r\nLOST\r\n"), stats().dropped[PROXY_TO_CLIENT]);
    assert_int_equal(4, stats().messages[PROXY_TO_CLIENT]);
    close(fd);
}

static void what_cannot_strike_is_refused_or_counted(void **state)
{
    static const struct {
        const char *fault, *says;
    } cases[] = {
        {"release to-client", "nothing is held there"},
        {"cut to-client after message 0 of connection 1", "past that point"},
        {"cut to-client after byte 3 of connection 1", "past that point"},
        {"cut to-client of connection 2", "that connection has ended"},
        {"cutt to-client", "did you mean"},
    };
    int fd = call(), gone;

    (void)state;
    say(fd, "PING\r\n");
    hears(fd, "+PONG\r\n");
    gone = call();
    close(gone);
    assert_comes(stats().connections == 2 && stats().open == 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(-1, proxy_arm(wire, cases[i].fault, why));
        if (strstr(why, cases[i].says) == NULL)
            fail_msg("%s: said %s", cases[i].fault, why);
    }
    assert_int_equal(-1, proxy_arm_script(wire, " # nothing\n", why));
    assert_int_equal(0, stats().armed);
    assert_int_equal(2, proxy_arm_script(wire, "cut to-client at NO; hold to-server", why));
    say(fd, "PING\r\n");
    assert_true(proxy_wait(wire, 1, PATIENCE_MS));
    assert_false(proxy_wait(wire, 0, 1));
    assert_int_equal(1, stats().unstruck);
    assert_false(proxy_wait(wire, 99, PATIENCE_MS)); /* there is no such fault */
    close(fd);
}

static void fifty_connections_have_fates_of_their_own(void **state)
{
    enum { COUNT = 50 };
    int fds[COUNT];

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        fds[i] = call();
        assert_comes(stats().connections == (uint64_t)i + 1);
    }
    arm("drop:1 to-client after message 1 of each connection");
    arm("cut to-client after message 2 of connection 50");
    for (int i = 0; i < COUNT; i++)
        say(fds[i], "ECHO 1\r\nECHO 2\r\nECHO 3\r\n");
    for (int i = 0; i < COUNT - 1; i++)
        hears(fds[i], "$1\r\n1\r\n$1\r\n3\r\n");
    hears(fds[COUNT - 1], "$1\r\n1\r\n");
    assert_int_equal(ECONNRESET, end_of(fds[COUNT - 1]));
    assert_int_equal(COUNT + 1, stats().strikes);
    for (int i = 0; i < COUNT; i++)
        close(fds[i]);
    assert_comes(stats().open == 0);
}

/* What the server sends fills the sockets and 128 KiB, and then waits. */
static void a_slow_reader_makes_the_server_wait(void **state)
{
    enum { QUIET_LOOKS = 100 };
    static char chunk[65536];
    uint64_t received = 0, heard = 0;
    int fd = call();

    (void)state;
    freeReplyObject(redisCommand(server.side, "SETRANGE big %d x", BIG_SIZE - 1));
    for (int i = 0; i < 4; i++)
        say(fd, "GET big\r\n");
    for (int quiet = 0; quiet < QUIET_LOOKS; quiet++) {
        struct proxy_stats s = stats();

        if (s.received[PROXY_TO_CLIENT] != received || received == 0)
            quiet = 0;
        received = s.received[PROXY_TO_CLIENT];
        assert_true(received - s.sent[PROXY_TO_CLIENT] <= 2 * 65536);
        poll(NULL, 0, 1);
    }
    assert_true(received < 4 * (uint64_t)BIG_SIZE);
    while (heard < 4 * ((uint64_t)BIG_SIZE + strlen("$8388608\r\n\r\n"))) {
        ssize_t n = recv(fd, chunk, sizeof(chunk), 0);

        assert_true(n > 0);
        heard += (uint64_t)n;
    }
    assert_comes(stats().messages[PROXY_TO_CLIENT] == 4);
    hears_nothing(fd);
    close(fd);
}

static void an_unreachable_server_cuts_the_client(void **state)
{
    struct proxy_options options = {.target = "unix:/nowhere/at/all",
                                    .protocol = PROXY_RAW};
    int fd;

    (void)state;
    proxy_close(wire);
    assert_true(proxy_open(&wire, &options, why));
    fd = call();
    assert_int_equal(ECONNRESET, end_of(fd));
    assert_comes(stats().refused == 1);
    close(fd);
    options.target = "nonsense";
    assert_false(proxy_open(&(struct proxy *){NULL}, &options, why));
    assert_non_null(strstr(why, "HOST:PORT or unix:PATH"));
}

static int open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

static void closing_with_open_connections_leaves_no_descriptor(void **state)
{
    enum { COUNT = 10 };
    int fds[COUNT], before;

    (void)state;
    tear_down(NULL);
    before = open_files();
    set_up(NULL);
    arm("hold to-client at to-server HOLD of each connection");
    for (int i = 0; i < COUNT; i++) {
        fds[i] = call();
        say(fds[i], i % 2 == 0 ? "ECHO HOLD\r\n" : "*1\r\n$4\r\nPI");
    }
    assert_comes(stats().strikes == COUNT / 2);
    proxy_close(wire);
    wire = NULL;
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(ECONNRESET, end_of(fds[i]));
        close(fds[i]);
    }
    assert_int_equal(before, open_files());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_lost_reply_is_unknown_and_the_lock_is_in_the_store),
        TEST(a_reply_is_cut_in_the_middle),
        TEST(a_half_closed_request_line_still_answers),
        TEST(held_replies_come_later_and_in_order),
        TEST(a_hold_is_released_by_what_another_connection_says),
        TEST(a_delay_keeps_every_byte_and_the_order),
        TEST(exactly_one_reply_of_a_pipeline_is_dropped),
        TEST(what_cannot_strike_is_refused_or_counted),
        TEST(fifty_connections_have_fates_of_their_own),
        TEST(a_slow_reader_makes_the_server_wait),
        TEST(an_unreachable_server_cuts_the_client),
        TEST(closing_with_open_connections_leaves_no_descriptor),
    };

    return cmocka_run_group_tests_name("proxy", tests, start_server, stop_server);
}

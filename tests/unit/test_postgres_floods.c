/* SPDX-License-Identifier: MIT */
/* test_postgres_floods.c -- a server that goes on sending, in the opening of a connection or in the
 * answer to a statement: each call has to end at its deadline, and no answer takes all memory. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/postgres/wire.h"
#include "lock/dlock.h"
#include "tests/registered.h"

enum {
    LIMIT_S = 300,
    SOON_MS = 200,
    PATIENCE_MS = 200000, /* of a call that ends by the length of the answer */
    ANSWER_MAX = 1 << 20,
    SENT_MOST = 64 << 20, /* with what libpq reads uncounted, and what the kernel keeps */
    PIECE_SIZE = 1 << 16,
    MESSAGE_MOST = 64,
};

/* What the server sends without end. */
enum flood {
    ROWS,
    ONE_ROW, /* libpq reads one that is announced until the socket is empty, so it has pauses */
    SETTINGS, /* each with a new name, all of which libpq keeps */
    NOTICES,
    NOTIFICATIONS, /* libpq keeps these, too */
    FLOOD_COUNT,
    PASSWORDS = FLOOD_COUNT /* requests for one, whose answers nobody reads; only in an opening */
};

static struct {
    int listen_fd;
    char url[160], path[64];
    pthread_t thread;
    /* The flood begins in the opening of a connection, or with the first statement. */
    bool is_opening;
    bool is_slow; /* a message now and then, so that the length never ends it */
    enum flood flood;
    unsigned name_count;
    atomic_long sent; /* bytes of the flood on this connection */
    atomic_bool is_over; /* the client has closed, which a full connection may not tell */
} server;

/* ---- the server ---- */

static size_t put(char *at, char letter, const void *contents, size_t len)
{
    uint32_t length = htonl((uint32_t)len + 4);

    at[0] = letter;
    memcpy(at + 1, &length, sizeof(length));
    memcpy(at + 5, contents, len);
    return len + 5;
}

/* The beginning of the flood, which is not repeated. */
static size_t begin_flood(char *at)
{
    static const char COLUMN[] = "\0\1x\0\0\0\0\0\0\0\0\0\0\031\377\377\377\377\377\377\0";
    static const char HUGE_ROW[] = {'D', 0x40, 0, 0, 0, 0, 1, 0x3f, 0x7f, 0x7f, 0x7f};
    size_t len = 0;

    if (server.flood == ROWS || server.flood == ONE_ROW)
        len = put(at, 'T', COLUMN, sizeof(COLUMN));
    if (server.flood == ONE_ROW) {
        memcpy(at + len, HUGE_ROW, sizeof(HUGE_ROW));
        len += sizeof(HUGE_ROW);
    }
    return len;
}

static size_t put_flood(char *at)
{
    char text[32];
    int len;

    switch (server.flood) {
    case ROWS:
        return put(at, 'D', "\0\1\0\0\0\4abcd", 10);
    case ONE_ROW:
        return put(at, 'D', "anything", 8);
    case SETTINGS:
        len = snprintf(text, sizeof(text), "name%u%cvalue", server.name_count++, '\0');
        return put(at, 'S', text, (size_t)len + 1);
    case NOTICES:
        return put(at, 'N', "SNOTICE\0Mno\0", 13);
    case PASSWORDS:
        return put(at, 'R', "\0\0\0\005salt", 8);
    default:
        return put(at, 'A', "\0\0\0\1channel\0text", 17);
    }
}

/* Send without end, until the client closes. */
static void flood(int fd)
{
    static char piece[PIECE_SIZE];
    size_t len = begin_flood(piece);

    atomic_store(&server.sent, 0);
    server.name_count = 0;
    for (;;) {
        size_t most = server.is_slow ? len + 1 : PIECE_SIZE - MESSAGE_MOST;

        while (len < most)
            len += put_flood(piece + len);
        if (send(fd, piece, len, MSG_NOSIGNAL) != (ssize_t)len)
            return;
        atomic_fetch_add(&server.sent, (long)len);
        len = 0;
        while (server.flood == PASSWORDS && !atomic_load(&server.is_over))
            usleep(1000);
        if (server.is_slow)
            usleep(1000);
        else if (server.flood == ONE_ROW)
            usleep(100);
    }
}

static void serve_one(int fd)
{
    static const char OPENED[] = {'R', 0, 0, 0, 8, 0, 0, 0, 0, 'Z', 0, 0, 0, 5, 'I'};
    char heard[2048];

    if (recv(fd, heard, sizeof(heard), 0) <= 0)
        ;
    else if (server.flood == PASSWORDS)
        flood(fd);
    else if (send(fd, OPENED, server.is_opening ? 9 : sizeof(OPENED), MSG_NOSIGNAL) > 0 &&
             (server.is_opening || recv(fd, heard, sizeof(heard), 0) > 0))
        flood(fd);
    close(fd);
}

static void *serve(void *arg)
{
    int fd;

    while ((fd = accept(server.listen_fd, NULL, NULL)) >= 0)
        serve_one(fd);
    return arg;
}

static void begin(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);

    memset(&server, 0, sizeof(server));
    server.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(server.listen_fd, SOL_SOCKET, SO_RCVBUF, &(int){4096}, sizeof(int));
    assert_int_equal(0, bind(server.listen_fd, (struct sockaddr *)&at, sizeof(at)));
    assert_int_equal(0, listen(server.listen_fd, 8));
    assert_int_equal(0, getsockname(server.listen_fd, (struct sockaddr *)&at, &len));
    snprintf(server.url, sizeof(server.url), "postgresql://u:p@127.0.0.1:%d/d?sslmode=disable",
             ntohs(at.sin_port));
    assert_int_equal(0, pthread_create(&server.thread, NULL, serve, NULL));
}

/* The same at a socket of this machine. */
static void begin_local(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    memset(&server, 0, sizeof(server));
    snprintf(server.path, sizeof(server.path), "/tmp/floods-XXXXXX");
    assert_non_null(mkdtemp(server.path));
    snprintf(at.sun_path, sizeof(at.sun_path), "%s/.s.PGSQL.5432", server.path);
    server.listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(0, bind(server.listen_fd, (struct sockaddr *)&at, sizeof(at)));
    assert_int_equal(0, listen(server.listen_fd, 8));
    snprintf(server.url, sizeof(server.url), "postgresql://u:p@/d?host=%s", server.path);
    assert_int_equal(0, pthread_create(&server.thread, NULL, serve, NULL));
}

static void end(void)
{
    char path[100];

    shutdown(server.listen_fd, SHUT_RDWR);
    pthread_join(server.thread, NULL);
    close(server.listen_fd);
    if (server.path[0] == '\0')
        return;
    snprintf(path, sizeof(path), "%s/.s.PGSQL.5432", server.path);
    unlink(path);
    rmdir(server.path);
}

/* ---- its client ---- */

static int64_t in(int ms)
{
    return dlock_clock_after(dlock_clock_ns(), ms);
}

static enum postgres_opening open_wire(struct postgres_wire **wire, size_t answer_max, int ms)
{
    struct postgres_wire_options options = {.url = server.url, .answer_max = answer_max};

    *wire = postgres_wire_new(&options);
    assert_non_null(*wire);
    return postgres_wire_open(*wire, in(ms));
}

static void assert_sent_little(void)
{
    long sent = atomic_load(&server.sent);

    if (sent > SENT_MOST)
        fail_msg("flood %d: %ld bytes", (int)server.flood, sent);
}

/* Read results until one cannot be read. */
static void ask(struct postgres_wire *wire, int ms)
{
    int64_t deadline_ns = in(ms);
    struct postgres_result *result;

    assert_true(postgres_wire_put_query(wire, "SELECT 1"));
    assert_true(postgres_wire_send(wire, deadline_ns));
    while (postgres_wire_receive(wire, deadline_ns, &result))
        postgres_result_free(result);
}

TEST(an_opening_ends_at_its_deadline)
{
    struct postgres_wire *wire;

    for (enum flood flood = SETTINGS; flood < FLOOD_COUNT; flood++) {
        begin();
        server.is_opening = server.is_slow = true;
        server.flood = flood;
        assert_int_equal(POSTGRES_LATE, open_wire(&wire, 0, SOON_MS));
        postgres_wire_close(wire);
        end();
    }
}

/* The answers soon fill the connection, and libpq must not wait for room. */
TEST(an_opening_that_cannot_send_ends)
{
    struct postgres_wire *wire;

    begin();
    server.is_opening = true;
    server.flood = PASSWORDS;
    assert_int_not_equal(POSTGRES_OPEN, open_wire(&wire, 0, PATIENCE_MS));
    postgres_wire_close(wire);
    atomic_store(&server.is_over, true);
    end();
}

TEST(an_opening_has_a_bound)
{
    struct postgres_wire *wire;

    for (enum flood flood = SETTINGS; flood < FLOOD_COUNT; flood++) {
        begin();
        server.is_opening = true;
        server.flood = flood;
        assert_int_equal(POSTGRES_FAILED, open_wire(&wire, 0, PATIENCE_MS));
        assert_non_null(strstr(postgres_wire_error(wire), "more than any answer"));
        assert_true(postgres_wire_is_broken(wire));
        assert_sent_little();
        postgres_wire_close(wire);
        end();
    }
}

static void assert_answers_end_at_their_deadline(bool is_slow)
{
    struct postgres_wire *wire;

    for (enum flood flood = ROWS; flood < FLOOD_COUNT; flood++) {
        begin();
        server.is_slow = is_slow;
        server.flood = flood;
        assert_int_equal(POSTGRES_OPEN, open_wire(&wire, 0, PATIENCE_MS));
        ask(wire, SOON_MS);
        assert_false(postgres_wire_is_flooded(wire));
        postgres_wire_close(wire);
        end();
    }
}

TEST(an_answer_ends_at_its_deadline)
{
    assert_answers_end_at_their_deadline(false);
    assert_answers_end_at_their_deadline(true);
}

static void assert_answers_have_a_bound(void (*begin_server)(void))
{
    struct postgres_wire *wire;

    for (enum flood flood = ROWS; flood < FLOOD_COUNT; flood++) {
        begin_server();
        server.flood = flood;
        assert_int_equal(POSTGRES_OPEN, open_wire(&wire, ANSWER_MAX, PATIENCE_MS));
        ask(wire, PATIENCE_MS);
        if (!postgres_wire_is_flooded(wire))
            fail_msg("flood %d: %s", (int)flood, postgres_wire_error(wire));
        assert_true(postgres_wire_is_broken(wire));
        assert_sent_little();
        postgres_wire_close(wire);
        end();
    }
}

TEST(an_answer_has_a_bound)
{
    assert_answers_have_a_bound(begin);
}

TEST(an_answer_by_a_local_socket_has_a_bound)
{
    assert_answers_have_a_bound(begin_local);
}

TEST(a_system_is_not_opened_for_ever)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;

    for (int is_opening = 0; is_opening < 2; is_opening++) {
        for (enum flood flood = is_opening ? SETTINGS : ROWS; flood < FLOOD_COUNT; flood++) {
            begin();
            server.is_opening = is_opening;
            server.flood = flood;
            opts.variant = "pg-unique";
            opts.database_url = server.url;
            opts.database_timeout_ms = 2 * SOON_MS;
            assert_int_equal(DLOCK_IO, dlock_open(&sys, &opts));
            assert_null(sys);
            assert_sent_little();
            end();
        }
    }
}

/* Ends the process if a loop never ends. */
static int limit(void **state)
{
    (void)state;
    alarm(LIMIT_S);
    return 0;
}

GROUP(limit, NULL)

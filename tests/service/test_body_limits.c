/* SPDX-License-Identifier: MIT */
/* test_body_limits.c -- bodies at every route: over the limit, exactly at the limit, and not
 * accepted.
 *
 * The service answers a request that it refuses before it reads the body.  The unread body
 * would be taken for the next request, so the connection has to be closed. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/routes.h"
#include "tests/service/rig.h"

enum { LIMIT = 8192 }; /* the default of --body-limit */

static struct rig_service service;
static struct rig_answer answer;
static char buyer[TOKEN_LEN + 1], operator[TOKEN_LEN + 1];

/* The header lines with the token that the route needs. */
static void token_lines(const struct route *r, char *out, size_t size)
{
    out[0] = '\0';
    if (r->needs == NEED_ADMIN)
        rig_admin_lines(service.admin_port, out, size);
    else if (r->needs != NEED_NOTHING)
        (void)snprintf(out, size, "authorization: %s\r\n",
                       r->needs == NEED_BUYER ? buyer : operator);
}

/* A path that fits the route's pattern. */
static void path_of(const struct route *r, char *out, size_t size)
{
    const char *brace = strchr(r->path, '{');
    const char *tail = brace != NULL ? strchr(brace, '}') + 1 : "";
    int length = brace != NULL ? (int)(brace - r->path) : (int)strlen(r->path);

    (void)snprintf(out, size, "%.*s%s%s", length, r->path, brace != NULL ? "1" : "", tail);
}

/* A connection to the route's listener. */
static int connect_to(const struct route *r)
{
    int fd = rig_connect(r->listener == LISTENER_ADMIN ? service.admin_port
                                                       : service.orders_port);

    assert_true(fd >= 0);
    return fd;
}

/* Send the head and a body of `length` brackets at once, and read one answer. `lines` are header
 * lines, each with its CR LF. */
static void ask(int fd, const struct route *r, const char *lines, size_t length)
{
    static char bytes[3 * LIMIT];
    char path[128];
    int n;

    assert_true(length <= 2 * (size_t)LIMIT);
    path_of(r, path, sizeof(path));
    n = snprintf(bytes, sizeof(bytes),
                 "%s %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %zu\r\n\r\n",
                 r->method, path, lines, length);
    assert_true(n > 0 && (size_t)n + length < sizeof(bytes));
    memset(bytes + n, '[', length);
    assert_true(rig_send(fd, bytes, (size_t)n + length));
    if (!rig_read(fd, &answer, RIG_PATIENCE_MS))
        fail_msg("%s %s: no answer to a body of %zu bytes", r->method, path, length);
}

static void expect(const struct route *r, int status, const char *outcome, bool closes)
{
    const char *connection = closes ? "Connection: close\r\n"
                                    : "Connection: keep-alive\r\n";

    if (answer.status != status || strcmp(answer.outcome, outcome) != 0 ||
        strstr(answer.head, connection) == NULL)
        fail_msg("%s %s: instead of %d %s, %s%s%s", r->method, r->path, status, outcome,
                 connection, answer.head, answer.body);
}

/* Send the request on a new connection, which the service has to answer and close. */
static void expect_end(const struct route *r, const char *lines, size_t length, int status,
                       const char *outcome)
{
    int fd = connect_to(r);

    ask(fd, r, lines, length);
    expect(r, status, outcome, true);
    if (!rig_is_closed(fd, RIG_PATIENCE_MS))
        fail_msg("%s %s: the connection stays open with a body unread", r->method, r->path);
    (void)close(fd);
}

TEST(every_route_answers_413_to_a_body_over_the_limit_and_closes)
{
    char lines[256];

    for (size_t i = 0; route_at(i) != NULL; i++) {
        token_lines(route_at(i), lines, sizeof(lines));
        expect_end(route_at(i), lines, LIMIT + 1, 413, "too-large");
        expect_end(route_at(i), lines, 2 * LIMIT, 413, "too-large");
    }
}

TEST(a_route_without_a_body_answers_400_to_one_and_closes)
{
    char lines[256];
    int looked = 0;

    for (size_t i = 0; route_at(i) != NULL; i++) {
        const struct route *r = route_at(i);

        if (r->flags & ROUTE_BODY)
            continue;
        looked++;
        token_lines(r, lines, sizeof(lines));
        expect_end(r, lines, 1, 400, "bad-request");
        expect_end(r, lines, LIMIT, 400, "bad-request");
    }
    assert_true(looked > 0);
}

/* Brackets are not the JSON of these routes. If the service answers 400 and keeps the connection,
 * it has read the body. */
TEST(a_body_of_the_limit_is_read_and_the_connection_stays_open)
{
    char lines[256];
    int looked = 0;

    for (size_t i = 0; route_at(i) != NULL; i++) {
        const struct route *r = route_at(i);
        int fd;

        if (!(r->flags & ROUTE_BODY))
            continue;
        looked++;
        token_lines(r, lines, sizeof(lines));
        fd = connect_to(r);
        for (int request = 0; request < 3; request++) {
            ask(fd, r, lines, LIMIT);
            expect(r, 400, "bad-request", false);
        }
        ask(fd, r, lines, LIMIT + 1);
        expect(r, 413, "too-large", true);
        assert_true(rig_is_closed(fd, RIG_PATIENCE_MS));
        (void)close(fd);
    }
    assert_int_equal(looked, 2);
}

/* `Expect: 100-continue` with a body over the limit: the refusal is the first answer. */
TEST(a_client_that_asks_first_need_not_send_a_body_over_the_limit)
{
    char token[256], bytes[512], path[128];

    for (size_t i = 0; route_at(i) != NULL; i++) {
        const struct route *r = route_at(i);
        int fd = connect_to(r);

        token_lines(r, token, sizeof(token));
        path_of(r, path, sizeof(path));
        (void)snprintf(bytes, sizeof(bytes),
                       "%s %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n"
                       "Expect: 100-continue\r\n\r\n",
                       r->method, path, token, LIMIT + 1);
        assert_true(rig_send(fd, bytes, strlen(bytes)));
        assert_true(rig_read(fd, &answer, RIG_PATIENCE_MS));
        expect(r, 413, "too-large", true);
        assert_true(rig_is_closed(fd, RIG_PATIENCE_MS));
        (void)close(fd);
    }
}

/* Send bytes that begin with the method and path of `r`, and expect one answer. */
static void expect_to(const struct route *r, int fd, const char *rest, int status,
                      bool closes)
{
    char bytes[512], path[128], lines[256];

    path_of(r, path, sizeof(path));
    token_lines(r, lines, sizeof(lines));
    (void)snprintf(bytes, sizeof(bytes), "%s %s HTTP/1.1\r\nHost: localhost\r\n%s%s",
                   r->method, path, lines, rest);
    assert_true(rig_send(fd, bytes, strlen(bytes)));
    assert_true(rig_read(fd, &answer, RIG_PATIENCE_MS));
    expect(r, status, "bad-request", closes);
}

/* Without Content-Length there is no body, so the connection can stay open after a 411. */
TEST(a_body_needs_a_length_and_must_not_be_chunked)
{
    for (size_t i = 0; route_at(i) != NULL; i++) {
        const struct route *r = route_at(i);
        int fd = connect_to(r);

        if (r->flags & ROUTE_BODY)
            for (int request = 0; request < 2; request++)
                expect_to(r, fd, "\r\n", 411, false);
        expect_to(r, fd, "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, true);
        assert_true(rig_is_closed(fd, RIG_PATIENCE_MS));
        (void)close(fd);
    }
}

/* A refusal for another reason leaves the body unread as well. */
TEST(a_refused_token_closes_the_connection_with_its_body)
{
    for (size_t i = 0; route_at(i) != NULL; i++) {
        const struct route *r = route_at(i);

        if (r->needs == NEED_ADMIN || (r->flags & ROUTE_BODY))
            expect_end(r, "", LIMIT, 401, "unauthorized");
    }
}

TEST(the_limit_is_that_of_the_flag)
{
    static const struct {
        const char *flag;
        size_t limit;
    } LIMITS[] = {{"--body-limit=0", 0}, {"--body-limit=10000", 10000}};
    struct rig_service theirs = service;
    char lines[256];

    for (size_t l = 0; l < sizeof(LIMITS) / sizeof(LIMITS[0]); l++) {
        service = RIG_START("--lock=none", LIMITS[l].flag);
        for (size_t i = 0; route_at(i) != NULL; i++) {
            const struct route *r = route_at(i);
            int fd;

            if (!(r->flags & ROUTE_BODY))
                continue;
            token_lines(r, lines, sizeof(lines));
            expect_end(r, lines, LIMITS[l].limit + 1, 413, "too-large");
            fd = connect_to(r);
            ask(fd, r, lines, LIMITS[l].limit);
            expect(r, 400, "bad-request", false);
            (void)close(fd);
        }
        rig_stop(&service);
    }
    service = theirs;
}

static int begin(void **state)
{
    (void)state;
    service = RIG_START("--lock=none", "--allow-faults");
    rig_token(1, buyer);
    rig_operator_token(operator);
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_stop(&service);
    return 0;
}

GROUP(begin, end)

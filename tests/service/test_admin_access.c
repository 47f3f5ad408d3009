/* SPDX-License-Identifier: MIT */
/* test_admin_access.c -- requests to every route of the listener for operators without the admin
 * token. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/routes.h"
#include "tests/service/rig.h"

static struct rig_service service;
static struct rig_answer answer;
static char good[128]; /* the header line with the admin token */

/* Send a request with exactly these header lines. */
static void ask(const char *method, const char *path, const char *lines)
{
    char bytes[1024];
    int fd = rig_connect(service.admin_port);

    assert_true(fd >= 0);
    (void)snprintf(bytes, sizeof(bytes), "%s %s HTTP/1.1\r\n%s\r\n", method, path, lines);
    assert_true(rig_send(fd, bytes, strlen(bytes)));
    assert_true(rig_read(fd, &answer, RIG_PATIENCE_MS));
    (void)close(fd);
}

/* A path that fits the route's pattern. */
static const char *path_of(const struct route *r)
{
    static char path[128];
    const char *brace = strchr(r->path, '{');

    (void)snprintf(path, sizeof(path), "%.*s%s",
                   brace != NULL ? (int)(brace - r->path) : (int)strlen(r->path),
                   r->path, brace != NULL ? "lock:admin-access" : "");
    return path;
}

static void expect(const struct route *r, const char *who, int status,
                   const char *outcome)
{
    if (answer.status != status || strcmp(answer.outcome, outcome) != 0)
        fail_msg("%s %s by %s: %d %s instead of %d %s", r->method, r->path, who,
                 answer.status, answer.outcome, status, outcome);
    if (status >= 400 && strstr(answer.body, "\"detail\":\"") == NULL)
        fail_msg("%s %s by %s: no reason in %s", r->method, r->path, who, answer.body);
    /* A page of another site may read an answer only with these headers. */
    assert_null(strcasestr(answer.head, "Access-Control-"));
}

TEST(every_operators_route_refuses_strangers)
{
    static const char ZEROS[] =
        "Authorization: Bearer "
        "0000000000000000000000000000000000000000000000000000000000000000\r\n";
    static const char *const WRONG[] = {"Authorization: Bearer \r\n",
                                        "Authorization: Bearer 0123456789abcdef\r\n",
                                        ZEROS};
    char lines[512], buyer[TOKEN_LEN + 1];
    int looked = 0;

    rig_operator_token(buyer); /* the token is one for the other listener */
    for (size_t i = 0; route_at(i) != NULL; i++) {
        const struct route *r = route_at(i);

        if (r->listener != LISTENER_ADMIN || r->needs != NEED_ADMIN)
            continue;
        looked++;
        (void)snprintf(lines, sizeof(lines), "Host: evil.example:8082\r\n%s", good);
        ask(r->method, path_of(r), lines);
        expect(r, "a foreign Host", 403, "forbidden");
        (void)snprintf(lines, sizeof(lines),
                       "Host: localhost\r\nOrigin: http://evil.example\r\n%s", good);
        ask(r->method, path_of(r), lines);
        expect(r, "a foreign Origin", 403, "forbidden");
        (void)snprintf(lines, sizeof(lines),
                       "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n%s", good);
        ask(r->method, path_of(r), lines);
        expect(r, "another site", 403, "forbidden");
        ask(r->method, path_of(r), "Host: localhost\r\n");
        expect(r, "nobody", 401, "unauthorized");
        assert_non_null(strstr(answer.head, "WWW-Authenticate: Bearer\r\n"));
        for (size_t w = 0; w < sizeof(WRONG) / sizeof(WRONG[0]); w++) {
            (void)snprintf(lines, sizeof(lines), "Host: localhost\r\n%s", WRONG[w]);
            ask(r->method, path_of(r), lines);
            expect(r, "a wrong token", 401, "unauthorized");
        }
        (void)snprintf(lines, sizeof(lines),
                       "Host: localhost\r\nAuthorization: Bearer %s\r\n", buyer);
        ask(r->method, path_of(r), lines);
        expect(r, "an operator of vouchers", 401, "unauthorized");
        /* The other listener takes a token without the word Bearer; this one does not. */
        (void)snprintf(lines, sizeof(lines), "Host: localhost\r\nAuthorization: %s",
                       good + strlen("Authorization: Bearer "));
        ask(r->method, path_of(r), lines);
        expect(r, "a bare token", 401, "unauthorized");
    }
    assert_int_equal(looked, 7);
}

TEST(an_operator_is_let_in)
{
    char lines[256];

    for (size_t i = 0; route_at(i) != NULL; i++) {
        const struct route *r = route_at(i);

        if (r->listener != LISTENER_ADMIN)
            continue;
        (void)snprintf(lines, sizeof(lines),
                       "Host: localhost:1\r\nOrigin: http://localhost:1\r\n%s", good);
        ask(r->method, path_of(r), lines);
        if (answer.status == 401 || answer.status == 403)
            fail_msg("%s %s: %d %s", r->method, r->path, answer.status, answer.body);
    }
}

TEST(health_is_open_to_everybody)
{
    static const char *const PATHS_OF[] = {"/livez", "/readyz"};

    for (int i = 0; i < 2; i++) {
        ask("GET", PATHS_OF[i], "Host: evil.example\r\nOrigin: http://evil.example\r\n");
        assert_int_equal(answer.status, 200);
        assert_null(strcasestr(answer.head, "Access-Control-"));
        ask("GET", PATHS_OF[i], "Host: replica-7:8082\r\n");
        assert_int_equal(answer.status, 200);
        ask("POST", PATHS_OF[i], "Host: localhost\r\n");
        assert_int_equal(answer.status, 401);
    }
}

/* A client without the token must not learn which routes exist. */
TEST(a_stranger_learns_of_no_route)
{
    ask("GET", "/nowhere", "Host: localhost\r\n");
    assert_int_equal(answer.status, 401);
    ask("PUT", "/metrics", "Host: localhost\r\n");
    assert_int_equal(answer.status, 401);
    ask("OPTIONS", "/metrics", "Host: localhost\r\nOrigin: http://evil.example\r\n");
    assert_true(answer.status >= 400);
    assert_null(strcasestr(answer.head, "Access-Control-"));
}

TEST(names_can_be_added)
{
    struct rig_service mine = service;
    char lines[256];

    service = RIG_START("--lock=none", "--admin-host=shop-admin,10.9.8.7");
    (void)snprintf(lines, sizeof(lines), "Host: shop-admin:8082\r\n%s", good);
    ask("GET", "/metrics", lines);
    assert_int_equal(answer.status, 200);
    (void)snprintf(lines, sizeof(lines), "Host: shop:8082\r\n%s", good);
    ask("GET", "/metrics", lines);
    assert_int_equal(answer.status, 403);
    rig_stop(&service);
    service = mine;
}

static int begin(void **state)
{
    (void)state;
    service = RIG_START("--lock=reentrant", "--allow-faults");
    rig_admin_lines(service.admin_port, good, sizeof(good));
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_stop(&service);
    return 0;
}

GROUP(begin, end)

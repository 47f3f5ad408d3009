/* SPDX-License-Identifier: MIT */
/* test_faces.c -- both faces of the service, from the voucher to its last order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/service/rig.h"

static struct rig_service service;
static struct rig_answer answer;

/* Send a request of user 1; a request with a body creates a voucher, so it has an operator's
 * token. */
static void ask(const char *method, const char *path, const char *body)
{
    char token[TOKEN_LEN + 1];
    char extra[128];

    if (body != NULL)
        rig_operator_token(token);
    else
        rig_token(1, token);
    (void)snprintf(extra, sizeof(extra), "authorization: %s\r\n", token);
    assert_true(rig_request(service.orders_port, method, path, extra, body, &answer));
}

/* The same, with a number in the path. */
static void ask_for(const char *method, const char *before, int64_t id,
                    const char *after)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s%lld%s", before, (long long)id, after);
    ask(method, path, NULL);
}

/* The number after a name in the body, with or without quotes. */
static int64_t number_after(const char *name)
{
    const char *p = strstr(answer.body, name);

    assert_non_null(p);
    p += strlen(name);
    return strtoll(*p == '"' ? p + 1 : p, NULL, 10);
}

#define VOUCHER(stock, begin, end)                                                  \
    "{\"shopId\":77,\"title\":\"100 \\\"off\\\" \xe4\xbb\xa3\",\"subTitle\":\"s\"," \
    "\"rules\":\"r\",\"payValue\":8000,\"actualValue\":10000,\"type\":1,"           \
    "\"stock\":" stock ",\"beginTime\":\"" begin "\",\"endTime\":\"" end "\"}"

TEST(the_face_of_the_courses)
{
    int64_t voucher;
    int64_t order;

    ask("POST", "/voucher/seckill",
        VOUCHER("2", "2022-10-09T00:00:00", "2042-10-09T00:00:00"));
    rig_expect(&answer, 200, "accepted");
    rig_expect_in_body(&answer, "{\"success\":true,\"data\":");
    voucher = number_after("\"data\":");
    ask("GET", "/voucher/list/77", NULL);
    rig_expect(&answer, 200, "accepted");
    rig_expect_in_body(&answer, "\"title\":\"100 \\\"off\\\" \xe4\xbb\xa3\"");
    rig_expect_in_body(&answer, "\"stock\":2,\"beginTime\":\"2022-10-09T00:00:00Z\"");
    ask_for("POST", "/voucher-order/seckill/", voucher, "");
    rig_expect(&answer, 200, "accepted");
    order = number_after("\"data\":");
    assert_true(order > (int64_t)1 << 53);
    ask_for("POST", "/voucher-order/seckill/", voucher, "");
    rig_expect(&answer, 200, "duplicate");
    rig_expect_in_body(&answer, "{\"success\":false,\"errorMsg\":\"");
    assert_int_equal(rig_orders(voucher), 1);
    assert_int_equal(rig_stock(voucher), 1);
    assert_true(rig_request(service.orders_port, "POST", "/voucher-order/seckill/1",
                            NULL, NULL, &answer));
    rig_expect(&answer, 401, "unauthorized");
    assert_string_equal(answer.body, "");
}

TEST(the_face_that_http_people_expect)
{
    int64_t voucher;
    char location[128];
    char path[64];

    ask("POST", "/api/v1/vouchers",
        VOUCHER("1", "2022-10-09T00:00:00.5+08:00", "2042-10-09T00:00:00Z"));
    rig_expect(&answer, 201, "accepted");
    voucher = number_after("\"id\":");
    (void)snprintf(location, sizeof(location), "Location: /api/v1/vouchers/%lld\r\n",
                   (long long)voucher);
    rig_expect_in_head(&answer, location);
    ask_for("GET", "/api/v1/vouchers/", voucher, "");
    rig_expect(&answer, 200, "accepted");
    rig_expect_in_body(&answer, "\"beginTime\":\"2022-10-08T16:00:00.5Z\"");
    ask("GET", "/api/v1/vouchers?shop=77", NULL);
    rig_expect(&answer, 200, "accepted");
    ask_for("POST", "/api/v1/vouchers/", voucher, "/orders");
    rig_expect(&answer, 201, "accepted");
    (void)snprintf(path, sizeof(path), "/api/v1/orders/%lld",
                   (long long)number_after("\"id\":"));
    (void)snprintf(location, sizeof(location), "Location: %s\r\n", path);
    rig_expect_in_head(&answer, location);
    ask("GET", path, NULL);
    rig_expect(&answer, 200, "accepted");
    assert_int_equal(number_after("\"voucherId\":"), voucher);
    assert_true(rig_order(service.orders_port, voucher, 2, &answer));
    rig_expect(&answer, 409, "sold-out");
    rig_expect_in_head(&answer, "Content-Type: application/problem+json\r\n");
    rig_expect_in_body(&answer, "\"status\":409");
    ask_for("GET", "/api/v1/vouchers/", INT64_MAX, "");
    rig_expect(&answer, 404, "unknown-voucher");
    ask_for("GET", "/api/v1/orders/", INT64_MAX, "");
    rig_expect(&answer, 404, "not-found");
}

/* An order of another user is answered with 404. */
TEST(orders_are_shown_to_their_owner_only)
{
    int64_t voucher = rig_voucher(1);
    char path[80];
    char name[40];

    (void)snprintf(name, sizeof(name), "owner:%lld", (long long)voucher);
    assert_true(rig_order_named(service.orders_port, voucher, 5, name, &answer));
    rig_expect(&answer, 201, "accepted");
    (void)snprintf(path, sizeof(path), "/api/v1/orders/%lld",
                   (long long)number_after("\"id\":"));
    ask("GET", path, NULL);
    rig_expect(&answer, 404, "not-found");
    (void)snprintf(path, sizeof(path), "/api/v1/requests/%s", name);
    ask("GET", path, NULL);
    rig_expect(&answer, 200, "accepted");
    rig_expect_in_body(&answer, "\"outcome\":\"none\"");
}

TEST(a_sale_has_a_beginning_and_an_end)
{
    int64_t early = rig_voucher_at(5, 3600, 7200);
    int64_t late = rig_voucher_at(5, -7200, -3600);

    assert_true(rig_order(service.orders_port, early, 1, &answer));
    rig_expect(&answer, 425, "not-started");
    assert_true(rig_order(service.orders_port, late, 1, &answer));
    rig_expect(&answer, 410, "ended");
    ask_for("POST", "/voucher-order/seckill/", early, "");
    rig_expect(&answer, 200, "not-started");
    ask_for("POST", "/voucher-order/seckill/", late, "");
    rig_expect(&answer, 200, "ended");
    assert_int_equal(rig_orders(early) + rig_orders(late), 0);
}

TEST(vouchers_are_checked)
{
    static const char *const BAD[] = {
        VOUCHER("100000001", "2022-10-09T00:00:00", "2042-10-09T00:00:00"),
        "{\"title\":\"t\",\"payValue\":0,\"actualValue\":1,\"stock\":1,"
        "\"beginTime\":\"2022-10-09T00:00:00\",\"endTime\":\"2042-10-09T00:00:00\"}",
        "{\"title\":\"t\",\"payValue\":1,\"actualValue\":1000000001,\"stock\":1,"
        "\"beginTime\":\"2022-10-09T00:00:00\",\"endTime\":\"2042-10-09T00:00:00\"}",
        VOUCHER("-1", "2022-10-09T00:00:00", "2042-10-09T00:00:00"),
        VOUCHER("2147483648", "2022-10-09T00:00:00", "2042-10-09T00:00:00"),
        VOUCHER("1.5", "2022-10-09T00:00:00", "2042-10-09T00:00:00"),
        VOUCHER("\"1\"", "2022-10-09T00:00:00", "2042-10-09T00:00:00"),
        VOUCHER("1", "2042-10-09T00:00:00", "2022-10-09T00:00:00"),
        VOUCHER("1", "2022-02-30T00:00:00", "2042-10-09T00:00:00"),
        VOUCHER("1", "2022-02-01", "2042-10-09T00:00:00"),
        VOUCHER("1,\"stock\":2", "2022-10-09T00:00:00", "2042-10-09T00:00:00"),
        VOUCHER("1,\"owner\":2", "2022-10-09T00:00:00", "2042-10-09T00:00:00"),
        "{\"title\":\"no more\"}",
        "{\"title\":\"a\\u0000b\"}",
        "null",
    };

    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        ask("POST", "/api/v1/vouchers", BAD[i]);
        if (answer.status != 400)
            fail_msg("%s: %d", BAD[i], answer.status);
        rig_expect_in_body(&answer, "\"detail\":\"");
    }
}

TEST(the_other_listener_answers)
{
    int port = service.admin_port;

    assert_true(rig_request(port, "GET", "/livez", NULL, NULL, &answer));
    rig_expect(&answer, 200, "accepted");
    assert_true(rig_request(port, "GET", "/readyz", NULL, NULL, &answer));
    rig_expect(&answer, 200, "accepted");
    assert_true(rig_request(port, "GET", "/config", NULL, NULL, &answer));
    rig_expect(&answer, 200, "accepted");
    rig_expect_in_body(&answer, "database-url = (set)");
    assert_null(strstr(answer.body, "postgresql://"));
    assert_true(rig_request(port, "GET", "/voucher/list/1", NULL, NULL, &answer));
    rig_expect(&answer, 404, "not-found");
    rig_expect_in_head(&answer, "Content-Type: application/problem+json\r\n");
    assert_true(rig_request(port, "GET", "/voucher/list/1", "Idempotency-Key: a b\r\n", NULL,
                            &answer));
    rig_expect(&answer, 400, "bad-request");
    rig_expect_in_head(&answer, "Content-Type: application/problem+json\r\n");
    assert_true(
        rig_request(service.orders_port, "GET", "/metrics", NULL, NULL, &answer));
    rig_expect(&answer, 404, "not-found");
    assert_true(rig_metric(&service, "seckill_orders_total{lock=\"reentrant\","
                                     "outcome=\"accepted\"}") >= 3);
    assert_true(
        rig_metric(&service,
                   "seckill_lock_acquire_total{lock=\"reentrant\",result=\"ok\"}") >=
        3);
}

/* The answer to HEAD is that to GET without the body: the client would take a body for the
 * beginning of the next answer on the same connection. */
TEST(head_is_get_without_the_body)
{
    static const struct {
        const char *path;
        int status;
    } CASES[] = {
        {"/voucher/list/1", 200}, {"/api/v1/vouchers?shop=1", 200}, {"/nowhere", 404},
        {"/api/v1/vouchers/0", 400}, {"/voucher-order/seckill/1", 405},
    };
    int fd = rig_connect(service.orders_port);
    char bytes[128];

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        (void)snprintf(bytes, sizeof(bytes), "HEAD %s HTTP/1.1\r\nHost: x\r\n\r\n",
                       CASES[i].path);
        assert_true(rig_send(fd, bytes, strlen(bytes)));
        assert_true(rig_read_head(fd, &answer, 5000));
        assert_int_equal(answer.status, CASES[i].status);
        assert_null(strstr(answer.head, "Content-Length: 0\r\n"));
        (void)snprintf(bytes, sizeof(bytes),
                       "GET /voucher/list/1 HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_true(rig_send(fd, bytes, strlen(bytes)));
        assert_true(rig_read(fd, &answer, RIG_PATIENCE_MS));
        rig_expect(&answer, 200, "accepted");
    }
    (void)close(fd);
    ask("PUT", "/api/v1/vouchers", NULL);
    rig_expect(&answer, 405, "method-not-allowed");
    rig_expect_in_head(&answer, "Allow: GET, HEAD, POST\r\n");
    ask("PUT", "/voucher/list/1", NULL);
    rig_expect_in_head(&answer, "Allow: GET, HEAD\r\n");
}

/* The last microsecond of the last possible day, and an instant before 1970. */
TEST(times_keep_every_microsecond)
{
    static const struct postgres_statement TIMES = {
        "faces_times",
        "SELECT count(*) FROM tb_seckill_voucher WHERE voucher_id = $1"
        " AND begin_time = '1969-07-20T20:17:40.000001Z'"
        " AND end_time = '9999-12-31T23:59:59.999999Z'", "i"};
    int64_t voucher;

    ask("POST", "/api/v1/vouchers",
        VOUCHER("1", "1969-07-20T20:17:40.000001Z", "9999-12-31T23:59:59.999999Z"));
    rig_expect(&answer, 201, "accepted");
    voucher = number_after("\"id\":");
    assert_int_equal(db_run_one(rig_db(), &TIMES, DB_VALUES(DB_INT(voucher))), DB_OK);
    assert_int_equal(db_int(rig_db(), 0, 0, 0), 1);
    ask_for("GET", "/api/v1/vouchers/", voucher, "");
    rig_expect_in_body(&answer, "\"beginTime\":\"1969-07-20T20:17:40.000001Z\"");
    rig_expect_in_body(&answer, "\"endTime\":\"9999-12-31T23:59:59.999999Z\"");
}

/* The end of a sale without end could not be shown. */
TEST(a_sale_without_an_end_is_refused_by_the_schema)
{
    static const char *const TIMES[] = {"begin_time = '-infinity'",
                                        "end_time = 'infinity'"};
    int64_t voucher = rig_voucher(1);
    char sql[160];

    for (int i = 0; i < 2; i++) {
        (void)snprintf(sql, sizeof(sql),
                       "UPDATE tb_seckill_voucher SET %s WHERE voucher_id = %lld",
                       TIMES[i], (long long)voucher);
        assert_int_equal(db_script(rig_db(), sql), DB_ERROR);
        assert_string_equal(db_constraint(rig_db()), "sale_times_are_finite");
    }
}

static int counted(struct rig_service *s, const char *outcome)
{
    char line[96];

    (void)snprintf(line, sizeof(line),
                   "seckill_orders_total{lock=\"none\",outcome=\"%s\"}", outcome);
    return (int)rig_metric(s, line);
}

/* Every request for an order is counted, also if it was refused before the sale. The count of
 * accepted orders is the number of sold units. */
TEST(every_request_for_an_order_is_counted)
{
    struct rig_service s = RIG_START("--lock=none");
    int64_t voucher = rig_voucher(5);
    char name[40];

    (void)snprintf(name, sizeof(name), "counted:%lld", (long long)voucher);
    for (int i = 0; i < 3; i++)
        assert_true(rig_order_named(s.orders_port, voucher, 1, name, &answer));
    assert_true(rig_order(s.orders_port, voucher, 2, &answer));
    assert_true(rig_request(s.orders_port, "POST", "/voucher-order/seckill/1", NULL,
                            NULL, &answer));
    assert_int_equal(answer.status, 401);
    assert_true(rig_request(s.orders_port, "POST", "/api/v1/vouchers/1/orders",
                            "Host: again\r\n", NULL, &answer));
    assert_int_equal(answer.status, 400);
    assert_true(rig_request(s.orders_port, "POST", "/api/v1/vouchers/1/orders",
                            "Content-Length: 9000\r\n", NULL, &answer));
    assert_int_equal(answer.status, 413);
    assert_true(rig_request(s.orders_port, "GET", "/voucher/list/x", NULL, NULL,
                            &answer));
    assert_int_equal(answer.status, 400);
    assert_int_equal(counted(&s, "accepted"), rig_orders(voucher));
    assert_int_equal(counted(&s, "accepted"), 2);
    assert_int_equal(counted(&s, "replayed"), 2);
    assert_int_equal(counted(&s, "unauthorized"), 1);
    assert_int_equal(counted(&s, "bad-request"), 1);
    assert_int_equal(counted(&s, "too-large"), 1);
    assert_int_equal(
        (int)rig_metric(&s, "seckill_http_request_duration_seconds_count{"
                            "route=\"order\"}"), 7);
    rig_stop(&s);
}

TEST(faults_are_not_there_unless_allowed)
{
    static const char *const METHODS[] = {"GET", "POST", "POST"};
    static const char *const PATHS_OF[] = {
        "/faults", "/faults/arm?point=after-read&action=kill&key=",
        "/faults/release?point=after-read"};

    for (int i = 0; i < 3; i++) {
        assert_true(rig_request(service.admin_port, METHODS[i], PATHS_OF[i], NULL, NULL,
                                &answer));
        rig_expect(&answer, 404, "not-found");
    }
}

int main(void)
{
    return RIG_RUN_WITH_SERVICE(&service, "--workers=8");
}

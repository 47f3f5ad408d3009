/* SPDX-License-Identifier: MIT */
/* test_tokens.c -- the rights of a token: its role, its expiry, its key. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/service/rig.h"

static struct rig_service service;
static struct rig_answer answer;

#define VOUCHER                                                                        \
    "{\"title\":\"t\",\"payValue\":8000,\"actualValue\":10000,\"stock\":1,"            \
    "\"beginTime\":\"2022-10-09T00:00:00\",\"endTime\":\"2042-10-09T00:00:00\"}"

static void ask(const char *method, const char *path, const char *token,
                const char *body)
{
    char extra[TOKEN_LEN + 64];

    (void)snprintf(extra, sizeof(extra), "authorization: %s\r\n", token);
    assert_true(rig_request(service.orders_port, method, path, extra, body, &answer));
}

static void expect(int status, const char *outcome, const char *in_body)
{
    if (answer.status != status || strcmp(answer.outcome, outcome) != 0 ||
        strstr(answer.body, in_body) == NULL)
        fail_msg("%d %s %s instead of %d %s %s", answer.status, answer.outcome,
                 answer.body, status, outcome, in_body);
}

static void order(int64_t voucher, const char *token)
{
    char path[80];

    (void)snprintf(path, sizeof(path), "/api/v1/vouchers/%lld/orders",
                   (long long)voucher);
    ask("POST", path, token, NULL);
}

TEST(only_an_operator_creates_vouchers)
{
    static const char *const PATHS_OF[] = {"/api/v1/vouchers", "/voucher/seckill"};
    static const int CREATED[] = {201, 200};
    char buyer[TOKEN_LEN + 1], operator[TOKEN_LEN + 1];

    rig_token(1, buyer);
    rig_operator_token(operator);
    for (int i = 0; i < 2; i++) {
        ask("POST", PATHS_OF[i], buyer, VOUCHER);
        expect(403, "forbidden", "");
        rig_expect_in_head(&answer, "403 Forbidden");
        rig_expect_in_head(&answer, "WWW-Authenticate: Bearer error=\"insufficient_scope\", "
                       "error_description=\"this needs an operator's token\"\r\n");
        ask("POST", PATHS_OF[i], operator, VOUCHER);
        expect(CREATED[i], "accepted", "");
    }
    ask("POST", PATHS_OF[0], buyer, VOUCHER);
    expect(403, "forbidden", "\"detail\":\"this needs an operator's token\"");
}

TEST(an_operator_buys_nothing)
{
    int64_t voucher = rig_voucher(1);
    char operator[TOKEN_LEN + 1];

    rig_operator_token(operator);
    order(voucher, operator);
    expect(403, "forbidden", "this needs a buyer's token");
    ask("GET", "/api/v1/orders/1", operator, NULL);
    expect(403, "forbidden", "this needs a buyer's token");
    assert_int_equal(rig_orders(voucher), 0);
}

TEST(an_expired_token_is_told_so)
{
    int64_t voucher = rig_voucher(1);
    char token[TOKEN_LEN + 1];
    char path[80];

    rig_token_of(&(struct token_claim){1, token_now_s(), TOKEN_BUYER}, token);
    order(voucher, token);
    expect(401, "unauthorized", "\"detail\":\"the token has expired; get a new one\"");
    (void)snprintf(path, sizeof(path), "/voucher-order/seckill/%lld",
                   (long long)voucher);
    ask("POST", path, token, NULL);
    expect(401, "unauthorized", "");
    assert_string_equal(answer.body, ""); /* as in the course projects */
    rig_expect_in_head(&answer, "WWW-Authenticate: Bearer error=\"invalid_token\", "
                   "error_description=\"the token has expired; get a new one\"\r\n");
    rig_token_of(&(struct token_claim){1, token_now_s() - 1, TOKEN_OPERATOR}, token);
    ask("POST", "/api/v1/vouchers", token, VOUCHER);
    expect(401, "unauthorized", "the token has expired");
    assert_int_equal(rig_orders(voucher), 0);
}

static bool is_over(void *arg)
{
    return token_now_s() >= *(int64_t *)arg;
}

/* The same token is used on the same connection, before and after its expiry. */
TEST(a_token_expires_while_it_is_used)
{
    int64_t voucher = rig_voucher(10);
    int64_t expires_s = token_now_s() + 2;
    char token[TOKEN_LEN + 1];

    rig_token_of(&(struct token_claim){1, expires_s, TOKEN_BUYER}, token);
    order(voucher, token);
    assert_true(answer.status == 201 || is_over(&expires_s));
    assert_true(rig_until(is_over, &expires_s, RIG_PATIENCE_MS));
    order(voucher, token);
    expect(401, "unauthorized", "the token has expired");
}

TEST(a_token_of_the_old_form_is_told_so)
{
    order(1, "0000000000000001a993bf9a15a13ab84e73894058918a6a");
    expect(401, "unauthorized", "the form from before tokens expired");
    order(1, "0123456789");
    expect(401, "unauthorized", "is not 72 lower-case hex digits");
    assert_true(rig_request(service.orders_port, "POST", "/api/v1/vouchers/1/orders",
                            NULL, NULL, &answer));
    expect(401, "unauthorized", "the header authorization is missing");
    rig_expect_in_head(&answer, "WWW-Authenticate: Bearer\r\n");
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    (void)close(fd);
}

/* The service after each step of an exchange of keys: add a key, switch to it, remove the old
 * key. */
TEST(a_key_is_changed_without_an_outage)
{
    static const char *const FILES[] = {"1:$1\n", "1:$1\n2:$2\n", "2:$2\n1:$1\n",
                                        "2:$2\n"};
    static const int OLD[] = {201, 201, 201, 401}, FRESH[] = {401, 201, 201, 201};
    static const char KEY[2][65] = {
        "1111111111111111111111111111111111111111111111111111111111111111",
        "2222222222222222222222222222222222222222222222222222222222222222"};
    char path[] = "/tmp/seckill-test-keys-XXXXXX", flag[96], why[TOKEN_WHY_MAX];
    struct rig_service mine = service;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    (void)close(fd);
    (void)snprintf(flag, sizeof(flag), "--token-key-file=%s", path);
    for (size_t step = 0; step < 4; step++) {
        int64_t voucher = rig_voucher(2);
        char text[300] = "", token[2][TOKEN_LEN + 1];

        for (int i = 0; i < 2; i++) {
            struct token_claim claim = {i + 1, token_now_s() + 60, TOKEN_BUYER};
            struct token_keys keys;

            (void)snprintf(text, sizeof(text), "%d:%s\n", i + 1, KEY[i]);
            write_file(path, text);
            assert_true(token_keys_load(path, geteuid(), &keys, why));
            token_make(&keys, &claim, token[i]);
        }
        text[0] = '\0';
        for (const char *p = FILES[step]; *p != '\0'; p++) {
            size_t n = strlen(text);

            if (*p == '$')
                (void)snprintf(text + n, sizeof(text) - n, "%s", KEY[*++p - '1']);
            else
                (void)snprintf(text + n, sizeof(text) - n, "%c", *p);
        }
        write_file(path, text);
        service = RIG_START("--lock=none", flag);
        order(voucher, token[0]);
        assert_int_equal(answer.status, OLD[step]);
        order(voucher, token[1]);
        assert_int_equal(answer.status, FRESH[step]);
        rig_stop(&service);
    }
    (void)unlink(path);
    service = mine;
}

int main(void)
{
    return RIG_RUN_WITH_SERVICE(&service, "--lock=none");
}

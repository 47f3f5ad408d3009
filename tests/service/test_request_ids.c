/* SPDX-License-Identifier: MIT */
/* test_request_ids.c -- an Idempotency-Key: one order for each key and user. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/service/rig.h"

static struct rig_service service;
static struct rig_answer answer;

/* Send a request of user 1. */
static void ask(const char *method, const char *path, const char *body)
{
    char token[TOKEN_LEN + 1];
    char extra[128];

    rig_token(1, token);
    (void)snprintf(extra, sizeof(extra), "authorization: %s\r\n", token);
    assert_true(rig_request(service.orders_port, method, path, extra, body, &answer));
}

/* The number after a name in the body, in quotes. */
static int64_t number_after(const char *name)
{
    const char *p = strstr(answer.body, name);

    assert_non_null(p);
    return strtoll(p + strlen(name) + 1, NULL, 10);
}

/* A key that begins with a dot is possible in the address of a request. */
TEST(a_key_may_begin_with_a_dot)
{
    int64_t voucher = rig_voucher(5);
    char name[40], path[80];

    (void)snprintf(name, sizeof(name), ".dot:%lld", (long long)voucher);
    (void)snprintf(path, sizeof(path), "/api/v1/requests/%s", name);
    assert_true(rig_order_named(service.orders_port, voucher, 1, name, &answer));
    rig_expect(&answer, 201, "accepted");
    ask("GET", path, NULL);
    rig_expect_in_body(&answer, "\"outcome\":\"accepted\"");
    assert_true(rig_order_named(service.orders_port, voucher, 2, ".", &answer));
    rig_expect(&answer, 400, "bad-request");
    assert_true(rig_order_named(service.orders_port, voucher, 2, "..", &answer));
    rig_expect(&answer, 400, "bad-request");
    assert_int_equal(rig_orders(voucher), 1);
}

TEST(two_keys_are_refused)
{
    assert_true(rig_request(service.orders_port, "GET", "/api/v1/vouchers",
                            "Idempotency-Key: a\r\nidempotency-key: a\r\n", NULL, &answer));
    rig_expect(&answer, 400, "bad-request");
    rig_expect_in_body(&answer, "Idempotency-Key must be there once, not twice");
}

TEST(a_named_request_is_answered_once)
{
    int64_t voucher = rig_voucher(5);
    int64_t other = rig_voucher(5);
    int64_t order;
    char name[40];
    char path[80];

    (void)snprintf(name, sizeof(name), "once:%lld", (long long)voucher);
    (void)snprintf(path, sizeof(path), "/api/v1/requests/%s", name);
    ask("GET", path, NULL);
    rig_expect_in_body(&answer, "\"outcome\":\"none\",\"detail\":\"none so far; ");
    assert_true(rig_order_named(service.orders_port, voucher, 1, name, &answer));
    rig_expect(&answer, 201, "accepted");
    assert_string_equal(answer.request_id, name);
    order = number_after("\"id\":");
    assert_true(rig_order_named(service.orders_port, voucher, 1, name, &answer));
    rig_expect(&answer, 201, "accepted");
    assert_int_equal(number_after("\"id\":"), order);
    assert_true(rig_order_named(service.orders_port, other, 1, name, &answer));
    rig_expect(&answer, 422, "conflict");
    ask("GET", path, NULL);
    rig_expect_in_body(&answer, "\"outcome\":\"accepted\"");
    assert_int_equal(number_after("\"id\":"), order);
    assert_int_equal(rig_orders(voucher), 1);
    assert_int_equal(rig_stock(voucher), 4);
}

/* A user who sends another user's key learns nothing of that user's order, and does not block
 * it. */
TEST(a_request_id_belongs_to_its_user)
{
    int64_t voucher = rig_voucher(1);
    int64_t orders[3] = {0};
    char name[40];
    char path[80];

    (void)snprintf(name, sizeof(name), "shared:%lld", (long long)voucher);
    (void)snprintf(path, sizeof(path), "/api/v1/requests/%s", name);
    assert_true(rig_order_named(service.orders_port, voucher, 2, name, &answer));
    rig_expect(&answer, 201, "accepted");
    orders[2] = number_after("\"id\":");
    assert_true(rig_order_named(service.orders_port, voucher, 1, name, &answer));
    /* Neither 201 nor 422, which would reveal the other user's order. */
    rig_expect(&answer, 409, "sold-out");
    ask("GET", path, NULL);
    rig_expect_in_body(&answer, "\"outcome\":\"none\"");
    voucher = rig_voucher(1);
    assert_true(rig_order_named(service.orders_port, voucher, 1, name, &answer));
    rig_expect(&answer, 201, "accepted");
    orders[1] = number_after("\"id\":");
    assert_int_not_equal(orders[1], orders[2]);
    ask("GET", path, NULL);
    assert_int_equal(number_after("\"id\":"), orders[1]);
}

/* A buyer whose order was accepted gets the same answer again, even if everything is sold by
 * now. */
TEST(a_named_request_survives_the_end_of_the_stock)
{
    int64_t voucher = rig_voucher(1);
    char name[40];

    (void)snprintf(name, sizeof(name), "last:%lld", (long long)voucher);
    assert_true(rig_order_named(service.orders_port, voucher, 1, name, &answer));
    rig_expect(&answer, 201, "accepted");
    for (int i = 0; i < 3; i++) {
        assert_true(rig_order(service.orders_port, voucher, 2, &answer));
        rig_expect(&answer, 409, "sold-out");
        assert_true(rig_order_named(service.orders_port, voucher, 1, name, &answer));
        rig_expect(&answer, 201, "accepted");
    }
    assert_int_equal(rig_orders(voucher), 1);
}

enum { TWINS = 6 };

struct twin {
    pthread_t thread;
    int64_t voucher;
    bool answered;
    struct rig_answer answer;
};

static void *order_as_twin(void *arg)
{
    struct twin *t = arg;

    char name[40];

    (void)snprintf(name, sizeof(name), "twins:%lld", (long long)t->voucher);
    t->answered = rig_order_named(service.orders_port, t->voucher, 1, name, &t->answer);
    return NULL;
}

/* The same key is sent several times at once: there is one order, and every answer that names an
 * order names this one. */
TEST(a_named_request_at_once_is_one_order)
{
    static struct twin twins[TWINS];
    int64_t voucher = rig_voucher(100);
    char id[40] = "";

    for (int i = 0; i < TWINS; i++) {
        twins[i].voucher = voucher;
        assert_int_equal(
            pthread_create(&twins[i].thread, NULL, order_as_twin, &twins[i]), 0);
    }
    for (int i = 0; i < TWINS; i++) {
        (void)pthread_join(twins[i].thread, NULL);
        assert_true(twins[i].answered);
        if (twins[i].answer.status != 201)
            continue;
        if (id[0] == '\0')
            (void)snprintf(id, sizeof(id), "%.30s", twins[i].answer.body);
        assert_int_equal(strncmp(id, twins[i].answer.body, 30), 0);
    }
    assert_true(id[0] != '\0');
    assert_int_equal(rig_orders(voucher), 1);
    assert_int_equal(rig_stock(voucher), 99);
}

int main(void)
{
    return RIG_RUN_WITH_SERVICE(&service, "--workers=8");
}

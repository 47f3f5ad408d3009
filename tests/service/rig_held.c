/* SPDX-License-Identifier: MIT */
/* rig_held.c -- fault points of a service, and orders that are held at one. */
#include <stdio.h>
#include <string.h>

#include "base/text/duration.h"
#include "tests/service/rig.h"

const char *rig_fault(const struct rig_service *s, const char *verb, const char *query,
                      int status)
{
    static struct rig_answer answer;
    char path[200];

    (void)snprintf(path, sizeof(path), "/faults/%s?%s", verb, query);
    assert_true(rig_request(s->admin_port, "POST", path, NULL, NULL, &answer));
    if (answer.status != status)
        fail_msg("%s: %d instead of %d: %s", path, answer.status, status, answer.body);
    return answer.body;
}

struct point {
    const struct rig_service *service;
    const char *name;
};

static bool is_holding(void *arg)
{
    static struct rig_answer answer;
    const struct point *point = arg;
    char name[64];
    const char *at;

    (void)snprintf(name, sizeof(name), "\"%s\"", point->name);
    if (!rig_request(point->service->admin_port, "GET", "/faults", NULL, NULL, &answer))
        return false;
    at = strstr(answer.body, name);
    at = at != NULL ? strstr(at, "\"holding\":") : NULL;
    return at != NULL && strncmp(at + 10, "true", 4) == 0;
}

void rig_await_held(const struct rig_service *s, const char *point)
{
    struct point arg = {s, point};

    assert_true(rig_until(is_holding, &arg, RIG_PATIENCE_MS));
}

static void *order(void *arg)
{
    struct rig_held *held = arg;

    (void)rig_order(held->port, held->voucher, held->user, &held->answer);
    return NULL;
}

void rig_order_beside(struct rig_held *held, const struct rig_service *s, int64_t voucher,
                      int64_t user)
{
    held->port = s->orders_port;
    held->voucher = voucher;
    held->user = user;
    assert_int_equal(pthread_create(&held->thread, NULL, order, held), 0);
}

void rig_hold(struct rig_held *held, const struct rig_service *s, const char *point,
              int64_t voucher, int64_t user)
{
    char query[96];

    (void)snprintf(query, sizeof(query), "point=%s&action=hold", point);
    rig_fault(s, "arm", query, 200);
    rig_order_beside(held, s, voucher, user);
    rig_await_held(s, point);
}

void rig_let_go(struct rig_held *held, const struct rig_service *s, const char *point)
{
    char query[96];

    (void)snprintf(query, sizeof(query), "point=%s", point);
    rig_fault(s, "release", query, 200);
    (void)pthread_join(held->thread, NULL);
}

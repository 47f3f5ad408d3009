/* SPDX-License-Identifier: MIT */
/* test_scrapers.c -- forty clients that ask for metrics and readiness at the same time,
 * repeatedly, all get answers, and orders are sold meanwhile. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/service/rig.h"

enum { SCRAPERS = 40, SCRAPES = 20, ORDERS = 50 };

static struct rig_service service;

struct scraper {
    pthread_t thread;
    long long sold; /* the count in the last answer */
    char wrong[200]; /* "": every answer was complete */
};

/* The answer has all metrics, its last line is complete, and no counter decreases. */
static const char *flaw_of_metrics(struct scraper *s, const struct rig_answer *got)
{
    static const char SOLD[] = "\nseckill_orders_total{lock=\"reentrant\",outcome=\"accepted\"} ";
    const char *at = strstr(got->body, SOLD);
    size_t length = strlen(got->body);
    long long sold;

    if (got->status != 200)
        return "not 200";
    if (at == NULL || length == 0 || got->body[length - 1] != '\n' ||
        strstr(got->body, "\nseckill_store_ready{store=\"postgresql\"} 1\n") == NULL)
        return "not the whole list";
    sold = strtoll(at + strlen(SOLD), NULL, 10);
    if (sold < s->sold)
        return "a counter fell";
    s->sold = sold;
    return NULL;
}

static void *scrape(void *arg)
{
    static _Thread_local struct rig_answer got;
    struct scraper *s = arg;
    const char *flaw = NULL;

    for (int i = 0; i < SCRAPES && flaw == NULL; i++) {
        bool is_metrics = i % 2 == 0;

        got.body[0] = '\0';
        if (!rig_admin(&service, "GET", is_metrics ? "/metrics" : "/readyz", &got))
            flaw = "no answer";
        else if (is_metrics)
            flaw = flaw_of_metrics(s, &got);
        else if (got.status != 200)
            flaw = "not ready";
    }
    if (flaw != NULL)
        (void)snprintf(s->wrong, sizeof(s->wrong), "%s: %d %.100s", flaw, got.status, got.body);
    return NULL;
}

static bool is_ready(void *arg)
{
    static struct rig_answer got;

    (void)arg;
    return rig_admin(&service, "GET", "/readyz", &got) && got.status == 200;
}

TEST(forty_scrapers_are_answered_while_orders_are_sold)
{
    static struct scraper scrapers[SCRAPERS];
    static struct rig_answer got;
    int64_t voucher = rig_voucher(ORDERS);

    assert_true(rig_until(is_ready, NULL, RIG_PATIENCE_MS));
    for (int i = 0; i < SCRAPERS; i++)
        assert_int_equal(pthread_create(&scrapers[i].thread, NULL, scrape, &scrapers[i]), 0);
    for (int i = 0; i < ORDERS; i++) {
        assert_true(rig_order(service.orders_port, voucher, i + 1, &got));
        rig_expect(&got, 201, "accepted");
    }
    for (int i = 0; i < SCRAPERS; i++)
        (void)pthread_join(scrapers[i].thread, NULL);
    for (int i = 0; i < SCRAPERS; i++)
        if (scrapers[i].wrong[0] != '\0')
            fail_msg("scraper %d: %s", i, scrapers[i].wrong);
    assert_int_equal(rig_orders(voucher), ORDERS);
}

int main(void)
{
    /* A connection that its client has closed counts until its thread sees that. */
    return RIG_RUN_WITH_SERVICE(&service, "--lock=reentrant", "--admin-connections=256");
}

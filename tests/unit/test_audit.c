/* SPDX-License-Identifier: MIT */
/* test_audit.c -- hand-made sales, good and bad, for every verdict; orders that a client
 * was told of and the database lacks, and the reverse. */
#include <stdio.h>
#include <string.h>

#include "loadtest/audit/audit.h"
#include "loadtest/audit/lost.h"
#include "tests/registered.h"

enum { ORDERS_MAX = 32, NAME_MAX_BYTES = 16 };

/* A sale that a test builds. */
struct sale {
    struct audit_voucher vouchers[4];
    size_t voucher_count;
    struct audit_order orders[ORDERS_MAX];
    size_t order_count;
    struct ledger_entry entries[ORDERS_MAX];
    struct ledger ledger;
    bool is_settled;
    char names[2 * ORDERS_MAX][NAME_MAX_BYTES];
    size_t name_count;
    struct audit_verdict verdict;
};

static struct sale begin(int64_t issued, int64_t left)
{
    return (struct sale){
        .vouchers = {{.id = 1,
                      .issued = issued,
                      .left = left,
                      .begin_us = 1000,
                      .end_us = 2000}},
        .voucher_count = 1,
        .ledger = {.is_complete = true, .files = 1},
        .is_settled = true,
    };
}

static const char *request(struct sale *s, int64_t number)
{
    char *name = s->names[s->name_count++];

    snprintf(name, NAME_MAX_BYTES, "r-%d", (int)number);
    return name;
}

/* Add an order to the database: number `id`, made by the request of the same number. */
static void there(struct sale *s, int64_t id, int64_t user, int64_t voucher)
{
    s->orders[s->order_count++] =
        (struct audit_order){id, user, voucher, request(s, id), "p1", 1500, 1600};
}

/* Add a line of the ledger about the request with that number. */
static void told(struct sale *s, enum ledger_what what, int64_t number, int64_t user,
                 int64_t voucher)
{
    s->entries[s->ledger.count++] = (struct ledger_entry){
        what, request(s, number), what == LEDGER_ACCEPTED ? number : 0, user, voucher,
        0,    (int)s->ledger.count};
}

/* Add both: an order that is in the database and in the ledger. */
static void sold(struct sale *s, int64_t id, int64_t user, int64_t voucher)
{
    there(s, id, user, voucher);
    told(s, LEDGER_ACCEPTED, id, user, voucher);
}

static void judge(struct sale *s)
{
    struct audit_input input = {.vouchers = s->vouchers,
                                .voucher_count = s->voucher_count,
                                .orders = s->orders,
                                .order_count = s->order_count,
                                .ledger = &s->ledger,
                                .is_settled = s->is_settled};

    s->ledger.entries = s->entries;
    audit_judge(&input, &s->verdict);
}

/* Check that the audit finds exactly this. */
static void expect_only(struct sale *s, enum audit_check check, enum verdict valid,
                        int64_t count)
{
    judge(s);
    for (int i = 0; i < AUDIT_CHECK_COUNT; i++) {
        if (i == (int)check)
            continue;
        if (s->verdict.findings[i].valid != VERDICT_VALID)
            print_error("also found: %s\n", audit_check_name((enum audit_check)i));
        assert_int_equal(s->verdict.findings[i].valid, VERDICT_VALID);
    }
    assert_int_equal(s->verdict.findings[check].valid, valid);
    assert_int_equal(s->verdict.findings[check].count, count);
    assert_int_equal(s->verdict.valid, valid);
    assert_int_equal(verdict_exit(s->verdict.valid), valid == VERDICT_VALID     ? 0
                                                        : valid == VERDICT_INVALID ? 1
                                                                                 : 2);
}

static void expect_valid(struct sale *s)
{
    expect_only(s, AUDIT_OVERSOLD, VERDICT_VALID, 0);
}

TEST(a_sale_with_stock_left_is_valid)
{
    struct sale s = begin(10, 8);

    sold(&s, 1, 1, 1);
    sold(&s, 2, 2, 1);
    expect_valid(&s);
}

TEST(one_more_than_the_stock_is_oversold)
{
    struct sale s = begin(2, -1);

    for (int64_t i = 1; i <= 3; i++)
        sold(&s, i, i, 1);
    expect_only(&s, AUDIT_OVERSOLD, VERDICT_INVALID, 1);
    assert_int_equal(s.verdict.findings[AUDIT_OVERSOLD].example_count, 1);
}

TEST(stock_of_another_voucher_does_not_make_up_for_it)
{
    struct sale s = begin(1, -2);

    s.vouchers[1] = (struct audit_voucher){.id = 2, .issued = 9, .left = 9, .begin_us = 1000,
                                             .end_us = 2000};
    s.voucher_count = 2;
    for (int64_t i = 1; i <= 3; i++)
        sold(&s, i, i, 1);
    expect_only(&s, AUDIT_OVERSOLD, VERDICT_INVALID, 2);
}

TEST(an_unanswered_request_may_still_oversell)
{
    struct sale s = begin(2, 0);

    sold(&s, 1, 1, 1);
    sold(&s, 2, 2, 1);
    told(&s, LEDGER_UNSURE, 3, 3, 1);
    s.is_settled = false;
    expect_only(&s, AUDIT_OVERSOLD, VERDICT_UNKNOWN, 0);
    s.is_settled = true; /* the service has ended, so it will write no row */
    expect_valid(&s);
}

TEST(a_decrement_that_was_overwritten_is_a_lost_update)
{
    struct sale s = begin(5, 4);

    sold(&s, 1, 1, 1);
    sold(&s, 2, 2, 1);
    expect_only(&s, AUDIT_LOST_UPDATE, VERDICT_INVALID, 1);
}

TEST(stock_that_vanished_is_a_lost_update)
{
    struct sale s = begin(5, 1);

    sold(&s, 1, 1, 1);
    expect_only(&s, AUDIT_LOST_UPDATE, VERDICT_INVALID, 3);
}

TEST(the_row_that_the_run_changed_proves_nothing)
{
    /* The database has twice as many orders as the stock, although the column of the stock says
     * 0. */
    struct sale s = begin(2, 0);

    for (int64_t i = 1; i <= 4; i++)
        sold(&s, i, i, 1);
    judge(&s);
    assert_int_equal(s.verdict.findings[AUDIT_OVERSOLD].valid, VERDICT_INVALID);
    assert_int_equal(s.verdict.findings[AUDIT_OVERSOLD].count, 2);
    assert_int_equal(s.verdict.findings[AUDIT_LOST_UPDATE].valid, VERDICT_INVALID);
}

TEST(a_second_order_of_a_user_is_a_duplicate)
{
    struct sale s = begin(5, 3);

    sold(&s, 1, 7, 1);
    sold(&s, 2, 7, 1);
    expect_only(&s, AUDIT_DUPLICATE, VERDICT_INVALID, 1);
}

TEST(three_orders_are_two_too_many)
{
    struct sale s = begin(5, 1);

    sold(&s, 1, 7, 1);
    sold(&s, 2, 8, 1);
    sold(&s, 3, 7, 1);
    sold(&s, 4, 7, 1);
    expect_only(&s, AUDIT_DUPLICATE, VERDICT_INVALID, 2);
}

TEST(a_user_may_buy_two_vouchers)
{
    struct sale s = begin(5, 4);

    s.vouchers[1] = (struct audit_voucher){.id = 2, .issued = 5, .left = 4, .begin_us = 1000,
                                             .end_us = 2000};
    s.voucher_count = 2;
    sold(&s, 1, 7, 1);
    sold(&s, 2, 7, 2);
    expect_valid(&s);
}

TEST(an_unanswered_request_may_still_be_a_duplicate)
{
    struct sale s = begin(5, 4);

    sold(&s, 1, 7, 1);
    told(&s, LEDGER_UNSURE, 2, 7, 1);
    s.is_settled = false;
    expect_only(&s, AUDIT_DUPLICATE, VERDICT_UNKNOWN, 0);
}

/* Neither request has a row, and the audit compares each of them with the other. */
TEST(two_open_requests_of_a_buyer_may_be_a_duplicate)
{
    struct sale s = begin(9, 8);
    const struct audit_finding *found = &s.verdict.findings[AUDIT_DUPLICATE];

    sold(&s, 1, 1, 1);
    told(&s, LEDGER_UNSURE, 2, 7, 1);
    told(&s, LEDGER_UNSURE, 3, 8, 1);
    s.is_settled = false;
    expect_valid(&s);
    told(&s, LEDGER_UNSURE, 4, 7, 1);
    expect_only(&s, AUDIT_DUPLICATE, VERDICT_UNKNOWN, 0);
    assert_int_equal(found->example_count, 1);
    assert_string_equal(found->examples[0],
                        "user 7, voucher 1: requests r-2 and r-4 may both still become orders");
    s.is_settled = true;
    expect_valid(&s);
}

TEST(called_sold_out_with_stock_left_is_undersold)
{
    struct sale s = begin(5, 4);

    sold(&s, 1, 1, 1);
    told(&s, LEDGER_SOLD_OUT, 2, 2, 1);
    expect_only(&s, AUDIT_UNDERSOLD, VERDICT_INVALID, 4);
}

/* The sale window of voucher 1 is from 1000 to 2000, both instants included. */
TEST(an_order_is_admitted_within_its_window)
{
    static const struct {
        int64_t admitted_us;
        enum verdict valid;
    } CASES[] = {
        {999, VERDICT_INVALID}, {1000, VERDICT_VALID},   {2000, VERDICT_VALID},
        {2001, VERDICT_INVALID}, {0, VERDICT_UNKNOWN},
    };

    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct sale s = begin(5, 3);

        sold(&s, 1, 1, 1);
        sold(&s, 2, 2, 1);
        s.orders[1].admitted_us = CASES[i].admitted_us;
        expect_only(&s, AUDIT_OUTSIDE_WINDOW, CASES[i].valid,
                    CASES[i].valid != VERDICT_VALID);
    }
}

TEST(undersold_is_judged_for_each_voucher)
{
    struct sale s = begin(1, 0);

    s.vouchers[1] = (struct audit_voucher){.id = 2, .issued = 5, .left = 4, .begin_us = 1000,
                                             .end_us = 2000};
    s.voucher_count = 2;
    sold(&s, 1, 1, 1);
    sold(&s, 2, 2, 2);
    told(&s, LEDGER_SOLD_OUT, 3, 3, 1); /* voucher 1 is really sold out */
    expect_valid(&s);
    told(&s, LEDGER_SOLD_OUT, 4, 4, 2);
    expect_only(&s, AUDIT_UNDERSOLD, VERDICT_INVALID, 4);
}

TEST(a_run_that_sold_nothing_is_never_valid)
{
    struct sale s = begin(5, 5);

    expect_only(&s, AUDIT_NOTHING_SOLD, VERDICT_UNKNOWN, 0);
    told(&s, LEDGER_UNSURE, 1, 1, 1);
    expect_only(&s, AUDIT_NOTHING_SOLD, VERDICT_UNKNOWN, 0);
}

TEST(a_voucher_without_stock_is_never_valid)
{
    struct sale s = begin(0, 0);

    told(&s, LEDGER_SOLD_OUT, 1, 1, 1);
    expect_only(&s, AUDIT_NOTHING_SOLD, VERDICT_UNKNOWN, 0);
}

TEST(invalid_is_worse_than_unknown)
{
    struct sale s = begin(5, 3);

    sold(&s, 1, 7, 1);
    sold(&s, 2, 7, 1);
    s.ledger.is_complete = false;
    judge(&s);
    assert_int_equal(s.verdict.findings[AUDIT_THERE_NOT_TOLD].valid, VERDICT_UNKNOWN);
    assert_int_equal(s.verdict.valid, VERDICT_INVALID);
}

TEST(at_most_ten_examples_are_kept)
{
    struct sale s = begin(20, 5);

    for (int64_t i = 1; i <= 15; i++)
        there(&s, i, i, 1);
    expect_only(&s, AUDIT_THERE_NOT_TOLD, VERDICT_INVALID, 15);
    assert_int_equal(s.verdict.findings[AUDIT_THERE_NOT_TOLD].example_count, 10);
}

TEST(json_says_unknown_and_not_false)
{
    struct sale s = begin(5, 5);
    json_t *json;

    judge(&s);
    json = audit_to_json(&s.verdict, "a test");
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "valid")), "unknown");
    assert_true(
        json_is_object(json_object_get(json_object_get(json, "checks"), "oversold")));
    json_decref(json);
}

TEST(a_sold_out_sale_is_valid)
{
    struct sale s = begin(3, 0);

    for (int64_t i = 1; i <= 3; i++)
        sold(&s, i, i, 1);
    told(&s, LEDGER_SOLD_OUT, 4, 4, 1);
    expect_valid(&s);
}

TEST(a_number_that_does_not_exist_is_a_phantom)
{
    struct sale s = begin(5, 4);

    sold(&s, 1, 1, 1);
    told(&s, LEDGER_ACCEPTED, 2, 2, 1);
    expect_only(&s, AUDIT_TOLD_NOT_THERE, VERDICT_INVALID, 1);
}

struct names {
    char text[64];
};

static void add_name(const struct ledger_entry *entry, void *arg)
{
    struct names *names = arg;
    size_t used = strlen(names->text);

    snprintf(names->text + used, sizeof names->text - used, "%s=%lld ", entry->request,
             (long long)entry->order);
}

/* An order that no client was told of, an order that was only promised, and an order whose row has
 * another number are not lost. */
TEST(acknowledged_orders_without_a_row_are_named)
{
    struct sale s = begin(9, 7);
    struct names names = {""};
    struct audit_input input;

    sold(&s, 1, 1, 1);
    told(&s, LEDGER_ACCEPTED, 2, 2, 1);
    told(&s, LEDGER_UNSURE, 3, 3, 1);
    told(&s, LEDGER_QUEUED, 4, 4, 1);
    there(&s, 5, 5, 1);
    told(&s, LEDGER_ACCEPTED, 5, 5, 1);
    s.entries[s.ledger.count - 1].order = 99;
    told(&s, LEDGER_ACCEPTED, 6, 6, 1);
    judge(&s);
    assert_int_equal(s.verdict.lost, 2);
    s.ledger.entries = s.entries;
    input = (struct audit_input){.vouchers = s.vouchers,
                                 .voucher_count = s.voucher_count,
                                 .orders = s.orders,
                                 .order_count = s.order_count,
                                 .ledger = &s.ledger,
                                 .is_settled = true};
    assert_int_equal(audit_each_lost(&input, add_name, &names), 2);
    assert_string_equal(names.text, "r-2=2 r-6=6 ");
}

TEST(another_users_order_is_a_phantom)
{
    struct sale s = begin(5, 4);

    there(&s, 1, 1, 1);
    told(&s, LEDGER_ACCEPTED, 1, 2, 1);
    judge(&s); /* user 2 has no such order, and user 1 was not told of an order */
    assert_int_equal(s.verdict.findings[AUDIT_TOLD_NOT_THERE].valid, VERDICT_INVALID);
    assert_int_equal(s.verdict.findings[AUDIT_THERE_NOT_TOLD].valid, VERDICT_INVALID);
}

/* An id of a request is unique only within its user. */
TEST(two_users_may_choose_the_same_id)
{
    struct sale s = begin(5, 3);

    for (int64_t user = 1; user <= 2; user++) {
        there(&s, user, user, 1);
        told(&s, LEDGER_ACCEPTED, user, user, 1);
        s.orders[s.order_count - 1].request = "same";
        s.entries[s.ledger.count - 1].request = "same";
    }
    expect_valid(&s);
}

/* A missing answer excuses an order of the user who sent the request, and of no other user. */
TEST(an_unanswered_request_excuses_its_own_user)
{
    struct sale s = begin(5, 4);

    there(&s, 1, 1, 1);
    told(&s, LEDGER_UNSURE, 1, 2, 1);
    judge(&s);
    assert_int_equal(s.verdict.findings[AUDIT_THERE_NOT_TOLD].valid, VERDICT_INVALID);
}

TEST(a_wrong_number_is_a_phantom)
{
    struct sale s = begin(5, 4);

    there(&s, 1, 1, 1);
    told(&s, LEDGER_ACCEPTED, 1, 1, 1);
    s.entries[0].order = 99;
    expect_only(&s, AUDIT_TOLD_NOT_THERE, VERDICT_INVALID, 1);
}

TEST(an_order_that_nobody_knows_is_a_phantom)
{
    struct sale s = begin(5, 3);

    sold(&s, 1, 1, 1);
    there(&s, 2, 2, 1);
    expect_only(&s, AUDIT_THERE_NOT_TOLD, VERDICT_INVALID, 1);
}

TEST(an_order_of_a_refused_request_is_a_phantom)
{
    struct sale s = begin(5, 2);

    sold(&s, 1, 1, 1);
    there(&s, 2, 2, 1);
    there(&s, 3, 3, 1);
    expect_only(&s, AUDIT_THERE_NOT_TOLD, VERDICT_INVALID, 2);
}

TEST(an_order_of_an_unanswered_request_is_none)
{
    struct sale s = begin(5, 3);

    sold(&s, 1, 1, 1);
    there(&s, 2, 2, 1);
    told(&s, LEDGER_UNSURE, 2, 2, 1);
    expect_valid(&s);
}

TEST(without_the_end_of_the_ledger_nobody_knows)
{
    struct sale s = begin(5, 3);

    sold(&s, 1, 1, 1);
    there(&s, 2, 2, 1);
    s.ledger.is_complete = false;
    expect_only(&s, AUDIT_THERE_NOT_TOLD, VERDICT_UNKNOWN, 1);
}

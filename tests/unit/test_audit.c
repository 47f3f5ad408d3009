/* SPDX-License-Identifier: MIT */
/* test_audit.c -- hand-made sales, good and bad, for every verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "loadtest/audit/audit.h"

enum { ORDERS_MAX = 32, NAME_MAX_BYTES = 16 };

/* A sale in the making. */
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

/* An order in the database: number `id`, made by the request of the same number. */
static void there(struct sale *s, int64_t id, int64_t user, int64_t voucher)
{
    s->orders[s->order_count++] =
        (struct audit_order){id, user, voucher, request(s, id), "p1", 1500, 1600};
}

/* A line of the ledger about the request with that number. */
static void told(struct sale *s, enum ledger_what what, int64_t number, int64_t user,
                 int64_t voucher)
{
    s->entries[s->ledger.count++] = (struct ledger_entry){
        what, request(s, number), what == LEDGER_ACCEPTED ? number : 0, user, voucher,
        0,    (int)s->ledger.count};
}

/* Both: an honest order. */
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

/* Exactly this was found, and nothing else. */
static void expect_only(struct sale *s, enum audit_check check, enum audit_valid valid,
                        int64_t count)
{
    judge(s);
    for (int i = 0; i < AUDIT_CHECK_COUNT; i++) {
        if (i == (int)check)
            continue;
        if (s->verdict.findings[i].valid != AUDIT_VALID)
            print_error("also found: %s\n", audit_check_name((enum audit_check)i));
        assert_int_equal(s->verdict.findings[i].valid, AUDIT_VALID);
    }
    assert_int_equal(s->verdict.findings[check].valid, valid);
    assert_int_equal(s->verdict.findings[check].count, count);
    assert_int_equal(s->verdict.valid, valid);
    assert_int_equal(audit_exit_code(s->verdict.valid), valid == AUDIT_VALID     ? 0
                                                        : valid == AUDIT_INVALID ? 1
                                                                                 : 2);
}

static void expect_valid(struct sale *s)
{
    expect_only(s, AUDIT_OVERSOLD, AUDIT_VALID, 0);
}

static void a_sold_out_sale_is_valid(void **state)
{
    struct sale s = begin(3, 0);

    (void)state;
    for (int64_t i = 1; i <= 3; i++)
        sold(&s, i, i, 1);
    told(&s, LEDGER_SOLD_OUT, 4, 4, 1);
    expect_valid(&s);
}

static void a_sale_with_stock_left_is_valid(void **state)
{
    struct sale s = begin(10, 8);

    (void)state;
    sold(&s, 1, 1, 1);
    sold(&s, 2, 2, 1);
    expect_valid(&s);
}

static void one_more_than_the_stock_is_oversold(void **state)
{
    struct sale s = begin(2, -1);

    (void)state;
    for (int64_t i = 1; i <= 3; i++)
        sold(&s, i, i, 1);
    expect_only(&s, AUDIT_OVERSOLD, AUDIT_INVALID, 1);
    assert_int_equal(s.verdict.findings[AUDIT_OVERSOLD].example_count, 1);
}

static void stock_of_another_voucher_does_not_make_up_for_it(void **state)
{
    struct sale s = begin(1, -2);

    (void)state;
    s.vouchers[1] = (struct audit_voucher){.id = 2, .issued = 9, .left = 9};
    s.voucher_count = 2;
    for (int64_t i = 1; i <= 3; i++)
        sold(&s, i, i, 1);
    expect_only(&s, AUDIT_OVERSOLD, AUDIT_INVALID, 2);
}

static void an_unanswered_request_may_still_oversell(void **state)
{
    struct sale s = begin(2, 0);

    (void)state;
    sold(&s, 1, 1, 1);
    sold(&s, 2, 2, 1);
    told(&s, LEDGER_UNSURE, 3, 3, 1);
    s.is_settled = false;
    expect_only(&s, AUDIT_OVERSOLD, AUDIT_UNKNOWN, 0);
    s.is_settled = true; /* the service has ended: it will not */
    expect_valid(&s);
}

static void a_decrement_that_was_overwritten_is_a_lost_update(void **state)
{
    struct sale s = begin(5, 4);

    (void)state;
    sold(&s, 1, 1, 1);
    sold(&s, 2, 2, 1);
    expect_only(&s, AUDIT_LOST_UPDATE, AUDIT_INVALID, 1);
}

static void stock_that_vanished_is_a_lost_update(void **state)
{
    struct sale s = begin(5, 1);

    (void)state;
    sold(&s, 1, 1, 1);
    expect_only(&s, AUDIT_LOST_UPDATE, AUDIT_INVALID, 3);
}

static void the_row_that_the_run_changed_proves_nothing(void **state)
{
    /* Twice the stock was sold, and the column says that nothing is wrong. */
    struct sale s = begin(2, 0);

    (void)state;
    for (int64_t i = 1; i <= 4; i++)
        sold(&s, i, i, 1);
    judge(&s);
    assert_int_equal(s.verdict.findings[AUDIT_OVERSOLD].valid, AUDIT_INVALID);
    assert_int_equal(s.verdict.findings[AUDIT_OVERSOLD].count, 2);
    assert_int_equal(s.verdict.findings[AUDIT_LOST_UPDATE].valid, AUDIT_INVALID);
}

static void a_second_order_of_a_user_is_a_duplicate(void **state)
{
    struct sale s = begin(5, 3);

    (void)state;
    sold(&s, 1, 7, 1);
    sold(&s, 2, 7, 1);
    expect_only(&s, AUDIT_DUPLICATE, AUDIT_INVALID, 1);
}

static void three_orders_are_two_too_many(void **state)
{
    struct sale s = begin(5, 1);

    (void)state;
    sold(&s, 1, 7, 1);
    sold(&s, 2, 8, 1);
    sold(&s, 3, 7, 1);
    sold(&s, 4, 7, 1);
    expect_only(&s, AUDIT_DUPLICATE, AUDIT_INVALID, 2);
}

static void a_user_may_buy_two_vouchers(void **state)
{
    struct sale s = begin(5, 4);

    (void)state;
    s.vouchers[1] = (struct audit_voucher){.id = 2, .issued = 5, .left = 4};
    s.voucher_count = 2;
    sold(&s, 1, 7, 1);
    sold(&s, 2, 7, 2);
    expect_valid(&s);
}

static void an_unanswered_request_may_still_be_a_duplicate(void **state)
{
    struct sale s = begin(5, 4);

    (void)state;
    sold(&s, 1, 7, 1);
    told(&s, LEDGER_UNSURE, 2, 7, 1);
    s.is_settled = false;
    expect_only(&s, AUDIT_DUPLICATE, AUDIT_UNKNOWN, 0);
}

static void called_sold_out_with_stock_left_is_undersold(void **state)
{
    struct sale s = begin(5, 4);

    (void)state;
    sold(&s, 1, 1, 1);
    told(&s, LEDGER_SOLD_OUT, 2, 2, 1);
    expect_only(&s, AUDIT_UNDERSOLD, AUDIT_INVALID, 4);
}

/* The sale of voucher 1 is from 1000 to 2000, both instants included. */
static void an_order_is_admitted_within_its_window(void **state)
{
    static const struct {
        int64_t admitted_us;
        enum audit_valid valid;
    } CASES[] = {
        {999, AUDIT_INVALID}, {1000, AUDIT_VALID},   {2000, AUDIT_VALID},
        {2001, AUDIT_INVALID}, {0, AUDIT_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct sale s = begin(5, 3);

        sold(&s, 1, 1, 1);
        sold(&s, 2, 2, 1);
        s.orders[1].admitted_us = CASES[i].admitted_us;
        expect_only(&s, AUDIT_OUTSIDE_WINDOW, CASES[i].valid,
                    CASES[i].valid != AUDIT_VALID);
    }
}

static void undersold_is_judged_for_each_voucher(void **state)
{
    struct sale s = begin(1, 0);

    (void)state;
    s.vouchers[1] = (struct audit_voucher){.id = 2, .issued = 5, .left = 4};
    s.voucher_count = 2;
    sold(&s, 1, 1, 1);
    sold(&s, 2, 2, 2);
    told(&s, LEDGER_SOLD_OUT, 3, 3, 1); /* which is true of that one */
    expect_valid(&s);
    told(&s, LEDGER_SOLD_OUT, 4, 4, 2);
    expect_only(&s, AUDIT_UNDERSOLD, AUDIT_INVALID, 4);
}

static void a_number_that_does_not_exist_is_a_phantom(void **state)
{
    struct sale s = begin(5, 4);

    (void)state;
    sold(&s, 1, 1, 1);
    told(&s, LEDGER_ACCEPTED, 2, 2, 1);
    expect_only(&s, AUDIT_TOLD_NOT_THERE, AUDIT_INVALID, 1);
}

static void another_users_order_is_a_phantom(void **state)
{
    struct sale s = begin(5, 4);

    (void)state;
    there(&s, 1, 1, 1);
    told(&s, LEDGER_ACCEPTED, 1, 2, 1);
    judge(&s); /* user 2 has no such order, and user 1 was not told of one */
    assert_int_equal(s.verdict.findings[AUDIT_TOLD_NOT_THERE].valid, AUDIT_INVALID);
    assert_int_equal(s.verdict.findings[AUDIT_THERE_NOT_TOLD].valid, AUDIT_INVALID);
}

/* A request's id belongs to its user. */
static void two_users_may_choose_the_same_id(void **state)
{
    struct sale s = begin(5, 3);

    (void)state;
    for (int64_t user = 1; user <= 2; user++) {
        there(&s, user, user, 1);
        told(&s, LEDGER_ACCEPTED, user, user, 1);
        s.orders[s.order_count - 1].request = "same";
        s.entries[s.ledger.count - 1].request = "same";
    }
    expect_valid(&s);
}

/* An answer that is missing excuses the user's own order, and no other's. */
static void an_unanswered_request_excuses_its_own_user(void **state)
{
    struct sale s = begin(5, 4);

    (void)state;
    there(&s, 1, 1, 1);
    told(&s, LEDGER_UNSURE, 1, 2, 1);
    judge(&s);
    assert_int_equal(s.verdict.findings[AUDIT_THERE_NOT_TOLD].valid, AUDIT_INVALID);
}

static void a_wrong_number_is_a_phantom(void **state)
{
    struct sale s = begin(5, 4);

    (void)state;
    there(&s, 1, 1, 1);
    told(&s, LEDGER_ACCEPTED, 1, 1, 1);
    s.entries[0].order = 99;
    expect_only(&s, AUDIT_TOLD_NOT_THERE, AUDIT_INVALID, 1);
}

static void an_order_that_nobody_knows_is_a_phantom(void **state)
{
    struct sale s = begin(5, 3);

    (void)state;
    sold(&s, 1, 1, 1);
    there(&s, 2, 2, 1);
    expect_only(&s, AUDIT_THERE_NOT_TOLD, AUDIT_INVALID, 1);
}

static void an_order_of_a_refused_request_is_a_phantom(void **state)
{
    struct sale s = begin(5, 2);

    (void)state;
    sold(&s, 1, 1, 1);
    there(&s, 2, 2, 1);
    there(&s, 3, 3, 1);
    expect_only(&s, AUDIT_THERE_NOT_TOLD, AUDIT_INVALID, 2);
}

static void an_order_of_an_unanswered_request_is_none(void **state)
{
    struct sale s = begin(5, 3);

    (void)state;
    sold(&s, 1, 1, 1);
    there(&s, 2, 2, 1);
    told(&s, LEDGER_UNSURE, 2, 2, 1);
    expect_valid(&s);
}

static void without_the_end_of_the_ledger_nobody_knows(void **state)
{
    struct sale s = begin(5, 3);

    (void)state;
    sold(&s, 1, 1, 1);
    there(&s, 2, 2, 1);
    s.ledger.is_complete = false;
    expect_only(&s, AUDIT_THERE_NOT_TOLD, AUDIT_UNKNOWN, 1);
}

static void a_run_that_sold_nothing_is_never_valid(void **state)
{
    struct sale s = begin(5, 5);

    (void)state;
    expect_only(&s, AUDIT_NOTHING_SOLD, AUDIT_UNKNOWN, 0);
    told(&s, LEDGER_UNSURE, 1, 1, 1);
    expect_only(&s, AUDIT_NOTHING_SOLD, AUDIT_UNKNOWN, 0);
}

static void a_voucher_without_stock_is_never_valid(void **state)
{
    struct sale s = begin(0, 0);

    (void)state;
    told(&s, LEDGER_SOLD_OUT, 1, 1, 1);
    expect_only(&s, AUDIT_NOTHING_SOLD, AUDIT_UNKNOWN, 0);
}

static void invalid_is_worse_than_unknown(void **state)
{
    struct sale s = begin(5, 3);

    (void)state;
    sold(&s, 1, 7, 1);
    sold(&s, 2, 7, 1);
    s.ledger.is_complete = false;
    judge(&s);
    assert_int_equal(s.verdict.findings[AUDIT_THERE_NOT_TOLD].valid, AUDIT_UNKNOWN);
    assert_int_equal(s.verdict.valid, AUDIT_INVALID);
}

static void at_most_ten_examples_are_kept(void **state)
{
    struct sale s = begin(20, 5);

    (void)state;
    for (int64_t i = 1; i <= 15; i++)
        there(&s, i, i, 1);
    expect_only(&s, AUDIT_THERE_NOT_TOLD, AUDIT_INVALID, 15);
    assert_int_equal(s.verdict.findings[AUDIT_THERE_NOT_TOLD].example_count, 10);
}

static void json_says_unknown_and_not_false(void **state)
{
    struct sale s = begin(5, 5);
    json_t *json;

    (void)state;
    judge(&s);
    json = audit_to_json(&s.verdict, "a test");
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "valid")), "unknown");
    assert_true(
        json_is_object(json_object_get(json_object_get(json, "checks"), "oversold")));
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sold_out_sale_is_valid),
        cmocka_unit_test(a_sale_with_stock_left_is_valid),
        cmocka_unit_test(one_more_than_the_stock_is_oversold),
        cmocka_unit_test(stock_of_another_voucher_does_not_make_up_for_it),
        cmocka_unit_test(an_unanswered_request_may_still_oversell),
        cmocka_unit_test(a_decrement_that_was_overwritten_is_a_lost_update),
        cmocka_unit_test(stock_that_vanished_is_a_lost_update),
        cmocka_unit_test(the_row_that_the_run_changed_proves_nothing),
        cmocka_unit_test(a_second_order_of_a_user_is_a_duplicate),
        cmocka_unit_test(three_orders_are_two_too_many),
        cmocka_unit_test(a_user_may_buy_two_vouchers),
        cmocka_unit_test(an_unanswered_request_may_still_be_a_duplicate),
        cmocka_unit_test(called_sold_out_with_stock_left_is_undersold),
        cmocka_unit_test(an_order_is_admitted_within_its_window),
        cmocka_unit_test(undersold_is_judged_for_each_voucher),
        cmocka_unit_test(a_number_that_does_not_exist_is_a_phantom),
        cmocka_unit_test(another_users_order_is_a_phantom),
        cmocka_unit_test(two_users_may_choose_the_same_id),
        cmocka_unit_test(an_unanswered_request_excuses_its_own_user),
        cmocka_unit_test(a_wrong_number_is_a_phantom),
        cmocka_unit_test(an_order_that_nobody_knows_is_a_phantom),
        cmocka_unit_test(an_order_of_a_refused_request_is_a_phantom),
        cmocka_unit_test(an_order_of_an_unanswered_request_is_none),
        cmocka_unit_test(without_the_end_of_the_ledger_nobody_knows),
        cmocka_unit_test(a_run_that_sold_nothing_is_never_valid),
        cmocka_unit_test(a_voucher_without_stock_is_never_valid),
        cmocka_unit_test(invalid_is_worse_than_unknown),
        cmocka_unit_test(at_most_ten_examples_are_kept),
        cmocka_unit_test(json_says_unknown_and_not_false),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

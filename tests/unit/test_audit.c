/* SPDX-License-Identifier: MIT */
/* test_audit.c -- hand-made sales, good and bad, for every verdict. */
#include "tests/registered.h"
#include "tests/unit/audited_sale.h"

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

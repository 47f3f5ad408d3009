/* SPDX-License-Identifier: MIT */
/* test_audit_phantoms.c -- the audit finds orders that a client was told of and the
 * database lacks, and the reverse. */
#include "loadtest/audit/lost.h"
#include "tests/registered.h"
#include "tests/unit/audited_sale.h"

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

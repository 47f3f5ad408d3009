/* SPDX-License-Identifier: MIT */
/* audited_sale.h -- a sale that a test makes by hand, and its audit. */
#ifndef TESTS_UNIT_AUDITED_SALE_H
#define TESTS_UNIT_AUDITED_SALE_H

#include <stdio.h>
#include <string.h>

#include "loadtest/audit/audit.h"
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

static inline struct sale begin(int64_t issued, int64_t left)
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
static inline void there(struct sale *s, int64_t id, int64_t user, int64_t voucher)
{
    s->orders[s->order_count++] =
        (struct audit_order){id, user, voucher, request(s, id), "p1", 1500, 1600};
}

/* Add a line of the ledger about the request with that number. */
static inline void told(struct sale *s, enum ledger_what what, int64_t number, int64_t user,
                 int64_t voucher)
{
    s->entries[s->ledger.count++] = (struct ledger_entry){
        what, request(s, number), what == LEDGER_ACCEPTED ? number : 0, user, voucher,
        0,    (int)s->ledger.count};
}

/* Add both: an order that is in the database and in the ledger. */
static inline void sold(struct sale *s, int64_t id, int64_t user, int64_t voucher)
{
    there(s, id, user, voucher);
    told(s, LEDGER_ACCEPTED, id, user, voucher);
}

static inline void judge(struct sale *s)
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
static inline void expect_only(struct sale *s, enum audit_check check, enum verdict valid,
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

static inline void expect_valid(struct sale *s)
{
    expect_only(s, AUDIT_OVERSOLD, VERDICT_VALID, 0);
}

#endif /* TESTS_UNIT_AUDITED_SALE_H */

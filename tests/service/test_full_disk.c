/* SPDX-License-Identifier: MIT */
/* test_full_disk.c -- while PostgreSQL has no disk space, orders get 503, and later
 * orders are sold again. */
#include <stdio.h>
#include <string.h>

#include "tests/service/file_limit.h"
#include "tests/service/rig.h"

enum { TRIES = 200 };

static struct rig_service service;
static struct rig_answer answer;

TEST(a_full_disk_is_503_and_nothing_is_lost)
{
    int64_t voucher = rig_voucher(2 * TRIES);
    int64_t user = 1;
    int accepted = 0;
    bool is_nameless;

    file_limit_prepare();
    assert_true(rig_order(service.orders_port, voucher, user++, &answer));
    assert_int_equal(answer.status, 201);
    accepted++;
    file_limit_set();
    do { /* fill the rest of the last page */
        assert_true(rig_order(service.orders_port, voucher, user++, &answer));
        accepted += answer.status == 201;
    } while (answer.status == 201 && user < TRIES);
    /* PostgreSQL 17 has no SQLSTATE for this limit, as it has one for a full disk. */
    is_nameless = rig_has_logged(&service, "File too large");
    if (answer.status != (is_nameless ? 500 : 503) ||
        strcmp(answer.outcome, is_nameless ? "internal" : "unavailable") != 0)
        fail_msg("%d %s %s; see %s", answer.status, answer.outcome, answer.body, service.log);
    assert_int_equal(is_nameless, strstr(answer.head, "Retry-After: 1\r\n") == NULL);
    assert_int_equal(rig_orders(voucher), accepted);
    assert_int_equal(rig_stock(voucher), 2 * TRIES - accepted);
    file_limit_end();
    assert_true(rig_order(service.orders_port, voucher, user++, &answer));
    assert_int_equal(answer.status, 201);
    assert_int_equal(rig_orders(voucher), accepted + 1);
}

/* A real server raises the errors that pass by themselves, and those that do not. */
TEST(troubles_that_pass_are_told_from_mistakes)
{
    static const struct {
        const char *code;
        enum db_status status;
    } CASES[] = {
        {"53100", DB_UNABLE}, {"53200", DB_UNABLE}, {"53400", DB_UNABLE},
        {"25006", DB_UNABLE}, {"53300", DB_LOST},   {"57P01", DB_LOST},
        {"57P02", DB_LOST},   {"57P03", DB_LOST},   {"40001", DB_CONFLICT},
        {"42P01", DB_ERROR},  {"22012", DB_ERROR},
    };
    char sql[128];

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        (void)snprintf(sql, sizeof(sql),
                       "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '%s'; END $$",
                       CASES[i].code);
        if (db_script(rig_db(), sql) != CASES[i].status)
            fail_msg("%s is not %s", CASES[i].code, db_status_name(CASES[i].status));
    }
}

static int begin(void **state)
{
    (void)state;
    rig_lab_up();
    service = RIG_START("--lock=none");
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_stop(&service);
    rig_lab_down();
    return 0;
}

GROUP(begin, end)

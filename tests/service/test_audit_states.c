/* SPDX-License-Identifier: MIT */
/* test_audit_states.c -- the audit gives databases in known states the expected
 * verdicts.
 *
 * The states are rows of audit_states.def. Each row's SQL fills a database of this program, and its
 * ledger a directory; the audit reads both as `seckill audit` does. Every part of a verdict that a
 * row does not name must be valid.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/issue.h"
#include "loadtest/audit/evidence.h"
#include "loadtest/kit/files.h"
#include "tests/registered.h"
#include "tests/service/scratch_database.h"

enum { FOUND_MAX = 4 };

struct found {
    enum audit_check check;
    enum verdict valid;
};

struct state {
    const char *name, *sql, *ledger, *ledger_2;
    bool is_open; /* a request was sent that may still become an order */
    struct found found[FOUND_MAX];
    int found_count;
};

#define FOUND(check, valid)                                                            \
    {                                                                                  \
        AUDIT_##check, VERDICT_##valid                                                   \
    }
#define STATE(name, sql, ledger, ...)                                                  \
    {name, sql, ledger, NULL, false, {__VA_ARGS__},                                    \
     sizeof((struct found[]){{0}, __VA_ARGS__}) / sizeof(struct found) - 1},
#define OPEN_STATE(name, sql, ledger, ...)                                             \
    {name, sql, ledger, NULL, true, {__VA_ARGS__},                                     \
     sizeof((struct found[]){{0}, __VA_ARGS__}) / sizeof(struct found) - 1},
#define TWO_LEDGERS(name, sql, ledger, ledger_2, ...)                                  \
    {name, sql, ledger, ledger_2, false, {__VA_ARGS__},                                \
     sizeof((struct found[]){{0}, __VA_ARGS__}) / sizeof(struct found) - 1},

static const struct state STATES[] = {
#include "audit_states.def"
};

enum { STATE_COUNT = sizeof STATES / sizeof STATES[0] };
_Static_assert(STATE_COUNT >= 40, "the audit is shown forty states");

/* The sale of every voucher is from 10:00 to 12:00; it was issued at 09:00. */
static const char HELPERS[] =
    "CREATE FUNCTION at(t text) RETURNS timestamptz LANGUAGE sql AS"
    " $$ SELECT ('2026-01-01 ' || t || 'Z')::timestamptz $$;"
    "CREATE FUNCTION issue(v bigint, stock int, remaining int) RETURNS void LANGUAGE sql AS $$"
    " INSERT INTO tb_voucher (id, title, pay_value, actual_value)"
    "  OVERRIDING SYSTEM VALUE VALUES (v, 'state', 1, 2);"
    " INSERT INTO tb_seckill_voucher (voucher_id, stock, begin_time, end_time)"
    "  VALUES (v, remaining, at('10:00'), at('12:00'));"
    " INSERT INTO lab.issue (voucher_id, stock, issued_at, begin_time, end_time)"
    "  VALUES (v, stock, at('09:00'), at('10:00'), at('12:00')) $$;"
    "CREATE FUNCTION buy(o bigint, u bigint, v bigint, admitted text DEFAULT '11:00',"
    "  written text DEFAULT '11:30', request text DEFAULT NULL) RETURNS void"
    " LANGUAGE sql AS $$"
    " INSERT INTO tb_voucher_order (id, user_id, voucher_id, request_id, lock_variant,"
    "  stock_guard, duplicate_guard, process, create_time, admitted_at)"
    " VALUES (o, u, v, coalesce(request, 'r-' || o), 'none', 'conditional', 'none', 'p1',"
    "  at(written), at(admitted)) $$;";

static const char EMPTY[] = "DELETE FROM tb_voucher_order; DELETE FROM tb_seckill_voucher;"
                            "DELETE FROM lab.issue; DELETE FROM tb_voucher";

static char directory[FILES_PATH_MAX];
static lab_db *db;

static void run(lab_db *on, const char *sql)
{
    if (!lab_db_run(on, sql))
        fail_msg("%s: %s", sql, lab_db_error(on));
}

/* Returns 0 if the database was made. The directory of the ledgers is made for each state. */
static int make_database(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/seckill-states-%d", (int)getpid());
    return scratch_database_make("audit_states", &db) && lab_db_run(db, HELPERS) ? 0 : -1;
}

static int drop_database(void **state)
{
    (void)state;
    return scratch_database_drop(&db) && files_remove_tree(directory) ? 0 : -1;
}

static void write_ledger(const char *name, const char *text)
{
    char path[FILES_PATH_MAX];

    files_join(path, directory, name);
    assert_true(files_write(path, text));
}

static void write_ledgers(const struct state *s)
{
    assert_true(files_remove_tree(directory));
    assert_true(files_make_dir(directory));
    write_ledger("ledger-1.tsv", s->ledger);
    if (s->ledger_2)
        write_ledger("ledger-2.tsv", s->ledger_2);
}

static const int64_t VOUCHERS[] = {1, 2};

/* Every state has both vouchers; a voucher that the state does not use is issued, and none of it is
 * sold. */
static void fill(const struct state *s)
{
    run(db, EMPTY);
    run(db, s->sql);
    run(db, "DO $$ BEGIN IF NOT EXISTS (SELECT FROM lab.issue WHERE voucher_id = 2) THEN"
            " PERFORM issue(2, 5, 5); END IF; END $$");
    write_ledgers(s);
}

static void audit(const struct state *s, bool by_files, struct audit_verdict *verdict)
{
    struct evidence_reading reading = {0};
    struct evidence evidence = {0};
    struct ledger ledger;
    struct audit_input input;

    assert_true(evidence_begin(&reading, scratch_database_url()));
    if (by_files)
        assert_true(evidence_export(&reading, VOUCHERS, 2, directory));
    else
        assert_true(evidence_from_database(&evidence, &reading, VOUCHERS, 2));
    assert_true(evidence_end(&reading));
    if (by_files)
        assert_true(evidence_from_files(&evidence, directory));
    assert_true(ledger_read(&ledger, directory));
    input = evidence_input(&evidence, &ledger, !s->is_open);
    audit_judge(&input, verdict);
    ledger_free(&ledger);
    evidence_free(&evidence);
}

static enum verdict expected(const struct state *s, enum audit_check check)
{
    for (int i = 0; i < s->found_count; i++)
        if (s->found[i].check == check)
            return s->found[i].valid;
    return VERDICT_VALID;
}

static int wrong_findings(const struct state *s, const struct audit_verdict *v)
{
    int wrong = 0;

    for (int i = 0; i < AUDIT_CHECK_COUNT; i++) {
        enum verdict wanted = expected(s, (enum audit_check)i);

        if (v->findings[i].valid == wanted)
            continue;
        print_error("%s: %s came out %d, not %d: %s\n", s->name,
                    audit_check_name((enum audit_check)i), (int)v->findings[i].valid,
                    (int)wanted, v->findings[i].examples[0]);
        wrong++;
    }
    return wrong;
}

/* The verdict from the database and the verdict from the files of a run must be the same. */
TEST(every_state_gets_its_verdict)
{
    int wrong = 0;

    for (int i = 0; i < STATE_COUNT; i++) {
        struct audit_verdict live, kept;

        fill(&STATES[i]);
        audit(&STATES[i], false, &live);
        audit(&STATES[i], true, &kept);
        wrong += wrong_findings(&STATES[i], &live) + wrong_findings(&STATES[i], &kept);
    }
    assert_int_equal(wrong, 0);
}

static const struct state CALM = {
    "calm", "SELECT issue(1, 5, 4), buy(1, 1, 1)",
    "accepted\tr-1\t1\t1\t1\nend\t1\t1\t1\t0\n", NULL, false, {{0}}, 0};

/* An order that is committed after the audit has begun to read is not seen, and neither is its
 * unit. */
TEST(all_is_read_at_one_instant)
{
    struct evidence_reading reading = {0};
    struct evidence evidence = {0};

    fill(&CALM);
    assert_true(evidence_begin(&reading, scratch_database_url()));
    run(db, "UPDATE tb_seckill_voucher SET stock = 3 WHERE voucher_id = 1;"
            "SELECT buy(2, 2, 1)");
    assert_true(evidence_from_database(&evidence, &reading, VOUCHERS, 2));
    assert_true(evidence_end(&reading));
    assert_int_equal(evidence.order_count, 1);
    assert_int_equal(evidence.vouchers[0].left, 4);
    evidence_free(&evidence);
}

TEST(a_lost_connection_ends_the_reading)
{
    struct evidence_reading reading = {0};
    struct evidence evidence = {0};
    bool first, again;

    fill(&CALM);
    assert_true(evidence_begin(&reading, scratch_database_url()));
    run(db, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()");
    first = evidence_from_database(&evidence, &reading, VOUCHERS, 2);
    evidence_free(&evidence);
    again = evidence_from_database(&evidence, &reading, VOUCHERS, 2);
    evidence_free(&evidence);
    assert_false(first);
    assert_true(again); /* on a new connection, outside of a snapshot */
    assert_false(evidence_end(&reading));
}

GROUP(make_database, drop_database)

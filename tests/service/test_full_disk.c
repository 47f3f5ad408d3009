/* SPDX-License-Identifier: MIT */
/* test_full_disk.c -- a PostgreSQL that has no room is asked again later, and answers 503.
 *
 * The server's processes get a limit for the size of a file, one half page beyond the
 * orders' table: the next page is written in part, which PostgreSQL calls a full disk.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/service/rig.h"

enum { PAGE_BYTES = 8192, FULL_AT_BYTES = 18 << 20, TRIES = 200 };

static struct rig_service service;
static struct rig_answer answer;

/* The limit of one process; what it may be at most stays as it is. */
static bool limit_one(pid_t pid, rlim_t bytes)
{
    struct rlimit limit;

    if (prlimit(pid, RLIMIT_FSIZE, NULL, &limit) != 0)
        return false;
    limit.rlim_cur = bytes;
    return prlimit(pid, RLIMIT_FSIZE, &limit, NULL) == 0;
}

/* The parent of a process; 0: there is no such process. */
static pid_t parent_of(pid_t pid)
{
    char path[64];
    int parent = 0;
    FILE *file = NULL;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*d %*s %*c %d", &parent) != 1)
        parent = 0;
    (void)fclose(file);
    return parent;
}

/* How many processes of the server were given the limit. */
static int limit_all(pid_t postmaster, rlim_t bytes)
{
    DIR *dir = opendir("/proc");
    int limited = limit_one(postmaster, bytes);

    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

        if (pid > 0 && parent_of(pid) == postmaster)
            limited += limit_one(pid, bytes);
    }
    if (dir != NULL)
        (void)closedir(dir);
    return limited;
}

/* Limit every process of the server, and those that it will start.  Even root may need to
 * be the server's user for that. */
static void limit_files(rlim_t bytes)
{
    pid_t postmaster = rig_lab_pid("postgres");
    char path[64];
    struct stat st;
    int status = -1;
    pid_t child;

    (void)snprintf(path, sizeof(path), "/proc/%d", (int)postmaster);
    assert_int_equal(stat(path, &st), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(setresgid(st.st_gid, st.st_gid, st.st_gid) == 0 &&
                      setresuid(st.st_uid, st.st_uid, st.st_uid) == 0 &&
                      limit_all(postmaster, bytes) > 2
                  ? 0
                  : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int64_t table_bytes(void)
{
    static const struct postgres_statement SIZE = {
        "full_disk_size", "SELECT pg_relation_size('tb_voucher_order')", ""};

    assert_int_equal(db_run_one(rig_db(), &SIZE, NULL), DB_OK);
    return db_int(rig_db(), 0, 0, 0);
}

/* Larger than a segment of the log, which the limit must not meet. */
static void fill_table(int64_t voucher)
{
    static const struct postgres_statement FILL = {
        "full_disk_fill",
        "INSERT INTO tb_voucher_order (user_id, voucher_id, request_id, lock_variant,"
        " stock_guard, duplicate_guard, process)"
        " SELECT n, $1, 'filler', repeat('x', 900), 'none', 'none', 'filler'"
        " FROM generate_series($2, $2 + 4999) AS n",
        "ii"};

    for (int64_t user = 1000000; table_bytes() < FULL_AT_BYTES; user += 5000)
        assert_int_equal(
            db_run_one(rig_db(), &FILL, DB_VALUES(DB_INT(voucher), DB_INT(user))),
            DB_OK);
}

static void a_full_disk_is_503_and_nothing_is_lost(void **state)
{
    int64_t voucher = rig_voucher(2 * TRIES);
    int64_t user = 1;
    int accepted = 0;

    (void)state;
    fill_table(rig_voucher(1));
    assert_true(rig_order(service.orders_port, voucher, user++, &answer));
    assert_int_equal(answer.status, 201);
    accepted++;
    limit_files((rlim_t)table_bytes() + PAGE_BYTES / 2);
    do { /* what is left of the last page */
        assert_true(rig_order(service.orders_port, voucher, user++, &answer));
        accepted += answer.status == 201;
    } while (answer.status == 201 && user < TRIES);
    if (answer.status != 503 || strcmp(answer.outcome, "unavailable") != 0)
        fail_msg("%d %s %s; see %s", answer.status, answer.outcome, answer.body,
                 service.log);
    assert_non_null(strstr(answer.head, "Retry-After: 1\r\n"));
    assert_int_equal(rig_orders(voucher), accepted);
    assert_int_equal(rig_stock(voucher), 2 * TRIES - accepted);
    limit_files(RLIM_INFINITY);
    assert_true(rig_order(service.orders_port, voucher, user++, &answer));
    assert_int_equal(answer.status, 201);
    assert_int_equal(rig_orders(voucher), accepted + 1);
}

/* The server's own words for its troubles, by a real server. */
static void troubles_that_pass_are_told_from_mistakes(void **state)
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

    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_is_503_and_nothing_is_lost),
        cmocka_unit_test(troubles_that_pass_are_told_from_mistakes),
    };

    return cmocka_run_group_tests(tests, begin, end);
}

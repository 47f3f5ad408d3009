/* SPDX-License-Identifier: MIT */
/* test_privileges.c -- a service that root starts does not stay root. */
#include <dirent.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/exit_codes.h"
#include "tests/service/rig.h"

#define USER "nobody"

static void expect_refusal(const char *const *args, const char *words)
{
    char log[4096];
    int status = rig_run(args, log, sizeof(log));

    if (status != EXIT_USAGE || strstr(log, words) == NULL)
        fail_msg("exit status %d and: %s", status, log);
}

/* Read a line of a thread's status. */
static void read_line(pid_t pid, const char *thread, const char *name, char *out,
                      size_t size)
{
    char path[300];
    char line[256];
    FILE *file = NULL;

    out[0] = '\0';
    (void)snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)pid, thread);
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            (void)snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), line);
    if (file != NULL)
        (void)fclose(file);
}

/* Every thread of the service must have this line in its status. Returns the number of threads. */
static int expect_of_threads(pid_t pid, const char *expected)
{
    char path[64];
    char line[256];
    char name[32];
    int count = 0;
    DIR *dir = NULL;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(expected, "\t"), expected);
    dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        read_line(pid, e->d_name, name, line, sizeof(line));
        if (line[0] == '\0')
            continue; /* the thread has ended */
        if (strcmp(line, expected) != 0)
            fail_msg("thread %s: %s instead of %s", e->d_name, line, expected);
        count++;
    }
    (void)closedir(dir);
    return count;
}

static void a_service_becomes_the_user_that_it_is_told(void **state)
{
    static struct rig_answer answer;
    const struct passwd *user = getpwnam(USER);
    unsigned uid = user != NULL ? user->pw_uid : 0;
    unsigned gid = user != NULL ? user->pw_gid : 0;
    struct rig_service s = RIG_START("--user=" USER, "--lock=reentrant");
    int64_t voucher = rig_voucher(1);
    char expected[128];

    (void)state;
    (void)snprintf(expected, sizeof(expected), "Uid:\t%u\t%u\t%u\t%u", uid, uid, uid, uid);
    assert_true(expect_of_threads(s.pid, expected) > 1);
    (void)snprintf(expected, sizeof(expected), "Gid:\t%u\t%u\t%u\t%u", gid, gid, gid, gid);
    assert_true(expect_of_threads(s.pid, expected) > 1);
    (void)snprintf(expected, sizeof(expected), "Groups:\t%u ", gid);
    assert_true(expect_of_threads(s.pid, expected) > 1);
    assert_true(expect_of_threads(s.pid, "CapPrm:\t0000000000000000") > 1);
    assert_true(expect_of_threads(s.pid, "CapEff:\t0000000000000000") > 1);
    assert_true(expect_of_threads(s.pid, "CapAmb:\t0000000000000000") > 1);
    assert_true(rig_order(s.orders_port, voucher, 1, &answer));
    assert_int_equal(answer.status, 201);
    assert_true(rig_admin(&s, "GET", "/readyz", &answer));
    assert_int_equal(answer.status, 200);
    rig_stop(&s);
    assert_int_equal(rig_orders(voucher), 1);
}

static void a_record_directory_of_root_is_refused_and_of_the_user_is_used(void **state)
{
    static struct rig_answer answer;
    const char *flag = rig_record_flag();
    const char *dir = strchr(flag, '/');
    const char *const args[] = {"--user=" USER, "--lock=reentrant", flag, NULL};
    const struct passwd *user = getpwnam(USER);
    char log[4096];
    struct rig_service s;
    struct stat st;
    DIR *records = NULL;
    int count = 0;

    (void)state;
    assert_non_null(user);
    assert_int_not_equal(rig_run(args, log, sizeof(log)), 0);
    if (strstr(log, dir) == NULL || strstr(log, "Permission denied") == NULL)
        fail_msg("%s", log);
    assert_int_equal(chown(dir, user->pw_uid, user->pw_gid), 0);
    s = rig_start(args);
    assert_true(rig_order(s.orders_port, rig_voucher(1), 1, &answer));
    assert_int_equal(answer.status, 201);
    rig_stop(&s);
    records = opendir(dir);
    assert_non_null(records);
    for (struct dirent *e; (e = readdir(records)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        assert_int_equal(fstatat(dirfd(records), e->d_name, &st, 0), 0);
        assert_int_equal(st.st_uid, user->pw_uid);
        count++;
    }
    (void)closedir(records);
    assert_true(count > 0);
}

static void a_user_that_there_is_not_is_refused(void **state)
{
    static const char *const ARGS[] = {"--user=nobody-of-this-name", "--lock=none", NULL};

    (void)state;
    expect_refusal(ARGS, "--user=nobody-of-this-name must be the name of a user of this "
                         "machine: there is none of that name");
}

/* The child is this test program as another user; the service reads the key later. */
static void a_user_that_is_not_root_cannot_become_another(void **state)
{
    static const char *const ARGS[] = {"--user=daemon", "--lock=none", NULL};
    const struct passwd *user = getpwnam(USER);
    bool was_root = geteuid() == 0;

    (void)state;
    assert_non_null(user);
    if (was_root)
        assert_int_equal(setresuid(user->pw_uid, user->pw_uid, 0), 0);
    expect_refusal(ARGS, "--user=daemon needs a start as root, or as daemon");
    if (was_root)
        assert_int_equal(setresuid(0, 0, 0), 0);
}

static void root_that_stays_root_is_told_once(void **state)
{
    struct rig_service s = RIG_START("--lock=none");

    (void)state;
    assert_true(rig_has_logged(&s, "this process stays root: --user=NAME"));
    rig_stop(&s);
}

int main(void)
{
    const struct CMUnitTest as_root[] = {
        cmocka_unit_test(a_service_becomes_the_user_that_it_is_told),
        cmocka_unit_test(a_record_directory_of_root_is_refused_and_of_the_user_is_used),
        cmocka_unit_test(root_that_stays_root_is_told_once),
    };
    const struct CMUnitTest as_anybody[] = {
        cmocka_unit_test(a_user_that_there_is_not_is_refused),
        cmocka_unit_test(a_user_that_is_not_root_cannot_become_another),
    };
    int failed = 0;

    if (geteuid() == 0)
        failed = cmocka_run_group_tests(as_root, NULL, NULL);
    return failed + cmocka_run_group_tests(as_anybody, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* file_limit.c -- sets limits of PostgreSQL's processes from outside. */
#include "tests/service/file_limit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/service/rig.h"

enum { PAGE_BYTES = 8192, FULL_AT_BYTES = 18 << 20 };

/* Set the limit of one process; its hard limit stays. */
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

/* Limit all processes of the server; returns their number. */
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

/* Limit every process of the server, and those that it will start. Even root may need the rights of
 * the server's user for that. */
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

/* Make the table larger than a segment of the WAL, to which the limit must not apply. */
void file_limit_prepare(void)
{
    int64_t voucher = rig_voucher(1);
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

void file_limit_set(void)
{
    limit_files((rlim_t)table_bytes() + PAGE_BYTES / 2);
}

void file_limit_end(void)
{
    limit_files(RLIM_INFINITY);
}

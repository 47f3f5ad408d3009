/* SPDX-License-Identifier: MIT */
/* test_audit_settled.c -- the audit finds the orders that wait in Redis and the services that may
 * still sell. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loadtest/audit/settled.h"
#include "loadtest/kit/interrupt.h"
#include "tests/service/stream_rig.h"

enum { AT_ONCE_MS = 0, SOON_MS = 120000, POLL_US = 10000 };

static struct lab lab;
static lab_db *db;
static char why[SETTLED_WHY_MAX];

static int start_lab(void **state)
{
    char error[512];

    (void)state;
    rig_lab_up();
    return lab_state_read(&lab, getenv("SECKILL_LAB_DIR")) &&
                   lab_db_open(&db, getenv("SECKILL_LAB_DATABASE_URL"), error, sizeof(error))
               ? 0
               : -1;
}

static int stop_lab(void **state)
{
    (void)state;
    lab_db_close(db);
    rig_lab_down();
    return 0;
}

static void expect_reason(const char *part)
{
    if (strstr(why, part) == NULL)
        fail_msg("\"%s\" instead of \"%s\"", why, part);
}

TEST(a_stream_without_an_order_is_drained)
{
    assert_true(settled_wait_drained(&lab, stream_name(), AT_ONCE_MS, false, why));
    (void)STREAM_TEXT("XADD", stream_name(), "*", "order", "1");
    assert_false(settled_wait_drained(&lab, stream_name(), AT_ONCE_MS, false, why));
    expect_reason("1 order waits in the stream ");
    assert_int_equal(STREAM_NUMBER("DEL", stream_name()), 1);
    assert_true(settled_wait_drained(&lab, stream_name(), AT_ONCE_MS, false, why));
}

/* Redis says an error, and not a number. */
TEST(a_key_that_is_no_stream_is_not_drained)
{
    (void)STREAM_TEXT("SET", stream_name(), "text");
    assert_false(settled_wait_drained(&lab, stream_name(), AT_ONCE_MS, false, why));
    expect_reason("Redis did not say");
    assert_int_equal(STREAM_NUMBER("DEL", stream_name()), 1);
}

/* How often Redis was asked for the length of a stream. */
static int64_t questions(void)
{
    return STREAM_NUMBER("EVAL",
                         "local stats = redis.call('INFO', 'commandstats') "
                         "return tonumber(string.match(stats, 'cmdstat_xlen:calls=(%d+)') or 0)",
                         "0");
}

/* In a process of its own that a signal has interrupted: wait until the stream is drained. */
static pid_t wait_after_signal(bool stops)
{
    const char *name = stream_name(); /* with the number of this process */
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    interrupt_catch();
    (void)raise(SIGINT);
    _exit(settled_wait_drained(&lab, name, SOON_MS, stops, why) ? 0 : 1);
}

/* Has the process ended?  A later waitpid() still gets its status. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};

    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    return info.si_pid == pid;
}

TEST(a_signal_ends_only_a_wait_that_it_stops)
{
    int status = 0;
    int64_t before;
    pid_t pid;

    (void)STREAM_TEXT("XADD", stream_name(), "*", "order", "1");
    pid = wait_after_signal(true);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 1);
    before = questions();
    pid = wait_after_signal(false);
    while (questions() < before + 2 && !has_ended(pid))
        (void)usleep(POLL_US);
    assert_int_equal(STREAM_NUMBER("DEL", stream_name()), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(a_silent_redis_is_not_drained)
{
    rig_lab_kill("redis");
    assert_false(settled_wait_drained(&lab, stream_name(), SOON_MS, false, why));
    expect_reason("Redis did not say");
    expect_reason("its server has ended");
    rig_lab_restart("redis");
    assert_true(settled_wait_drained(&lab, stream_name(), SOON_MS, false, why));
}

/* In a process of its own: begin a session as seckilld does, run `sql` there, say so, and wait for
 * the end. */
static void hold_session(const char *sql, int line)
{
    char error[512], host[40] = "", name[128];
    lab_db *session;

    (void)gethostname(host, sizeof(host) - 1);
    (void)snprintf(name, sizeof(name), "SET application_name TO '%s:%d'", host, (int)getpid());
    if (lab_db_open(&session, getenv("SECKILL_DATABASE_URL"), error, sizeof(error)) &&
        lab_db_run(session, name) && lab_db_run(session, sql) && write(line, "x", 1) == 1)
        for (;;)
            (void)pause();
    _exit(1);
}

static pid_t begin_session(const char *sql)
{
    int line[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(line), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        hold_session(sql, line[1]);
    (void)close(line[1]);
    assert_int_equal(read(line[0], &byte, 1), 1);
    (void)close(line[0]);
    return pid;
}

static void end_session(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST(a_stopped_service_is_not_quiet)
{
    pid_t pid = begin_session("SELECT 1");
    int status;

    assert_true(settled_wait_quiet(db, SOON_MS, why));
    assert_int_equal(kill(pid, SIGSTOP), 0);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    assert_false(settled_wait_quiet(db, SOON_MS, why));
    expect_reason("is stopped");
    assert_int_equal(kill(pid, SIGCONT), 0);
    assert_int_equal(waitpid(pid, &status, WCONTINUED), pid);
    assert_true(settled_wait_quiet(db, SOON_MS, why));
    end_session(pid);
}

TEST(a_service_in_a_transaction_is_not_quiet)
{
    pid_t pid = begin_session("BEGIN");

    assert_false(settled_wait_quiet(db, AT_ONCE_MS, why));
    expect_reason("the service works");
    end_session(pid);
    assert_true(settled_wait_quiet(db, SOON_MS, why));
}

/* Else a look at a lock in PostgreSQL would keep the look itself from its end. */
TEST(looks_at_locks_and_probes_keep_no_service_busy)
{
    const char *const looks[] = {"SET application_name = 'dlock-p1'", "SELECT pg_is_in_recovery()"};

    for (int i = 0; i < 2; i++) {
        pid_t pid = begin_session(looks[i]);

        assert_true(settled_wait_quiet(db, AT_ONCE_MS, why));
        end_session(pid);
    }
}

GROUP(start_lab, stop_lab)

/* SPDX-License-Identifier: MIT */
/* test_recorder_ends.c -- the records that are left after the process was killed, or when the file
 * or the disk is full. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/registered.h"
#include "tests/unit/recorder_run.h"

static void put_kill_soon(dlock_recorder *rec)
{
    put_hold(rec, "a", 1);
    begin(rec, DLOCK_EVENT_ACQUIRE, "a", 1);
    raise(SIGKILL);
}

TEST_WITH(make_dir, remove_dir, a_killed_process_leaves_what_it_did)
{
    struct history h;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        put_kill_soon(open_recorder("u1", 0));
        _exit(1);
    }
    assert_int_equal(pid, waitpid(pid, &status, 0));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    h = read_back();
    assert_int_equal(3, h.call_count);
    assert_int_equal(0, h.damage_count);
    assert_false(h.processes[0].is_closed);
    assert_true(h.calls[1].is_answered);
    assert_false(h.calls[2].is_answered);
    assert_int_equal(VERDICT_VALID, judge(&h));
    history_free(&h);
}

TEST_WITH(make_dir, remove_dir, who_is_killed_while_it_releases_leaves_a_call_without_an_answer)
{
    struct history h;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        (void)begin_whole_hold(open_recorder("u1", 0));
        raise(SIGKILL);
    }
    assert_int_equal(pid, waitpid(pid, &status, 0));
    h = read_back();
    assert_int_equal(0, h.damage_count);
    assert_int_equal(2, h.call_count);
    assert_true(h.calls[0].is_answered);
    assert_int_equal(DLOCK_EVENT_RELEASE, h.calls[1].kind);
    assert_false(h.calls[1].is_answered);
    history_free(&h);
}

TEST_WITH(make_dir, remove_dir, what_finds_no_room_is_counted_and_never_valid)
{
    dlock_recorder *rec =
        open_recorder("u1", DLOCK_RECORD_HEADER_SIZE +
                                2 * DLOCK_RECORD_SIZE * DLOCK_RECORD_BLOCK_SLOTS);
    struct history h;

    for (int i = 0; i < 30; i++) /* with OPEN, one of 2 * 31 slots is left */
        put_hold(rec, "a", 1);
    assert_int_equal(0, dlock_recorder_dropped(rec));
    put_hold(rec, "a", 1);
    assert_true(dlock_recorder_dropped(rec) > 0);
    dlock_recorder_close(rec);
    h = read_back();
    assert_int_equal(1, h.damage_count);
    assert_true(h.processes[0].dropped > 0);
    assert_in_range(h.processes[0].dropping_ns, h.calls[h.call_count - 1].invoke_ns,
                    h.processes[0].last_ns + DLOCK_NS_PER_MS * 60000);
    assert_int_equal(VERDICT_UNKNOWN, judge(&h));
    history_free(&h);
}

TEST_WITH(make_dir, remove_dir, a_disk_that_is_full_is_an_error_or_a_count)
{
    struct rlimit limit = {.rlim_cur = (1 << 20) + DLOCK_RECORD_HEADER_SIZE};
    struct history h;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        dlock_recorder_about about = {.variant = "lua", .uuid = "u2"};
        dlock_recorder *rec = open_recorder("u1", 0), *none;

        signal(SIGXFSZ, SIG_IGN);
        limit.rlim_max = limit.rlim_cur;
        setrlimit(RLIMIT_FSIZE, &limit);
        for (int i = 0; i < 6000; i++)
            put_hold(rec, "a", 1);
        limit.rlim_cur = limit.rlim_max = DLOCK_RECORD_HEADER_SIZE;
        setrlimit(RLIMIT_FSIZE, &limit);
        if (dlock_recorder_open(&none, dir, &about) != DLOCK_IO)
            _exit(1);
        _exit(dlock_recorder_dropped(rec) > 0 ? 0 : 2);
    }
    assert_int_equal(pid, waitpid(pid, &status, 0));
    assert_int_equal(0, status);
    h = read_back();
    assert_int_equal(1, h.process_count);
    assert_int_equal(1, h.damage_count);
    assert_non_null(strstr(h.damages[0], strerror(EFBIG)));
    history_free(&h);
}

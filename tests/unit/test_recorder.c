/* SPDX-License-Identifier: MIT */
/* test_recorder.c -- a reader gets every recorded event. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/registered.h"
#include "tests/unit/recorder_run.h"

TEST_WITH(make_dir, remove_dir, every_field_comes_back)
{
    dlock_recorder *rec = open_recorder("u1", 0);
    dlock_event event = {.kind = DLOCK_EVENT_ACQUIRE,
                         .name = "lock:order:42",
                         .number = "17",
                         .mode = DLOCK_MODE_SHARED,
                         .wait_ms = -1,
                         .lease_ms = 300};
    uint8_t token[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                       0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x69, 0x78};
    int64_t before_ns = dlock_clock_ns();
    struct history h;
    uint64_t call;

    call = dlock_recorder_begin(rec, &event);
    event.status = DLOCK_TIMEOUT;
    event.token = TOKEN;
    event.fence = 33;
    event.level = 2;
    event.sent_ns = 5;
    event.deadline_ns = 6;
    dlock_recorder_end(rec, call, &event);
    dlock_recorder_close(rec);
    h = read_back();
    assert_int_equal(1, h.process_count);
    assert_string_equal("u1", h.processes[0].uuid);
    assert_string_equal("lua", h.processes[0].variant);
    assert_int_equal(getpid(), h.processes[0].pid);
    assert_int_equal(HISTORY_TEXT_CAPS, h.processes[0].caps);
    assert_int_equal(300 * DLOCK_NS_PER_MS, h.processes[0].lease_ns);
    assert_true(h.processes[0].watchdog && h.processes[0].is_closed);
    assert_int_equal(1, h.call_count);
    assert_string_equal("lock:order:42", h.names[h.calls[0].name]);
    assert_int_equal(17, h.calls[0].owner);
    assert_int_equal(DLOCK_MODE_SHARED, h.calls[0].mode);
    assert_int_equal(DLOCK_TIMEOUT, h.calls[0].status);
    assert_memory_equal(token, h.calls[0].token, sizeof(token));
    assert_int_equal(33, h.calls[0].fence);
    assert_int_equal(2, h.calls[0].level);
    assert_int_equal(5, h.calls[0].sent_ns);
    assert_int_equal(6, h.calls[0].deadline_ns);
    assert_true(h.calls[0].wait_ns < 0);
    assert_in_range(h.calls[0].invoke_ns, before_ns, h.calls[0].answer_ns);
    assert_in_range(h.calls[0].answer_ns, h.calls[0].invoke_ns, dlock_clock_ns());
    history_free(&h);
}

TEST_WITH(make_dir, remove_dir, a_release_in_the_record_of_its_acquire_is_a_call_of_its_own)
{
    dlock_recorder *rec = open_recorder("u1", 0);
    dlock_event answer = {.status = DLOCK_LOST};
    const struct history_call *calls;
    struct history h;

    dlock_recorder_end(rec, begin_whole_hold(rec), &answer);
    dlock_recorder_close(rec);
    h = read_back();
    calls = h.calls;
    assert_int_equal(0, h.damage_count);
    assert_int_equal(2, h.call_count);
    assert_int_equal(DLOCK_EVENT_ACQUIRE, calls[0].kind);
    assert_int_equal(DLOCK_OK, calls[0].status);
    assert_int_equal(DLOCK_EVENT_RELEASE, calls[1].kind);
    assert_true(calls[1].is_answered);
    assert_int_equal(DLOCK_LOST, calls[1].status);
    assert_int_equal(calls[0].name, calls[1].name);
    assert_int_equal(17, calls[1].owner);
    assert_int_equal(1, calls[1].level);
    assert_int_equal(DLOCK_MODE_SHARED, calls[1].mode);
    assert_memory_equal(calls[0].token, calls[1].token, sizeof(calls[1].token));
    assert_int_equal(0, calls[1].wait_ns);
    assert_int_equal(0, calls[1].deadline_ns);
    assert_in_range(calls[1].invoke_ns, calls[0].answer_ns, calls[1].answer_ns);
    history_free(&h);
}

TEST_WITH(make_dir, remove_dir, names_of_every_length_stay_apart)
{
    dlock_recorder *rec = open_recorder("u1", 0);
    char name[DLOCK_NAME_MAX + 1] = "";
    struct history h;

    for (size_t length = 1; length <= DLOCK_NAME_MAX; length++) {
        memset(name, 'n', length);
        put_hold(rec, name, 1);
        name[length - 1] = 'm';
        put_hold(rec, name, 1);
    }
    dlock_recorder_close(rec);
    h = read_back();
    assert_int_equal(0, h.damage_count);
    assert_int_equal(4 * DLOCK_NAME_MAX, h.call_count);
    for (size_t i = 0; i < h.call_count; i++) {
        size_t length = i / 4 + 1;
        const char *read = h.names[h.calls[i].name];

        assert_int_equal(length, strlen(read));
        assert_int_equal(i % 4 < 2 ? 'n' : 'm', read[length - 1]);
    }
    history_free(&h);
}

enum { THREADS = 8, HOLDS_EACH = 2000 };

static void *work(void *arg)
{
    dlock_recorder *rec = arg;
    static _Atomic uint64_t last_owner;
    uint64_t owner = ++last_owner;
    char name[16];

    snprintf(name, sizeof(name), "lock %d", (int)owner);
    for (int i = 0; i < HOLDS_EACH; i++)
        put_hold(rec, name, owner);
    return NULL;
}

static void lose_nothing_by_many_threads(void)
{
    dlock_recorder *rec = open_recorder("u1", 0);
    pthread_t threads[THREADS];
    struct history h;
    int64_t begun_ns = dlock_clock_ns();

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, work, rec));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("# %.0f ns for a call, with %d threads\n",
           (double)(dlock_clock_ns() - begun_ns) / (2 * THREADS * HOLDS_EACH),
           THREADS);
    dlock_recorder_close(rec);
    h = read_back();
    assert_int_equal(0, h.damage_count);
    assert_int_equal(2 * THREADS * HOLDS_EACH, h.call_count);
    for (size_t i = 0; i < h.call_count; i++)
        assert_true(h.calls[i].is_answered);
    assert_int_equal(VERDICT_VALID, judge(&h));
    history_free(&h);
}

TEST_WITH(make_dir, remove_dir, many_threads_lose_nothing)
{
    lose_nothing_by_many_threads();
}

TEST_WITH(make_dir, remove_dir, a_child_records_nothing)
{
    dlock_recorder *rec = open_recorder("u1", 0);
    struct history h;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        put_hold(rec, "child", 1);
        dlock_recorder_close(rec);
        _exit(0);
    }
    assert_int_equal(pid, waitpid(pid, &status, 0));
    h = read_back();
    assert_int_equal(0, h.call_count);
    assert_false(h.processes[0].is_closed);
    history_free(&h);
    put_hold(rec, "parent", 1);
    dlock_recorder_close(rec);
    h = read_back();
    assert_int_equal(2, h.call_count);
    assert_string_equal("parent", h.names[h.calls[0].name]);
    history_free(&h);
}

TEST_WITH(make_dir, remove_dir, two_recorders_in_a_thread_keep_apart)
{
    dlock_recorder *recs[] = {open_recorder("u1", 0), open_recorder("u2", 0),
                              open_recorder("u3", 0)};
    struct history h;

    for (int i = 0; i < 300; i++)
        put_hold(recs[i % 3], "a", 1);
    for (int i = 0; i < 3; i++)
        dlock_recorder_close(recs[i]);
    h = read_back();
    assert_int_equal(0, h.damage_count);
    assert_int_equal(600, h.call_count);
    assert_int_equal(VERDICT_VALID, judge(&h));
    history_free(&h);
}

static void put_permit(dlock_recorder *rec, dlock_event_kind kind, uint64_t number,
                       const char *token)
{
    dlock_event event = {.kind = kind, .name = "p", .owner = 1, .fence = number,
                         .token = token};
    uint64_t call = dlock_recorder_begin(rec, &event);

    event = (dlock_event){.deadline_ns = dlock_clock_ns() + 1000 * DLOCK_NS_PER_MS};
    dlock_recorder_end(rec, call, &event);
}

TEST_WITH(make_dir, remove_dir, permits_are_read_back_and_judged)
{
    static const char other[] = "ffffffffffffffff0f1e2d3c4b5a6978";
    dlock_recorder *rec = open_recorder("u1", 0);
    struct history h;

    put_permit(rec, DLOCK_EVENT_SEM_SET, 1, NULL);
    put_permit(rec, DLOCK_EVENT_PERMIT_TAKE, 0, TOKEN);
    h = read_back();
    assert_int_equal(1, h.calls[0].fence);
    assert_int_equal(VERDICT_VALID, judge(&h));
    history_free(&h);
    put_permit(rec, DLOCK_EVENT_PERMIT_TAKE, 0, other);
    dlock_recorder_close(rec);
    h = read_back();
    assert_int_equal(0, h.damage_count);
    assert_int_equal(VERDICT_INVALID, judge(&h));
    history_free(&h);
}

/* From now on this process has the answer of a file system that lacks the call. */
static void refuse_fallocate(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

    assert_int_equal(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    assert_int_equal(0, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

TEST_WITH(make_dir, remove_dir, a_file_system_without_fallocate_keeps_a_record)
{
    refuse_fallocate();
    lose_nothing_by_many_threads();
}

TEST_WITH(make_dir, remove_dir, without_a_recorder_nothing_happens)
{
    dlock_event event = {.kind = DLOCK_EVENT_WAIT};

    assert_int_equal(0, dlock_recorder_begin(NULL, &event));
    dlock_recorder_note(NULL, &event);
    dlock_recorder_close(NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_recorder.c -- what is recorded is read again, whatever becomes of who wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loadtest/check.h"
#include "loadtest/files.h"
#include "lock/clock.h"
#include "lock/recorder.h"

#define TOKEN "0123456789abcdef0f1e2d3c4b5a6978"

static char dir[] = "/tmp/seckill-recorder-XXXXXX";

static int make_dir(void **state)
{
    (void)state;
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int remove_dir(void **state)
{
    (void)state;
    return files_remove_tree(dir) ? 0 : 1;
}

static dlock_recorder *open_recorder(const char *uuid, int64_t limit_bytes)
{
    dlock_recorder_about about = {.variant = "lua",
                                  .uuid = uuid,
                                  .caps = HISTORY_TEXT_CAPS,
                                  .lease_ms = 300,
                                  .watchdog = true,
                                  .limit_bytes = limit_bytes};
    dlock_recorder *rec = NULL;

    assert_int_equal(DLOCK_OK, dlock_recorder_open(&rec, dir, &about));
    return rec;
}

static uint64_t begin(dlock_recorder *rec, dlock_event_kind kind, const char *name,
                      uint64_t owner)
{
    dlock_event event = {.kind = kind, .name = name, .owner = owner};

    return dlock_recorder_begin(rec, &event);
}

static void end(dlock_recorder *rec, uint64_t owner, uint64_t call)
{
    dlock_event event = {.owner = owner,
                         .level = 1,
                         .deadline_ns = dlock_clock_ns() + 1000 * DLOCK_NS_PER_MS};

    dlock_recorder_end(rec, call, &event);
}

static void put_hold(dlock_recorder *rec, const char *name, uint64_t owner)
{
    end(rec, owner, begin(rec, DLOCK_EVENT_ACQUIRE, name, owner));
    end(rec, owner, begin(rec, DLOCK_EVENT_RELEASE, name, owner));
}

static void put_kill_soon(dlock_recorder *rec)
{
    put_hold(rec, "a", 1);
    begin(rec, DLOCK_EVENT_ACQUIRE, "a", 1);
    raise(SIGKILL);
}

static struct history read_back(void)
{
    struct history h = {0};

    assert_true(history_read(&h, dir));
    return h;
}

static enum check_valid judge(const struct history *h)
{
    struct check_options options = check_options_default();
    struct check *c = check_new();
    struct check_verdict verdict;

    check_judge(c, h, &options, &verdict);
    check_free(c);
    return verdict.valid;
}

static void every_field_comes_back(void **state)
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

    (void)state;
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

static void names_of_every_length_stay_apart(void **state)
{
    dlock_recorder *rec = open_recorder("u1", 0);
    char name[DLOCK_NAME_MAX + 1] = "";
    struct history h;

    (void)state;
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

static void a_killed_process_leaves_what_it_did(void **state)
{
    struct history h;
    int status;
    pid_t pid = fork();

    (void)state;
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
    assert_int_equal(CHECK_VALID, judge(&h));
    history_free(&h);
}

static void what_finds_no_room_is_counted_and_never_valid(void **state)
{
    dlock_recorder *rec =
        open_recorder("u1", DLOCK_RECORD_HEADER_SIZE +
                                2 * DLOCK_RECORD_SIZE * DLOCK_RECORD_BLOCK_SLOTS);
    struct history h;

    (void)state;
    for (int i = 0; i < 31; i++)
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
    assert_int_equal(CHECK_UNKNOWN, judge(&h));
    history_free(&h);
}

static dlock_record_header *map_records(const char *uuid, size_t *size)
{
    char path[FILES_PATH_MAX];
    void *map;
    int fd;

    files_path(path, "%s/%s" DLOCK_RECORD_SUFFIX, dir, uuid);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    *size = (size_t)lseek(fd, 0, SEEK_END);
    map = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(MAP_FAILED, map);
    close(fd);
    return map;
}

/* Take the commit word of the release away. */
static void tear(const char *uuid, bool is_closed)
{
    size_t size;
    dlock_record_header *header = map_records(uuid, &size);
    dlock_record *slots = (dlock_record *)((char *)header + DLOCK_RECORD_HEADER_SIZE);

    slots[2].commit = 0; /* after OPEN and the acquire */
    if (!is_closed)
        header->closed_ns = 0;
    munmap(header, size);
}

static void a_torn_record_never_happened_if_its_process_was_killed(void **state)
{
    dlock_recorder *rec = open_recorder("u1", 0);
    struct history h;

    (void)state;
    put_hold(rec, "a", 1);
    dlock_recorder_close(rec);
    tear("u1", false);
    h = read_back();
    assert_int_equal(0, h.damage_count);
    assert_int_equal(1, h.call_count);
    history_free(&h);
}

static void a_torn_record_in_a_complete_file_is_damage(void **state)
{
    dlock_recorder *rec = open_recorder("u1", 0);
    struct history h;

    (void)state;
    put_hold(rec, "a", 1);
    dlock_recorder_close(rec);
    tear("u1", true);
    h = read_back();
    assert_int_equal(1, h.damage_count);
    assert_int_equal(CHECK_UNKNOWN, judge(&h));
    history_free(&h);
}

static void another_version_is_not_read(void **state)
{
    size_t size;
    dlock_record_header *header;
    struct history h;

    (void)state;
    dlock_recorder_close(open_recorder("u1", 0));
    header = map_records("u1", &size);
    header->version++;
    munmap(header, size);
    h = read_back();
    assert_int_equal(0, h.process_count);
    assert_int_equal(1, h.damage_count);
    history_free(&h);
}

static void a_disk_that_is_full_is_an_error_or_a_count(void **state)
{
    struct rlimit limit = {.rlim_cur = (1 << 20) + DLOCK_RECORD_HEADER_SIZE};
    struct history h;
    int status;
    pid_t pid = fork();

    (void)state;
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

static void many_threads_lose_nothing(void **state)
{
    dlock_recorder *rec = open_recorder("u1", 0);
    pthread_t threads[THREADS];
    struct history h;
    int64_t begun_ns = dlock_clock_ns();

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, work, rec));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("# %.0f ns for a call, with %d threads\n",
           (double)(dlock_clock_ns() - begun_ns) / (2.0 * THREADS * HOLDS_EACH),
           THREADS);
    dlock_recorder_close(rec);
    h = read_back();
    assert_int_equal(0, h.damage_count);
    assert_int_equal(2 * THREADS * HOLDS_EACH, h.call_count);
    for (size_t i = 0; i < h.call_count; i++)
        assert_true(h.calls[i].is_answered);
    assert_int_equal(CHECK_VALID, judge(&h));
    history_free(&h);
}

static void a_child_records_nothing(void **state)
{
    dlock_recorder *rec = open_recorder("u1", 0);
    struct history h;
    int status;
    pid_t pid = fork();

    (void)state;
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

static void two_recorders_in_a_thread_keep_apart(void **state)
{
    dlock_recorder *recs[] = {open_recorder("u1", 0), open_recorder("u2", 0),
                              open_recorder("u3", 0)};
    struct history h;

    (void)state;
    for (int i = 0; i < 300; i++)
        put_hold(recs[i % 3], "a", 1);
    for (int i = 0; i < 3; i++)
        dlock_recorder_close(recs[i]);
    h = read_back();
    assert_int_equal(0, h.damage_count);
    assert_int_equal(600, h.call_count);
    assert_int_equal(CHECK_VALID, judge(&h));
    history_free(&h);
}

static void without_a_recorder_nothing_happens(void **state)
{
    dlock_event event = {.kind = DLOCK_EVENT_WAIT};

    (void)state;
    assert_int_equal(0, dlock_recorder_begin(NULL, &event));
    dlock_recorder_note(NULL, &event);
    dlock_recorder_close(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_field_comes_back),
        TEST(names_of_every_length_stay_apart),
        TEST(a_killed_process_leaves_what_it_did),
        TEST(what_finds_no_room_is_counted_and_never_valid),
        TEST(a_torn_record_never_happened_if_its_process_was_killed),
        TEST(a_torn_record_in_a_complete_file_is_damage),
        TEST(another_version_is_not_read),
        TEST(a_disk_that_is_full_is_an_error_or_a_count),
        TEST(many_threads_lose_nothing),
        TEST(a_child_records_nothing),
        TEST(two_recorders_in_a_thread_keep_apart),
        TEST(without_a_recorder_nothing_happens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

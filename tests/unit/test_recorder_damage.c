/* SPDX-License-Identifier: MIT */
/* test_recorder_damage.c -- altered files of records: the records that are read, and the damage
 * that is reported. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lock/record/seal.h"
#include "tests/registered.h"
#include "tests/unit/recorder_run.h"

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

static dlock_record *slots_of(dlock_record_header *header)
{
    return (dlock_record *)((char *)header + DLOCK_RECORD_HEADER_SIZE);
}

/* Compute the checksum of every block, as if a recorder had written the present bytes. */
static void seal_anew(dlock_record_header *header)
{
    for (uint64_t block = 0; block < header->blocks; block++) {
        dlock_record_seal *seal = dlock_record_seal_of(slots_of(header), block);

        seal->checksum = dlock_record_seal_sum(slots_of(header), block);
    }
    header->close_checksum = dlock_record_close_sum(header);
}

/* Make the file as a killed process leaves it. */
static void open_again(dlock_record_header *header)
{
    header->closed_ns = 0;
    header->close_checksum = 0;
    for (uint64_t block = 0; block < header->blocks; block++)
        dlock_record_seal_open(slots_of(header), block, 1);
}

/* Remove the commit word of the release. */
static void tear(const char *uuid, bool is_closed)
{
    size_t size;
    dlock_record_header *header = map_records(uuid, &size);

    slots_of(header)[2].commit = 0; /* the slots before it are OPEN and the acquire */
    if (is_closed)
        seal_anew(header);
    else
        open_again(header);
    munmap(header, size);
}

TEST_WITH(make_dir, remove_dir, a_torn_record_never_happened_if_its_process_was_killed)
{
    dlock_recorder *rec = open_recorder("u1", 0);
    struct history h;

    put_hold(rec, "a", 1);
    dlock_recorder_close(rec);
    tear("u1", false);
    h = read_back();
    assert_int_equal(0, h.damage_count);
    assert_int_equal(1, h.call_count);
    history_free(&h);
}

TEST_WITH(make_dir, remove_dir, a_torn_record_in_a_complete_file_is_damage)
{
    dlock_recorder *rec = open_recorder("u1", 0);
    struct history h;

    put_hold(rec, "a", 1);
    dlock_recorder_close(rec);
    tear("u1", true);
    h = read_back();
    assert_int_equal(1, h.damage_count);
    assert_int_equal(VERDICT_UNKNOWN, judge(&h));
    history_free(&h);
}

/* Records that no recorder writes; random input has found them. */
static void spoil_mode(dlock_record *acquire) { acquire->mode = 2; }
static void spoil_status(dlock_record *acquire) { acquire->status = 99; }
static void spoil_kind(dlock_record *acquire) { acquire->kind = 77; }
static void spoil_time(dlock_record *acquire) { acquire->time_ns = INT64_MAX - 1; }
static void spoil_deadline(dlock_record *acquire) { acquire->deadline_ns = INT64_MIN; }
static void spoil_answer(dlock_record *acquire)
{
    acquire->answer_ns = acquire->time_ns - 1;
}
static void spoil_sent(dlock_record *acquire) { acquire->sent_ns = acquire->answer_ns + 1; }
static void spoil_wait(dlock_record *acquire) { acquire->wait_ms = -7; }
static void spoil_release(dlock_record *acquire)
{
    acquire->commit = DLOCK_RECORD_RELEASING + 1;
    acquire->release_ns = acquire->answer_ns - 1;
}
static void spoil_release_of_nothing(dlock_record *acquire)
{
    acquire->commit = DLOCK_RECORD_RELEASING + 1;
    acquire->release_ns = acquire->answer_ns;
    acquire->status = (uint8_t)DLOCK_BUSY;
}
static void spoil_released(dlock_record *acquire)
{
    acquire->commit = DLOCK_RECORD_RELEASED + 1;
    acquire->release_ns = acquire->answer_ns + 2;
    acquire->released_ns = acquire->answer_ns + 1;
}
static void spoil_phase(dlock_record *acquire)
{
    acquire->kind = DLOCK_EVENT_FAULT;
    acquire->detail = 1000000;
}
static void spoil_trace(dlock_record *acquire)
{
    acquire->kind = DLOCK_EVENT_TRACE;
    acquire->name_length = 0;
}
static void spoil_assumption(dlock_record *acquire)
{
    acquire->kind = DLOCK_EVENT_FAULT;
    acquire->detail = DLOCK_FAULT_HAPPENED;
    acquire->level = DLOCK_ASSUMPTION_COUNT;
}

TEST_WITH(make_dir, remove_dir, a_record_that_no_recorder_writes_is_damage)
{
    static void (*const spoilers[])(dlock_record *) = {
        spoil_mode,     spoil_status, spoil_kind,      spoil_time,
        spoil_deadline, spoil_phase,  spoil_assumption,
        spoil_answer,   spoil_sent,   spoil_wait,      spoil_release,
        spoil_released, spoil_release_of_nothing, spoil_trace};

    for (size_t i = 0; i < sizeof(spoilers) / sizeof(spoilers[0]); i++) {
        dlock_recorder *rec = open_recorder("u1", 0);
        size_t size;
        dlock_record_header *header;
        dlock_record *slots;
        char path[FILES_PATH_MAX];
        struct history h;

        put_hold(rec, "a", 1);
        dlock_recorder_close(rec);
        header = map_records("u1", &size);
        slots = slots_of(header);
        slots[1].commit = DLOCK_RECORD_DONE + 1; /* the acquire, after the slot OPEN */
        spoilers[i](&slots[1]);
        seal_anew(header);
        munmap(header, size);
        h = read_back();
        assert_int_equal(1, h.damage_count);
        assert_int_equal(1, h.call_count); /* the release */
        assert_int_equal(1, h.nonsense_count);
        assert_non_null(strstr(h.damages[0], "u1" DLOCK_RECORD_SUFFIX ": byte 4224, "));
        assert_non_null(strstr(h.damages[0], "expected "));
        assert_int_equal(VERDICT_UNKNOWN, judge(&h));
        history_free(&h);
        files_path(path, "%s/u1" DLOCK_RECORD_SUFFIX, dir);
        assert_int_equal(0, unlink(path));
    }
}

TEST_WITH(make_dir, remove_dir, the_same_file_twice_is_no_second_owner)
{
    char path[FILES_PATH_MAX], copy[FILES_PATH_MAX];
    dlock_recorder *rec = open_recorder("u1", 0);
    struct history h;

    put_hold(rec, "a", 1);
    dlock_recorder_close(rec);
    files_path(path, "%s/u1" DLOCK_RECORD_SUFFIX, dir);
    files_path(copy, "%s/u2" DLOCK_RECORD_SUFFIX, dir);
    assert_int_equal(0, link(path, copy));
    h = read_back();
    assert_int_equal(2, h.call_count);
    assert_int_equal(1, h.nonsense_count);
    assert_non_null(strstr(h.damages[0], "u2" DLOCK_RECORD_SUFFIX ": byte "));
    assert_int_equal(VERDICT_UNKNOWN, judge(&h));
    history_free(&h);
}

TEST_WITH(make_dir, remove_dir, a_release_in_the_record_of_something_else_is_damage)
{
    dlock_recorder *rec = open_recorder("u1", 0);
    dlock_record_header *header;
    struct history h;
    size_t size;

    (void)begin_whole_hold(rec);
    dlock_recorder_close(rec);
    header = map_records("u1", &size);
    slots_of(header)[1].kind = DLOCK_EVENT_RENEW;
    seal_anew(header);
    munmap(header, size);
    h = read_back();
    assert_int_equal(0, h.call_count);
    assert_int_equal(1, h.damage_count);
    history_free(&h);
}

TEST_WITH(make_dir, remove_dir, what_a_checksum_shows_is_a_hole)
{
    dlock_recorder *rec = open_recorder("u1", 0);
    dlock_record_header *header;
    struct history h;
    size_t size;

    for (int i = 0; i < 40; i++)
        put_hold(rec, "a", 1);
    dlock_recorder_close(rec);
    h = read_back();
    assert_int_equal(VERDICT_VALID, judge(&h));
    history_free(&h);
    header = map_records("u1", &size);
    slots_of(header)[40].fence ^= 1; /* a slot of the second block */
    munmap(header, size);
    h = read_back();
    assert_int_equal(0, h.nonsense_count);
    assert_non_null(strstr(h.damages[0], "u1" DLOCK_RECORD_SUFFIX ": byte 8192: "));
    assert_int_equal(VERDICT_UNKNOWN, judge(&h));
    history_free(&h);
}

/* Two systems hold one lock at once; their clocks begin at the same instant, or at different
 * ones. */
static enum verdict judge_two_holders(bool share_clock)
{
    dlock_recorder *a = open_recorder("u1", 0), *b = open_recorder("u2", 0);
    dlock_record_header *header;
    enum verdict verdict;
    struct history h;
    size_t size;

    end(a, 1, begin(a, DLOCK_EVENT_ACQUIRE, "a", 1));
    put_hold(b, "a", 1);
    end(a, 1, begin(a, DLOCK_EVENT_RELEASE, "a", 1));
    dlock_recorder_close(a);
    dlock_recorder_close(b);
    header = map_records("u2", &size);
    if (!share_clock)
        header->boot[0] ^= 1;
    header->head_checksum = dlock_record_head_sum(header);
    munmap(header, size);
    h = read_back();
    assert_int_equal(2, h.process_count);
    verdict = judge(&h);
    history_free(&h);
    return verdict;
}

TEST_WITH(make_dir, remove_dir, instants_of_two_clocks_are_not_compared)
{
    assert_int_equal(VERDICT_INVALID, judge_two_holders(true));
    assert_int_equal(0, files_remove_tree(dir) ? make_dir(state) : 1);
    assert_int_equal(VERDICT_UNKNOWN, judge_two_holders(false));
}

TEST_WITH(make_dir, remove_dir, another_version_is_not_read)
{
    size_t size;
    dlock_record_header *header;
    struct history h;

    dlock_recorder_close(open_recorder("u1", 0));
    header = map_records("u1", &size);
    header->version++;
    munmap(header, size);
    h = read_back();
    assert_int_equal(0, h.process_count);
    assert_int_equal(1, h.damage_count);
    history_free(&h);
}

/* SPDX-License-Identifier: MIT */
/* record.c -- the records of the calls. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/record/record.h"
#include "tests/primitives/rig.h"

enum { SLOTS_READ = DLOCK_RECORD_BLOCK_RECORDS };

/* The first records of the only file in DIR, which are those of this thread. */
static void read_slots(const char *dir, dlock_record slots[SLOTS_READ])
{
    DIR *entries = opendir(dir);
    const struct dirent *entry;
    char path[512] = "";
    FILE *file;

    assert_non_null(entries);
    while ((entry = readdir(entries)) != NULL)
        if (strstr(entry->d_name, DLOCK_RECORD_SUFFIX) != NULL)
            snprintf(path, sizeof(path), "%s/%.255s", dir, entry->d_name);
    closedir(entries);
    file = fopen(path, "rbe");
    assert_non_null(file);
    assert_int_equal(0, fseek(file, DLOCK_RECORD_HEADER_SIZE, SEEK_SET));
    assert_int_equal(SLOTS_READ, fread(slots, sizeof(slots[0]), SLOTS_READ, file));
    fclose(file);
    assert_int_equal(0, unlink(path));
    assert_int_equal(0, rmdir(dir));
}

struct expected {
    int kind, status;
    uint64_t number;
};

static void compare(const dlock_record *slots, const struct expected *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const dlock_record *record = &slots[1 + i]; /* after OPEN */

        assert_int_equal(DLOCK_RECORD_DONE + 1 + i, record->commit);
        assert_int_equal(wanted[i].kind, record->kind);
        assert_int_equal(wanted[i].status, record->status);
        assert_int_equal(wanted[i].number, record->fence);
        assert_int_not_equal(0, record->owner);
        assert_true(record->answer_ns >= record->time_ns);
    }
}

static void every_call_is_recorded(void **state)
{
    static const struct expected wanted[] = {
        {DLOCK_EVENT_SEM_SET, DLOCK_OK, 3},       {DLOCK_EVENT_SEM_SET, DLOCK_BUSY, 5},
        {DLOCK_EVENT_SEM_TAKE, DLOCK_OK, 2},      {DLOCK_EVENT_SEM_TAKE, DLOCK_BUSY, 2},
        {DLOCK_EVENT_SEM_GIVE, DLOCK_OK, 2},      {DLOCK_EVENT_SEM_ADD, DLOCK_OK, 1},
        {DLOCK_EVENT_SEM_DRAIN, DLOCK_OK, 4},     {DLOCK_EVENT_SEM_SET, DLOCK_OK, 1},
        {DLOCK_EVENT_PERMIT_TAKE, DLOCK_OK, 0},   {DLOCK_EVENT_PERMIT_TAKE, DLOCK_BUSY, 0},
        {DLOCK_EVENT_PERMIT_RENEW, DLOCK_OK, 0},  {DLOCK_EVENT_PERMIT_GIVE, DLOCK_OK, 0},
        {DLOCK_EVENT_PERMIT_GIVE, DLOCK_LOST, 0}, {DLOCK_EVENT_LATCH_SET, DLOCK_OK, 2},
        {DLOCK_EVENT_LATCH_COUNT, DLOCK_OK, 1},   {DLOCK_EVENT_LATCH_WAIT, DLOCK_BUSY, 0},
        {DLOCK_EVENT_LATCH_COUNT, DLOCK_OK, 0},   {DLOCK_EVENT_LATCH_WAIT, DLOCK_OK, 0},
        {DLOCK_EVENT_LATCH_DELETE, DLOCK_LOST, 0},
    };
    char dir[] = "/tmp/seckill-primitives-XXXXXX";
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    dlock_record slots[SLOTS_READ];
    dlock_permit permit, other;
    int64_t number;

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_status(OK, dlock_primitives_record(prims, dir));
    assert_status(INVALID, dlock_primitives_record(prims, dir));
    assert_status(OK, dlock_semaphore_set(prims, "s", 3));
    assert_status(BUSY, dlock_semaphore_set(prims, "s", 5));
    assert_status(OK, dlock_semaphore_acquire(prims, "s", 2, 0));
    assert_status(BUSY, dlock_semaphore_acquire(prims, "s", 2, 0));
    assert_status(OK, dlock_semaphore_release(prims, "s", 2));
    assert_status(OK, dlock_semaphore_add(prims, "s", 1));
    assert_status(OK, dlock_semaphore_drain(prims, "s", &number));
    assert_status(OK, dlock_permits_set(prims, "p", 1));
    assert_status(OK, dlock_permits_acquire(prims, "p", 0, LONG_LEASE_MS, &permit));
    assert_status(BUSY, dlock_permits_acquire(prims, "p", 0, LONG_LEASE_MS, &other));
    assert_status(OK, dlock_permits_renew(prims, "p", &permit, LONG_LEASE_MS));
    assert_status(OK, dlock_permits_release(prims, "p", &permit));
    assert_status(LOST, dlock_permits_release(prims, "p", &permit));
    assert_status(OK, dlock_latch_set(prims, "l", 2));
    assert_status(OK, dlock_latch_count_down(prims, "l", NULL));
    assert_status(BUSY, dlock_latch_wait(prims, "l", 0));
    assert_status(OK, dlock_latch_count_down(prims, "l", &number));
    assert_status(OK, dlock_latch_wait(prims, "l", -1));
    assert_status(LOST, dlock_latch_delete(prims, "l"));
    read_slots(dir, slots);
    compare(slots, wanted, sizeof(wanted) / sizeof(wanted[0]));
    assert_memory_equal(slots[9].token, slots[11].token, sizeof(slots[9].token));
    assert_true(slots[9].deadline_ns > slots[9].answer_ns);
    assert_true(slots[11].deadline_ns >= slots[9].deadline_ns);
}

enum { BRIEF_MS = 50 };

static dlock_status resume_later(void *unused)
{
    (void)unused;
    rig_pause_ms(4 * BRIEF_MS); /* until the end of a brief lease, by the clock */
    servers_signal(0, 1, SIGCONT);
    return DLOCK_OK;
}

/* The server was stopped for longer than the lease, so the permit was granted too late, and is
 * given back. The record has the caller's answer, and tells that a permit was away. */
static void a_late_grant_is_recorded_as_it_is_answered(void **state)
{
    char dir[] = "/tmp/seckill-primitives-XXXXXX";
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    dlock_record slots[SLOTS_READ];
    dlock_permit permit;
    struct prim_call *resuming;

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_status(OK, dlock_permits_set(prims, "p", 1));
    assert_status(OK, dlock_primitives_record(prims, dir));
    servers_signal(0, 1, SIGSTOP);
    resuming = prim_begin(resume_later, NULL);
    assert_status(TIMEOUT, dlock_permits_acquire(prims, "p", 0, BRIEF_MS, &permit));
    assert_status(OK, prim_end(resuming));
    read_slots(dir, slots);
    for (size_t i = 0; i < SLOTS_READ; i++)
        if (slots[i].kind == DLOCK_EVENT_PERMIT_TAKE) {
            assert_int_equal(DLOCK_TIMEOUT, slots[i].status);
            assert_true(slots[i].deadline_ns > 0);
            return;
        }
    fail_msg("the acquire is not recorded");
}

static void every_call_is_counted(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS);
    dlock_metrics now;
    dlock_permit permit;

    (void)state;
    dlock_primitives_metrics_read(NULL, &now);
    assert_int_equal(0, now.acquires[DLOCK_OK]);
    assert_status(OK, dlock_permits_set(prims, "p", 1));
    assert_status(OK, dlock_permits_acquire(prims, "p", 0, LONG_LEASE_MS, &permit));
    dlock_primitives_metrics_read(prims, &now);
    assert_int_equal(1, now.acquires[DLOCK_OK]);
    assert_int_equal(1, now.acquire_commands);
    assert_int_equal(1, now.other_commands);
    assert_status(BUSY, dlock_permits_acquire(prims, "p", 0, LONG_LEASE_MS, &permit));
    assert_status(BUSY, dlock_semaphore_acquire(prims, "s", 1, 0));
    assert_status(OK, dlock_latch_wait(prims, "l", 0));
    assert_status(TIMEOUT, dlock_permits_acquire(prims, "p", 1, LONG_LEASE_MS, &permit));
    assert_status(OK, dlock_permits_renew(prims, "p", &permit, LONG_LEASE_MS));
    assert_status(OK, dlock_permits_release(prims, "p", &permit));
    assert_status(LOST, dlock_permits_renew(prims, "p", &permit, LONG_LEASE_MS));
    dlock_primitives_metrics_read(prims, &now);
    assert_int_equal(2, now.acquires[DLOCK_OK]);
    assert_int_equal(2, now.acquires[DLOCK_BUSY]);
    assert_int_equal(1, now.acquires[DLOCK_TIMEOUT]);
    assert_int_equal(1, now.renewals);
    assert_int_equal(1, now.renewals_failed);
    assert_int_equal(4, now.other_commands);
}

static void a_check_names_missing_rights(void **state)
{
    dlock_primitives *prims = prim_open(TIMEOUT_MS), *refused = NULL;
    const redisReply *path = servers_tell(0, "CONFIG GET unixsocket");
    char url[256];

    (void)state;
    snprintf(url, sizeof(url), "unix://%s", path->element[1]->str);
    assert_status(OK, dlock_primitives_check(prims));
    servers_tell(0, "ACL SETUSER default -zcount");
    assert_status(PROTOCOL, dlock_primitives_check(prims));
    assert_non_null(strstr(dlock_error(), "the user has no right to ZCOUNT"));
    assert_status(PROTOCOL, dlock_primitives_open(&refused, url, TIMEOUT_MS));
    assert_null(refused);
    servers_tell(0, "ACL SETUSER default resetkeys resetchannels -@all +acl +ping +eval +evalsha "
                    "+script|load ~p ~{p}:* ~redisson_sc:* +get +setnx +incr +incrby +decr +decrby "
                    "+del +pexpire +pttl +zadd +zcard +zcount +zrange +zrangebyscore +zrem +zscore "
                    "+publish +subscribe +unsubscribe");
    assert_status(OK, dlock_primitives_check(prims));
    assert_status(OK, dlock_permits_set(prims, "p", 1));
    assert_status(INVALID, dlock_primitives_check(NULL));
}

const struct CMUnitTest prim_record_tests[] = {
    PRIM_TEST(a_check_names_missing_rights),
    PRIM_TEST(every_call_is_counted),
    PRIM_TEST(a_late_grant_is_recorded_as_it_is_answered),
    PRIM_TEST(every_call_is_recorded),
};
const size_t prim_record_count = sizeof(prim_record_tests) / sizeof(prim_record_tests[0]);

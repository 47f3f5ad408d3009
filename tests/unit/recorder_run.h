/* SPDX-License-Identifier: MIT */
/* recorder_run.h -- a directory of records; functions that write records there and read them. */
#ifndef TESTS_UNIT_RECORDER_RUN_H
#define TESTS_UNIT_RECORDER_RUN_H

#include <stdlib.h>
#include <string.h>

#include "loadtest/check/check.h"
#include "loadtest/kit/files.h"
#include "base/os/clock.h"
#include "lock/record/recorder.h"
#include "tests/registered.h"

#define TOKEN "0123456789abcdef0f1e2d3c4b5a6978"

static char dir[] = "/tmp/seckill-recorder-XXXXXX";

static inline int make_dir(void **state)
{
    (void)state;
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    return mkdtemp(dir) == NULL;
}

static inline int remove_dir(void **state)
{
    (void)state;
    return files_remove_tree(dir) ? 0 : 1;
}

static inline dlock_recorder *open_recorder(const char *uuid, int64_t limit_bytes)
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

static inline uint64_t begin(dlock_recorder *rec, dlock_event_kind kind, const char *name,
                      uint64_t owner)
{
    dlock_event event = {.kind = kind, .name = name, .owner = owner};

    return dlock_recorder_begin(rec, &event);
}

static inline void end(dlock_recorder *rec, uint64_t owner, uint64_t call)
{
    dlock_event event = {.owner = owner,
                         .level = 1,
                         .deadline_ns = dlock_clock_ns() + 1000 * DLOCK_NS_PER_MS};

    dlock_recorder_end(rec, call, &event);
}

static inline void put_hold(dlock_recorder *rec, const char *name, uint64_t owner)
{
    end(rec, owner, begin(rec, DLOCK_EVENT_ACQUIRE, name, owner));
    end(rec, owner, begin(rec, DLOCK_EVENT_RELEASE, name, owner));
}

/* Acquire, and begin to release in the same record. */
static inline uint64_t begin_whole_hold(dlock_recorder *rec)
{
    dlock_event event = {.kind = DLOCK_EVENT_ACQUIRE,
                         .name = "a name that goes on in another slot",
                         .number = "17",
                         .level = 1,
                         .mode = DLOCK_MODE_SHARED,
                         .wait_ms = 5,
                         .token = TOKEN};
    uint64_t acquire = dlock_recorder_begin(rec, &event);

    event.deadline_ns = dlock_clock_ns() + 1000 * DLOCK_NS_PER_MS;
    dlock_recorder_end(rec, acquire, &event);
    return dlock_recorder_begin_release(rec, acquire, 0);
}

static inline struct history read_back(void)
{
    struct history h = {0};

    assert_true(history_read(&h, dir));
    return h;
}

static inline enum verdict judge(const struct history *h)
{
    struct check_options options = check_options_default();
    struct check *c = check_new();
    struct check_verdict verdict;

    check_judge(c, h, &options, &verdict);
    check_free(c);
    return verdict.valid;
}

#endif /* TESTS_UNIT_RECORDER_RUN_H */

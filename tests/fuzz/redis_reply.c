/* SPDX-License-Identifier: MIT */
/* redis_reply.c -- fuzz: replies of a server, compared with the shapes of all commands and
 * scripts. */
#include "base/redis/reader.h"
#include "lock/info.h"
#include "lock/stores/redis_shapes.h"
#include "tests/fuzz/fuzz.h"

static const struct redis_shape *const SHAPES[] = {
    REDIS_SHAPE_ANY,        REDIS_SHAPE_PING,         REDIS_SHAPE_DONE,
    REDIS_SHAPE_QUEUED,     REDIS_SHAPE_EXEC,         REDIS_SHAPE_SHA,
    REDIS_SHAPE_SET,        REDIS_SHAPE_TEXT,         REDIS_SHAPE_NUMBER,
    REDIS_SHAPE_TIME,       REDIS_SHAPE_PTTL,         REDIS_SHAPE_YES_NO,
    REDIS_SHAPE_COUNT,      REDIS_SHAPE_BALANCE,      REDIS_SHAPE_ACQUIRE,
    REDIS_SHAPE_ACQUIRE_MORE, REDIS_SHAPE_READ_MORE,  REDIS_SHAPE_PERMIT,
    REDIS_SHAPE_FENCE,      REDIS_SHAPE_FENCE_MORE,   REDIS_SHAPE_EPOCH,
    REDIS_SHAPE_EPOCH_MORE, REDIS_SHAPE_RELEASE,      REDIS_SHAPE_RELEASE_TOLD,
    REDIS_SHAPE_RELEASE_MORE, REDIS_SHAPE_READ_RELEASE, REDIS_SHAPE_INSPECT,
    REDIS_SHAPE_INSPECT_OR_NIL,
};

/* Check what the variants rely on after a reply has its shape. */
static void check_passed(const struct redis_shape *shape, const struct redis_answer *answer)
{
    dlock_info info;

    fuzz_check(memchr(answer->text, '\0', sizeof(answer->text)) != NULL);
    if (shape == REDIS_SHAPE_COUNT || shape == REDIS_SHAPE_YES_NO)
        fuzz_check(answer->kind == REDIS_INTEGER && answer->integer >= 0);
    if (shape == REDIS_SHAPE_DONE)
        fuzz_check(redis_answer_is(answer, "OK"));
    if (shape == REDIS_SHAPE_ACQUIRE || shape == REDIS_SHAPE_PERMIT)
        fuzz_check(answer->kind == REDIS_NIL || answer->kind == REDIS_INTEGER);
    if (shape == REDIS_SHAPE_INSPECT)
        (void)dlock_info_read(answer->text, &info);
}

static void judge(const struct redis_answer *answer)
{
    for (size_t i = 0; i < sizeof(SHAPES) / sizeof(SHAPES[0]); i++) {
        struct redis_answer copy = *answer;

        if (copy.outcome != REDIS_ANSWERED)
            fuzz_check(memchr(copy.text, '\0', sizeof(copy.text)) != NULL);
        else if (redis_shape_check(SHAPES[i], "fuzz:6379", &copy))
            check_passed(SHAPES[i], &copy);
        else
            fuzz_check(copy.outcome == REDIS_PROTOCOL);
    }
}

/* The first byte is the number of bytes after which the rest arrives. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct redis_reading reading;
    struct redis_reader *reader = redis_reader_open(redis_reading_part, &reading);
    struct redis_answer answer;
    size_t first;
    bool is_whole;

    fuzz_check(reader != NULL);
    redis_reading_begin(&reading, "fuzz:6379");
    if (size > 1) {
        first = data[0] % size;
        (void)redis_reader_feed(reader, (const char *)data + 1, first);
        is_whole = redis_reader_next(reader);
        if (!is_whole && redis_reader_why(reader) == NULL)
            (void)redis_reader_feed(reader, (const char *)data + 1 + first,
                                    size - 1 - first);
        while (is_whole || redis_reader_next(reader)) {
            redis_reading_take(&reading, &answer);
            judge(&answer);
            is_whole = false;
        }
    }
    redis_reader_close(reader);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* redis_reply.c -- fuzz: what a server answers, against every shape that an answer to one
 * of our commands and scripts can have. */
#include <hiredis/hiredis.h>

#include "base/redis/shape.h"
#include "lock/info.h"
#include "tests/fuzz/fuzz.h"

/* What the variants rely on once an answer has passed. */
static void check_passed(enum redis_shape shape, const struct redis_answer *answer)
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
    for (int shape = 0; shape < REDIS_SHAPE_COUNT_ALL; shape++) {
        struct redis_answer copy = *answer;

        if (copy.status != DLOCK_OK)
            fuzz_check(memchr(copy.text, '\0', sizeof(copy.text)) != NULL);
        else if (redis_shape_check((enum redis_shape)shape, "fuzz:6379", &copy))
            check_passed((enum redis_shape)shape, &copy);
        else
            fuzz_check(copy.status == DLOCK_PROTOCOL);
    }
}

/* The first byte says after how many bytes the rest of them arrives. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    redisReader *reader = redisReaderCreate();
    struct redis_reading reading;
    struct redis_answer answer;
    void *reply = NULL;
    size_t first;

    fuzz_check(reader != NULL);
    redis_reading_bind(&reading, reader, "fuzz:6379");
    if (size > 1) {
        first = data[0] % size;
        redisReaderFeed(reader, (const char *)data + 1, first);
        if (redisReaderGetReply(reader, &reply) == REDIS_OK && reply == NULL)
            redisReaderFeed(reader, (const char *)data + 1 + first, size - 1 - first);
        while (reply != NULL || (redisReaderGetReply(reader, &reply) == REDIS_OK &&
                                 reply != NULL)) {
            redis_reading_take(&reading, &answer);
            judge(&answer);
            reply = NULL;
        }
    }
    redisReaderFree(reader);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* redis_message.c -- fuzz: what a server tells one who listens, and where servers are. */
#include <hiredis/hiredis.h>

#include "base/redis/message.h"
#include "base/redis/url.h"
#include "tests/fuzz/fuzz.h"

static void read_messages(const uint8_t *data, size_t size)
{
    redisReader *reader = redisReaderCreate();
    struct redis_message message;
    void *reply = NULL;

    fuzz_check(reader != NULL);
    redis_message_bind(&message, reader);
    redisReaderFeed(reader, (const char *)data, size);
    while (redisReaderGetReply(reader, &reply) == REDIS_OK && reply != NULL) {
        for (int i = 0; i < REDIS_MESSAGE_PARTS; i++)
            fuzz_check(message.parts[i] == NULL ||
                       strlen(message.parts[i]) < REDIS_MESSAGE_PART_SIZE);
        redis_message_clear(&message);
        reply = NULL;
    }
    redisReaderFree(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct redis_url url;
    char why[200] = "";

    if (size > 0)
        read_messages(data, size);
    if (redis_url_parse(text, &url, why, sizeof(why)))
        fuzz_check((url.host[0] == '\0') != (url.path[0] == '\0'));
    else
        fuzz_check(why[0] != '\0' && strlen(why) < sizeof(why));
    free(text);
    return 0;
}

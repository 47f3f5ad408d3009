/* SPDX-License-Identifier: MIT */
/* redis_message.c -- fuzz: messages to a subscriber, and the addresses of servers. */
#include "base/redis/answer.h"
#include "base/redis/reader.h"
#include "base/redis/url.h"
#include "tests/fuzz/fuzz.h"

static void read_messages(const uint8_t *data, size_t size)
{
    struct redis_message message;
    struct redis_reader *reader = redis_reader_open(redis_message_part, &message);

    fuzz_check(reader != NULL);
    redis_message_clear(&message);
    (void)redis_reader_feed(reader, (const char *)data, size);
    while (redis_reader_next(reader)) {
        for (int i = 0; i < REDIS_MESSAGE_PARTS; i++)
            fuzz_check(message.parts[i] == NULL ||
                       strlen(message.parts[i]) < REDIS_MESSAGE_PART_SIZE);
        redis_message_clear(&message);
    }
    redis_reader_close(reader);
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

/* SPDX-License-Identifier: MIT */
/* answer.c -- what a server said to one command.
 *
 * hiredis' reader tells of every piece of a reply through functions, whose results it
 * only carries about.  Of an array nothing is kept but its element, if that is one
 * integer: no command of ours has any other. */
#include "base/redis/answer.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

/* Does an error begin with these words? */
static bool begins_with(const char *text, size_t len, const char *words)
{
    size_t words_len = strlen(words);

    return len >= words_len && memcmp(text, words, words_len) == 0;
}

dlock_status redis_refusal(const char *text, size_t len)
{
    static const char *const BEGINNINGS[] = {"ERR max number of clients", "LOADING ",
                                             "BUSY ", "MASTERDOWN "};

    for (size_t i = 0; i < sizeof(BEGINNINGS) / sizeof(BEGINNINGS[0]); i++)
        if (begins_with(text, len, BEGINNINGS[i]))
            return DLOCK_IO;
    return DLOCK_PROTOCOL;
}

static struct redis_answer *answer_of(const redisReadTask *task)
{
    struct redis_reading *reading = task->privdata;

    return &reading->answer;
}

static void *read_string(const redisReadTask *task, char *text, size_t len)
{
    const struct redis_reading *reading = task->privdata;
    struct redis_answer *answer = answer_of(task);

    if (task->parent != NULL)
        return task->privdata;
    if (task->type == REDIS_REPLY_ERROR) {
        answer->status = redis_refusal(text, len);
        answer->lacks_script = begins_with(text, len, "NOSCRIPT ");
        snprintf(answer->text, sizeof(answer->text), "%.60s: %.*s", reading->label,
                 len < REDIS_TEXT_SIZE ? (int)len : REDIS_TEXT_SIZE, text);
    } else if (task->type == REDIS_REPLY_STATUS || task->type == REDIS_REPLY_STRING) {
        answer->kind = task->type == REDIS_REPLY_STATUS ? REDIS_STATUS : REDIS_BULK;
        answer->len = len;
        if (len >= sizeof(answer->text))
            len = sizeof(answer->text) - 1;
        memcpy(answer->text, text, len);
        answer->text[len] = '\0';
    }
    return task->privdata;
}

static void *read_integer(const redisReadTask *task, long long value)
{
    const redisReadTask *array = task->parent;

    if (array == NULL) {
        answer_of(task)->kind = REDIS_INTEGER;
        answer_of(task)->integer = value;
    } else if (array->parent == NULL && array->type == REDIS_REPLY_ARRAY &&
               array->elements == 1) {
        answer_of(task)->kind = REDIS_SINGLE;
        answer_of(task)->integer = value;
    }
    return task->privdata;
}

/* A nil of RESP3 is none of these: nobody has asked for that. */
static void *read_nil(const redisReadTask *task)
{
    if (task->parent == NULL && task->type == REDIS_REPLY_STRING)
        answer_of(task)->kind = REDIS_NIL;
    else if (task->parent == NULL && task->type == REDIS_REPLY_ARRAY)
        answer_of(task)->kind = REDIS_NIL_ARRAY;
    return task->privdata;
}

static redisReplyObjectFunctions functions = {
    .createString = read_string,
    .createInteger = read_integer,
    .createNil = read_nil,
};

static void clear(struct redis_answer *answer)
{
    answer->status = DLOCK_OK;
    answer->kind = REDIS_OTHER;
    answer->integer = 0;
    answer->len = 0;
    answer->lacks_script = false;
    answer->text[0] = '\0';
}

void redis_reading_bind(struct redis_reading *reading, struct redisReader *reader,
                        const char *label)
{
    reading->label = label;
    clear(&reading->answer);
    reader->fn = &functions;
    reader->privdata = reading;
}

void redis_reading_take(struct redis_reading *reading, struct redis_answer *out)
{
    *out = reading->answer;
    clear(&reading->answer);
}

bool redis_answer_is(const struct redis_answer *answer, const char *text)
{
    size_t len = strlen(text);

    return answer->len == len && len < sizeof(answer->text) &&
           memcmp(answer->text, text, len) == 0;
}

void redis_answer_fail(struct redis_answer *answer, dlock_status status,
                       const char *why)
{
    answer->status = status;
    answer->kind = REDIS_OTHER;
    answer->lacks_script = false;
    snprintf(answer->text, sizeof(answer->text), "%s", why);
}

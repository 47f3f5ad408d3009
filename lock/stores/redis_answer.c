/* SPDX-License-Identifier: MIT */
/* redis_answer.c -- what a server said to one command.
 *
 * hiredis' reader tells of every piece of a reply through functions, whose results it
 * only carries about.  Of an array's elements nothing is kept: no command of ours has
 * such an answer. */
#include "lock/stores/redis_answer.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

dlock_status redis_refusal(const char *text, size_t len)
{
    static const char full[] = "ERR max number of clients";
    size_t full_len = sizeof(full) - 1;

    return len >= full_len && memcmp(text, full, full_len) == 0 ? DLOCK_IO
                                                                : DLOCK_PROTOCOL;
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
        snprintf(answer->text, sizeof(answer->text), "%.60s: %.*s", reading->label,
                 len < REDIS_TEXT_SIZE ? (int)len : REDIS_TEXT_SIZE, text);
    } else if (task->type == REDIS_REPLY_STATUS || task->type == REDIS_REPLY_STRING) {
        if (len >= sizeof(answer->text))
            len = sizeof(answer->text) - 1;
        answer->kind = REDIS_TEXT;
        memcpy(answer->text, text, len);
        answer->text[len] = '\0';
    }
    return task->privdata;
}

static void *read_integer(const redisReadTask *task, long long value)
{
    if (task->parent == NULL) {
        answer_of(task)->kind = REDIS_INTEGER;
        answer_of(task)->integer = value;
    }
    return task->privdata;
}

static void *read_nil(const redisReadTask *task)
{
    if (task->parent == NULL)
        answer_of(task)->kind = REDIS_NIL;
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
    out->status = reading->answer.status;
    out->kind = reading->answer.kind;
    out->integer = reading->answer.integer;
    strcpy(out->text, reading->answer.text);
    clear(&reading->answer);
}

void redis_answer_fail(struct redis_answer *answer, dlock_status status,
                       const char *why)
{
    answer->status = status;
    answer->kind = REDIS_OTHER;
    snprintf(answer->text, sizeof(answer->text), "%s", why);
}

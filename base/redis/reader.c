/* SPDX-License-Identifier: MIT */
/* reader.c -- parses replies by the parser of hiredis; nothing else of hiredis is
 * used. */
#include "base/redis/reader.h"

#include <hiredis/read.h>
#include <stdlib.h>

struct redis_reader {
    redisReader *parser;
    redis_part_fn *take;
    void *arg;
};

static void *hand_out(const redisReadTask *task, struct redis_part *part)
{
    const struct redis_reader *reader = task->privdata;
    const redisReadTask *array = task->parent;

    if (array != NULL && array->parent == NULL && array->type == REDIS_REPLY_ARRAY) {
        part->depth = 1;
        part->index = (size_t)task->idx;
        part->count = (size_t)array->elements;
    } else if (array != NULL) {
        part->depth = 2;
    }
    reader->take(reader->arg, part);
    return task->privdata;
}

static void *read_string(const redisReadTask *task, char *text, size_t len)
{
    struct redis_part part = {.kind = REDIS_PART_OTHER, .text = text, .len = len};

    if (task->type == REDIS_REPLY_STATUS)
        part.kind = REDIS_PART_STATUS;
    else if (task->type == REDIS_REPLY_ERROR)
        part.kind = REDIS_PART_ERROR;
    else if (task->type == REDIS_REPLY_STRING)
        part.kind = REDIS_PART_BULK;
    return hand_out(task, &part);
}

static void *read_integer(const redisReadTask *task, long long value)
{
    struct redis_part part = {.kind = REDIS_PART_INTEGER, .integer = value};

    return hand_out(task, &part);
}

static void *read_nil(const redisReadTask *task)
{
    struct redis_part part = {.kind = REDIS_PART_OTHER};

    if (task->type == REDIS_REPLY_STRING)
        part.kind = REDIS_PART_NIL;
    else if (task->type == REDIS_REPLY_ARRAY)
        part.kind = REDIS_PART_NIL_ARRAY;
    return hand_out(task, &part);
}

/* The parser only reads it. */
static redisReplyObjectFunctions functions = {
    .createString = read_string,
    .createInteger = read_integer,
    .createNil = read_nil,
};

struct redis_reader *redis_reader_open(redis_part_fn *take, void *arg)
{
    struct redis_reader *reader = calloc(1, sizeof(*reader));

    if (reader == NULL)
        return NULL;
    reader->parser = redisReaderCreateWithFunctions(&functions);
    if (reader->parser == NULL) {
        free(reader);
        return NULL;
    }
    reader->parser->privdata = reader;
    redis_reader_hand_to(reader, take, arg);
    return reader;
}

void redis_reader_close(struct redis_reader *reader)
{
    if (reader == NULL)
        return;
    redisReaderFree(reader->parser);
    free(reader);
}

void redis_reader_hand_to(struct redis_reader *reader, redis_part_fn *take, void *arg)
{
    reader->take = take;
    reader->arg = arg;
}

bool redis_reader_feed(struct redis_reader *reader, const char *bytes, size_t len)
{
    return redisReaderFeed(reader->parser, bytes, len) == REDIS_OK;
}

bool redis_reader_next(struct redis_reader *reader)
{
    void *reply = NULL;

    return redisReaderGetReply(reader->parser, &reply) == REDIS_OK && reply != NULL;
}

const char *redis_reader_why(const struct redis_reader *reader)
{
    return reader->parser->err != 0 ? reader->parser->errstr : NULL;
}

size_t redis_reader_unread(const struct redis_reader *reader)
{
    return reader->parser->len - reader->parser->pos;
}

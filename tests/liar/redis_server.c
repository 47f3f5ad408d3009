/* SPDX-License-Identifier: MIT */
/* redis_server.c -- a server in front of a real Redis that can send wrong answers. */
#include "tests/liar/servers.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/redis/url.h"
#include "tests/liar/listener.h"
#include "tests/liar/script.h"

enum { ANSWER_SIZE = 65536 };

static struct redis_url real;
static struct listener listener;

/* Encode the reply as the real server did. */
static size_t encode(const redisReply *reply, bool is_exec, char *at, size_t room)
{
    size_t len;

    switch (reply->type) {
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
        return (size_t)snprintf(at, room, "%c%s\r\n",
                                reply->type == REDIS_REPLY_STATUS ? '+' : '-', reply->str);
    case REDIS_REPLY_INTEGER:
        return (size_t)snprintf(at, room, ":%lld\r\n", reply->integer);
    case REDIS_REPLY_NIL:
        return (size_t)snprintf(at, room, is_exec ? "*-1\r\n" : "$-1\r\n");
    case REDIS_REPLY_STRING:
        len = (size_t)snprintf(at, room, "$%zu\r\n", (size_t)reply->len);
        memcpy(at + len, reply->str, (size_t)reply->len);
        memcpy(at + len + (size_t)reply->len, "\r\n", 2);
        return len + (size_t)reply->len + 2;
    default:
        len = (size_t)snprintf(at, room, "*%zu\r\n", (size_t)reply->elements);
        for (size_t i = 0; i < (size_t)reply->elements; i++)
            len += encode(reply->element[i], false, at + len, room - len);
        return len;
    }
}

/* This server publishes no message, so waiters look by themselves. */
static size_t answer_subscriber(const redisReply *command, char *out)
{
    char verb[16];
    size_t len = 0;

    while (len < sizeof(verb) - 1 && command->element[0]->str[len] != '\0') {
        verb[len] = (char)(command->element[0]->str[len] | 0x20);
        len++;
    }
    verb[len] = '\0';
    return (size_t)snprintf(out, ANSWER_SIZE, "*3\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n:1\r\n",
                            strlen(verb), verb, (size_t)command->element[1]->len,
                            command->element[1]->str);
}

static size_t ask_redis(redisContext *redis, const redisReply *command, char *out)
{
    const char *argv[32];
    size_t lens[32];
    redisReply *reply;
    size_t len = 0;

    for (size_t i = 0; i < (size_t)command->elements && i < 32; i++) {
        argv[i] = command->element[i]->str;
        lens[i] = (size_t)command->element[i]->len;
    }
    reply = redisCommandArgv(redis, (int)command->elements, argv, lens);
    if (reply != NULL)
        len = encode(reply, strcasecmp(argv[0], "EXEC") == 0, out, ANSWER_SIZE);
    freeReplyObject(reply);
    return len;
}

/* Answer one command. Returns false if the connection is to be closed. */
static bool answer(int fd, redisContext *redis, const redisReply *command)
{
    char honest[ANSWER_SIZE];
    size_t len;

    if (strcasestr(command->element[0]->str, "SUBSCRIBE") != NULL)
        len = answer_subscriber(command, honest);
    else
        len = ask_redis(redis, command, honest);
    return script_answer(fd, command->element[0]->str, honest, len);
}

/* The client's login goes to the real server, too. */
static void serve(int fd)
{
    redisReader *reader = redisReaderCreate();
    redisContext *redis = redisConnect(real.host, real.port);
    bool goes_on = redis != NULL && redis->err == 0;
    char chunk[16384];

    while (goes_on) {
        ssize_t got = recv(fd, chunk, sizeof(chunk), 0);
        void *command = NULL;

        goes_on = got > 0 && redisReaderFeed(reader, chunk, (size_t)got) == REDIS_OK;
        while (goes_on && redisReaderGetReply(reader, &command) == REDIS_OK &&
               command != NULL) {
            goes_on = answer(fd, redis, command);
            freeReplyObject(command);
            command = NULL;
        }
    }
    script_part(fd);
    redisReaderFree(reader);
    redisFree(redis);
}

const char *redis_server_start(const char *redis_url)
{
    static char url[320];
    char why[160];
    int port;

    if (!redis_url_parse(redis_url, &real, why, sizeof(why)))
        return NULL;
    port = listener_start(&listener, serve);
    snprintf(url, sizeof(url), "redis://:%s@127.0.0.1:%d/%d", real.password, port, real.db);
    return port > 0 ? url : NULL;
}

void redis_server_stop(void)
{
    listener_stop(&listener);
}

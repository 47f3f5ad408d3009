/* SPDX-License-Identifier: MIT */
/* server.c -- a server in front of a real Redis, which answers one command with a lie. */
#include "tests/liar/server.h"

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lock/stores/redis_url.h"

enum { ANSWER_SIZE = 65536 };

static struct {
    struct redis_url redis;
    struct sockaddr_un address;
    char url[160];
    int listen_fd;
    pthread_t thread;
    pthread_mutex_t mutex; /* of what follows */
    int command_count;
    int step;
    const char *bytes;
    size_t len;
    bool then_close;
    char verb[16]; /* of the command that was lied to */
} liar = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* As the real server wrote it. */
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

/* Nobody publishes here: a waiter looks by itself. */
static size_t answer_subscriber(const redisReply *command, char *out)
{
    char verb[16];
    size_t len = 0;

    while (command->element[0]->str[len] != '\0' && len < sizeof(verb) - 1) {
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

/* Answer one command.  False: hang up. */
static bool answer(int fd, redisContext *redis, const redisReply *command)
{
    char honest[ANSWER_SIZE];
    const char *bytes = honest;
    bool then_close = false;
    size_t len;

    if (strcasestr(command->element[0]->str, "SUBSCRIBE") != NULL)
        len = answer_subscriber(command, honest);
    else
        len = ask_redis(redis, command, honest);
    pthread_mutex_lock(&liar.mutex);
    if (++liar.command_count == liar.step) {
        bytes = liar.bytes;
        len = liar.len;
        then_close = liar.then_close;
        snprintf(liar.verb, sizeof(liar.verb), "%.15s", command->element[0]->str);
    }
    pthread_mutex_unlock(&liar.mutex);
    return send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len && !then_close;
}

static void *serve_one(void *arg)
{
    int fd = (int)(intptr_t)arg;
    redisReader *reader = redisReaderCreate();
    redisContext *redis = redisConnect(liar.redis.host, liar.redis.port);
    bool goes_on = redis != NULL && redis->err == 0;
    char chunk[16384];

    if (goes_on && liar.redis.password[0] != '\0')
        freeReplyObject(redisCommand(redis, "AUTH %s", liar.redis.password));
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
    close(fd);
    redisReaderFree(reader);
    redisFree(redis);
    return NULL;
}

static void *serve(void *arg)
{
    int fd;

    (void)arg;
    while ((fd = accept(liar.listen_fd, NULL, NULL)) >= 0) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)fd) == 0)
            pthread_detach(thread);
        else
            close(fd);
    }
    return NULL;
}

const char *liar_start(const char *redis_url)
{
    char why[160];

    if (!redis_url_parse(redis_url, &liar.redis, why, sizeof(why)))
        return NULL;
    liar.address.sun_family = AF_UNIX;
    snprintf(liar.address.sun_path, sizeof(liar.address.sun_path),
             "/tmp/seckill-liar-%d", (int)getpid());
    snprintf(liar.url, sizeof(liar.url), "unix://%s", liar.address.sun_path);
    unlink(liar.address.sun_path);
    liar.listen_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(liar.listen_fd, (struct sockaddr *)&liar.address, sizeof(liar.address)) != 0 ||
        listen(liar.listen_fd, 64) != 0 ||
        pthread_create(&liar.thread, NULL, serve, NULL) != 0)
        return NULL;
    return liar.url;
}

void liar_stop(void)
{
    shutdown(liar.listen_fd, SHUT_RDWR);
    pthread_join(liar.thread, NULL);
    close(liar.listen_fd);
    unlink(liar.address.sun_path);
}

void liar_lie(int step, const char *bytes, size_t len, bool then_close)
{
    pthread_mutex_lock(&liar.mutex);
    liar.command_count = 0;
    liar.step = step;
    liar.bytes = bytes;
    liar.len = len;
    liar.then_close = then_close;
    liar.verb[0] = '\0';
    pthread_mutex_unlock(&liar.mutex);
}

int liar_command_count(void)
{
    int count;

    pthread_mutex_lock(&liar.mutex);
    count = liar.command_count;
    pthread_mutex_unlock(&liar.mutex);
    return count;
}

bool liar_has_lied(char verb[16])
{
    pthread_mutex_lock(&liar.mutex);
    memcpy(verb, liar.verb, sizeof(liar.verb));
    pthread_mutex_unlock(&liar.mutex);
    return verb[0] != '\0';
}

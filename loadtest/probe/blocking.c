/* SPDX-License-Identifier: MIT */
/* blocking.c -- a blocking connection to Redis, as most programs use it: one command, one
 * answer. */
#include "loadtest/probe/blocking.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "base/text/duration.h"
#include "loadtest/kit/memory.h"

enum {
    TIMEOUT_S = 10,
    FILL_BATCH = 5000, /* locks that one script takes: far less than a second */
};

struct blocking {
    redisContext *nodes[BLOCKING_NODES_MAX];
    int count;
    struct recipe_command acquire, release;
};

static redisReply *checked(redisContext *node, redisReply *reply)
{
    if (reply && reply->type != REDIS_REPLY_ERROR)
        return reply;
    eprintf("seckill: redis on %d: %s\n", node->tcp.port, reply ? reply->str : node->errstr);
    freeReplyObject(reply);
    return NULL;
}

static redisReply *ask(redisContext *node, int argc, const char *const *argv)
{
    return checked(node, redisCommandArgv(node, argc, (const char **)argv, NULL));
}

/* A command of words without blanks, whose answer does not matter. */
static bool tell(redisContext *node, const char *command)
{
    redisReply *reply = checked(node, redisCommand(node, command));
    bool ok = reply != NULL;

    freeReplyObject(reply);
    return ok;
}

static redisContext *connect_to(const struct lab *lab, enum lab_role role, int number)
{
    struct timeval timeout = {.tv_sec = TIMEOUT_S};
    int port = lab_port(lab, role, number);
    redisContext *node = redisConnectWithTimeout("127.0.0.1", port, timeout);
    char auth[LAB_SECRET_LEN + 8], select[16];

    if (!node || node->err) {
        eprintf("seckill: %s on 127.0.0.1:%d: %s\n", lab_server_name(lab, role, number),
                port, node ? node->errstr : "no memory");
        redisFree(node);
        return NULL;
    }
    snprintf(auth, sizeof auth, "AUTH %s", lab->redis_password);
    snprintf(select, sizeof select, "SELECT %d", BLOCKING_DATABASE);
    redisSetTimeout(node, timeout);
    if (!tell(node, auth) || !tell(node, select)) {
        redisFree(node);
        return NULL;
    }
    return node;
}

struct blocking *blocking_open(const struct lab *lab, enum lab_role role)
{
    struct blocking *b = memory_need(calloc(1, sizeof *b));

    for (; b->count < lab_role_count(role); b->count++) {
        b->nodes[b->count] = connect_to(lab, role, b->count);
        if (!b->nodes[b->count]) {
            blocking_close(b);
            return NULL;
        }
    }
    return b;
}

void blocking_close(struct blocking *b)
{
    if (!b)
        return;
    for (int i = 0; i < b->count; i++)
        redisFree(b->nodes[i]);
    free(b);
}

static bool load(redisContext *node, const char *script, char sha[RECIPE_SHA_SIZE])
{
    const char *const argv[] = {"SCRIPT", "LOAD", script};
    redisReply *reply;

    sha[0] = '\0';
    if (!script)
        return true;
    reply = ask(node, 3, argv);
    if (!reply)
        return false;
    snprintf(sha, RECIPE_SHA_SIZE, "%s", reply->str);
    freeReplyObject(reply);
    return true;
}

bool blocking_load(struct blocking *b, const char *script, char sha[RECIPE_SHA_SIZE])
{
    return load(b->nodes[0], script, sha);
}

bool blocking_prepare(struct blocking *b, const struct recipe *recipe, const char *name)
{
    char acquire[RECIPE_SHA_SIZE], release[RECIPE_SHA_SIZE], token[33], owner[48];
    struct recipe_claim claim = {name, owner, token};

    for (int i = 0; i < b->count; i++) {
        if (!load(b->nodes[i], recipe->acquire_script, acquire) ||
            !load(b->nodes[i], recipe->release_script, release))
            return false;
    }
    files_random_hex(token, 16);
    snprintf(owner, sizeof owner, "%.32s----:1", token); /* as long as a real value */
    recipe_fill_in(&b->acquire, recipe->acquire, &claim, acquire);
    recipe_fill_in(&b->release, recipe->release, &claim, release);
    return true;
}

static bool is_taken(const redisReply *reply, const struct recipe_command *command)
{
    if (strcmp(command->argv[0], "SET") == 0)
        return reply->type == REDIS_REPLY_STATUS;
    return reply->type == REDIS_REPLY_NIL;
}

static bool is_given_back(const redisReply *reply, const struct recipe_command *command)
{
    (void)command;
    return reply->type == REDIS_REPLY_INTEGER && reply->integer == 1;
}

typedef bool judge_fn(const redisReply *reply, const struct recipe_command *command);

/* The command to every server, and then every answer. */
static bool to_all(struct blocking *b, struct recipe_command *command, judge_fn *good)
{
    bool ok = true;

    for (int i = 0; i < b->count; i++) {
        int done = 0;

        redisAppendCommandArgv(b->nodes[i], command->argc, command->argv,
                               command->lengths);
        while (!done && redisBufferWrite(b->nodes[i], &done) == REDIS_OK)
            ;
    }
    for (int i = 0; i < b->count; i++) {
        void *raw = NULL;
        redisReply *reply;

        redisGetReply(b->nodes[i], &raw);
        reply = checked(b->nodes[i], raw);
        if (!reply)
            return false;
        if (!good(reply, command)) {
            eprintf("seckill: redis on %d: %s of %s was refused\n",
                    b->nodes[i]->tcp.port, command->argv[0], command->argv[1]);
            ok = false;
        }
        freeReplyObject(reply);
    }
    return ok;
}

bool blocking_pair(struct blocking *b)
{
    return to_all(b, &b->acquire, is_taken) && to_all(b, &b->release, is_given_back);
}

int64_t blocking_ping_ns(struct blocking *b)
{
    int64_t begin_ns = monotonic_ns();

    return tell(b->nodes[0], "PING") ? monotonic_ns() - begin_ns : -1;
}

bool blocking_clear(struct blocking *b)
{
    for (int i = 0; i < b->count; i++) {
        if (!tell(b->nodes[i], "FLUSHDB"))
            return false;
    }
    return true;
}

static bool fill_batch(struct blocking *b, const struct recipe *recipe, int64_t first,
                       int64_t end, const char *prefix, const char *holder)
{
    char from[24], to[24];
    const char *const argv[] = {"EVAL", recipe->fill, "0", from, to, prefix, holder};
    redisReply *reply;

    snprintf(from, sizeof from, "%" PRId64, first);
    snprintf(to, sizeof to, "%" PRId64, end);
    reply = ask(b->nodes[0], 7, argv);
    freeReplyObject(reply);
    return reply != NULL;
}

/* Redis serves no other client while a script runs, and a client in MONITOR makes each
 * command of a script slower. */
bool blocking_fill(struct blocking *b, const struct recipe *recipe, int64_t count,
                   const char *prefix, const char *holder)
{
    for (int64_t first = 0; first < count; first += FILL_BATCH) {
        int64_t end = first + FILL_BATCH < count ? first + FILL_BATCH : count;

        if (!fill_batch(b, recipe, first, end, prefix, holder))
            return false;
    }
    return true;
}

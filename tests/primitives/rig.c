/* SPDX-License-Identifier: MIT */
/* rig.c -- the servers and helpers that the tests of the primitives share. */
#include "tests/primitives/rig.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_MAX_AT_ONCE = 8, CALLS_MAX = 16 };

static dlock_options opts;
static dlock_primitives *opened[OPEN_MAX_AT_ONCE];
static size_t open_count;

struct prim_call {
    dlock_status (*call)(void *arg);
    void *arg;
    pthread_t thread;
    atomic_bool is_done;
    dlock_status status;
};

/* Those that nobody has ended. */
static struct prim_call *calls[CALLS_MAX];

static void close_all(void)
{
    premise_end_pace();
    servers_wake();
    for (int i = 0; i < CALLS_MAX; i++)
        if (calls[i] != NULL) {
            servers_stop(); /* then it fails */
            prim_end(calls[i]);
        }
    while (open_count > 0)
        dlock_primitives_close(opened[--open_count]);
    servers_stop();
}

int prim_reset(void **state)
{
    (void)state;
    close_all();
    return 0;
}

static const struct prim_test *running;

static void run_it(const char *unused)
{
    void *state = NULL;

    (void)unused;
    opts = dlock_options_default();
    servers_start(&opts);
    running->test(&state);
}

void prim_run(void **state)
{
    running = *state;
    premise_run(running->name, run_it, NULL, close_all);
}

dlock_primitives *prim_open(int timeout_ms)
{
    dlock_primitives *prims = NULL;

    assert_true(open_count < OPEN_MAX_AT_ONCE);
    assert_comes(dlock_primitives_open(&prims, opts.redis_url, timeout_ms) == DLOCK_OK);
    opened[open_count++] = prims;
    return prims;
}

static redisReply *next_reply(redisContext *listener, const char *kind)
{
    redisReply *reply = NULL;

    assert_int_equal(REDIS_OK, redisGetReply(listener, (void **)&reply));
    assert_int_equal(3, reply->elements);
    assert_string_equal(kind, reply->element[0]->str);
    return reply;
}

redisContext *prim_listen(const char *channel)
{
    redisContext *listener =
        redisConnectUnix(opts.redis_url + strlen("unix://"));
    struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};

    assert_non_null(listener);
    assert_int_equal(0, listener->err);
    redisSetTimeout(listener, patience);
    assert_int_equal(REDIS_OK, redisAppendCommand(listener, "SUBSCRIBE %s", channel));
    freeReplyObject(next_reply(listener, "subscribe"));
    return listener;
}

void prim_hear(redisContext *listener, const char *message)
{
    redisReply *reply = next_reply(listener, "message");

    assert_string_equal(message, reply->element[2]->str);
    freeReplyObject(reply);
}

void prim_hang_up(redisContext *listener)
{
    redisFree(listener);
}

long long prim_listeners(const char *channel)
{
    return servers_tell(0, "PUBSUB NUMSUB %s", channel)->element[1]->integer;
}

static void *run(void *arg)
{
    struct prim_call *call = arg;

    call->status = call->call(call->arg);
    atomic_store(&call->is_done, true);
    return NULL;
}

struct prim_call *prim_begin(dlock_status (*function)(void *arg), void *arg)
{
    struct prim_call *call = calloc(1, sizeof(*call));

    assert_non_null(call);
    call->call = function;
    call->arg = arg;
    for (int i = 0; i < CALLS_MAX; i++)
        if (calls[i] == NULL) {
            calls[i] = call;
            assert_int_equal(0, pthread_create(&call->thread, NULL, run, call));
            return call;
        }
    free(call);
    fail_msg("more than %d calls at once", CALLS_MAX);
    return NULL;
}

bool prim_is_done(const struct prim_call *call)
{
    return atomic_load(&call->is_done);
}

dlock_status prim_end(struct prim_call *call)
{
    dlock_status st;

    assert_comes(prim_is_done(call));
    pthread_join(call->thread, NULL);
    st = call->status;
    for (int i = 0; i < CALLS_MAX; i++)
        if (calls[i] == call)
            calls[i] = NULL;
    free(call);
    return st;
}

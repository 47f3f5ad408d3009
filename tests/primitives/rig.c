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

/* Calls that no test has ended. */
static struct prim_call *calls[CALLS_MAX];

static void close_all(void)
{
    premise_end_pace();
    servers_wake();
    for (int i = 0; i < CALLS_MAX; i++)
        if (calls[i] != NULL) {
            servers_stop(); /* then the call fails */
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

struct visits {
    const struct prim_entry *entry;
    dlock_primitives *prims;
    atomic_int *inside, *most;
};

static dlock_status visit(void *arg)
{
    const struct visits *visits = arg;
    const struct prim_entry *entry = visits->entry;

    for (int i = 0; i < entry->turns; i++) {
        dlock_permit permit;
        dlock_status st = entry->take(visits->prims, &permit);
        int64_t left;
        int now;

        if (st != DLOCK_OK)
            return st;
        now = atomic_fetch_add(visits->inside, 1) + 1;
        if (now > atomic_load(visits->most))
            atomic_store(visits->most, now);
        /* The count takes long enough for another thread to take a permit. */
        st = entry->count(visits->prims, &left);
        atomic_fetch_sub(visits->inside, 1);
        if (st == DLOCK_OK)
            st = entry->give(visits->prims, &permit);
        if (st != DLOCK_OK)
            return st;
    }
    return DLOCK_OK;
}

int prim_most_inside(const struct prim_entry *entry, dlock_primitives *const prims[2],
                     int thread_count)
{
    atomic_int inside = 0, most = 0;
    struct visits visits[2] = {{entry, prims[0], &inside, &most},
                               {entry, prims[1], &inside, &most}};
    struct prim_call *threads[CALLS_MAX];

    for (int i = 0; i < thread_count; i++)
        threads[i] = prim_begin(visit, &visits[i % 2]);
    for (int i = 0; i < thread_count; i++)
        assert_status(OK, prim_end(threads[i]));
    return atomic_load(&most);
}

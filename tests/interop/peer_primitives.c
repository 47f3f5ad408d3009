/* SPDX-License-Identifier: MIT */
/* peer_primitives.c -- the C peer's semaphores, permits and latches. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "lock/dlock_primitives.h"
#include "tests/interop/peer.h"

enum { TIMEOUT_MS = 2000 };

/* The parts of a command. */
struct order {
    dlock_primitives *prims;
    const char *name;
    int permits;
    int64_t wait_ms;
    int lease_ms;
    dlock_permit permit;
    char *answer;
};

static void say_count(const struct order *order, dlock_status st, const int64_t *count)
{
    if (st != DLOCK_OK)
        peer_answer(st, order->answer);
    else
        snprintf(order->answer, ANSWER_MAX, "ok count=%" PRId64, *count);
}

static void semaphore(struct order *o, const char *verb)
{
    int64_t count = 0;

    if (strcmp(verb, "set") == 0)
        peer_answer(dlock_semaphore_set(o->prims, o->name, o->permits), o->answer);
    else if (strcmp(verb, "acquire") == 0)
        peer_answer(dlock_semaphore_acquire(o->prims, o->name, o->permits, o->wait_ms),
                    o->answer);
    else if (strcmp(verb, "release") == 0)
        peer_answer(dlock_semaphore_release(o->prims, o->name, o->permits), o->answer);
    else if (strcmp(verb, "add") == 0)
        peer_answer(dlock_semaphore_add(o->prims, o->name, o->permits), o->answer);
    else if (strcmp(verb, "count") == 0)
        say_count(o, dlock_semaphore_available(o->prims, o->name, &count), &count);
    else if (strcmp(verb, "drain") == 0)
        say_count(o, dlock_semaphore_drain(o->prims, o->name, &count), &count);
}

static void permits(struct order *o, const char *verb)
{
    int64_t count = 0;
    dlock_status st;

    if (strcmp(verb, "set") == 0) {
        peer_answer(dlock_permits_set(o->prims, o->name, o->permits), o->answer);
    } else if (strcmp(verb, "acquire") == 0) {
        st = dlock_permits_acquire(o->prims, o->name, o->wait_ms, o->lease_ms,
                                   &o->permit);
        peer_answer(st, o->answer);
        if (st == DLOCK_OK)
            snprintf(o->answer, ANSWER_MAX, "ok id=%s", o->permit.id);
    } else if (strcmp(verb, "release") == 0) {
        peer_answer(dlock_permits_release(o->prims, o->name, &o->permit), o->answer);
    } else if (strcmp(verb, "renew") == 0) {
        peer_answer(dlock_permits_renew(o->prims, o->name, &o->permit, o->lease_ms),
                    o->answer);
    } else if (strcmp(verb, "count") == 0) {
        say_count(o, dlock_permits_available(o->prims, o->name, &count), &count);
    } else if (strcmp(verb, "taken") == 0) {
        say_count(o, dlock_permits_acquired(o->prims, o->name, &count), &count);
    }
}

static void latch(struct order *o, const char *verb)
{
    int64_t count = 0;

    if (strcmp(verb, "set") == 0)
        peer_answer(dlock_latch_set(o->prims, o->name, o->permits), o->answer);
    else if (strcmp(verb, "acquire") == 0)
        peer_answer(dlock_latch_wait(o->prims, o->name, o->wait_ms), o->answer);
    else if (strcmp(verb, "release") == 0)
        peer_answer(dlock_latch_count_down(o->prims, o->name, NULL), o->answer);
    else if (strcmp(verb, "count") == 0)
        say_count(o, dlock_latch_count(o->prims, o->name, &count), &count);
}

/* The primitives of the program; NULL: dlock_error() has the reason. */
static dlock_primitives *primitives_of(const char *redis_url)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static dlock_primitives *prims;

    pthread_mutex_lock(&mutex);
    if (prims == NULL &&
        dlock_primitives_open(&prims, redis_url, TIMEOUT_MS) != DLOCK_OK)
        prims = NULL;
    pthread_mutex_unlock(&mutex);
    return prims;
}

void peer_primitive(const char *redis_url, const char *kind, const char *verb,
                    const struct command *command, char answer[ANSWER_MAX])
{
    char name[COMMAND_LINE_MAX];
    char id[COMMAND_LINE_MAX];
    struct order order = {
        .prims = primitives_of(redis_url),
        .name = command_text(command, "name", "", name),
        .permits = (int)command_number(command, "permits"),
        .wait_ms = command_number(command, "wait"),
        .lease_ms = (int)command_number(command, "lease"),
        .answer = answer,
    };

    if (order.prims == NULL) {
        snprintf(answer, ANSWER_MAX, "error %s", dlock_error());
        return;
    }
    snprintf(order.permit.id, sizeof(order.permit.id), "%.*s", DLOCK_TOKEN_LEN,
             command_text(command, "id", "", id));
    if (strcmp(kind, "semaphore") == 0)
        semaphore(&order, verb);
    else if (strcmp(kind, "permits") == 0)
        permits(&order, verb);
    else if (strcmp(kind, "latch") == 0)
        latch(&order, verb);
}

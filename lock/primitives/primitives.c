/* SPDX-License-Identifier: MIT */
/* primitives.c -- the common part of semaphores, permits and latches. */
#include "lock/primitives/primitives.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/thread.h"
#include "gen/lua_scripts.h"
#include "base/os/clock.h"
#include "base/os/fork.h"
#include "lock/name.h"
#include "lock/status.h"
#include "lock/stores/redis_rights.h"

static dlock_status primitives_check_rights(const dlock_primitives *prims)
{
    const struct redis_script *scripts[PRIMITIVE_SCRIPT_COUNT];

    for (size_t i = 0; i < PRIMITIVE_SCRIPT_COUNT; i++)
        scripts[i] = &prims->scripts[i];
    return redis_rights_check(prims->link,
                              (struct redis_rights){"GET", PRIMITIVE_SCRIPT_COUNT, scripts, ""});
}

static dlock_status reach(dlock_primitives *prims, const dlock_options *opts)
{
    static const char *const TEXTS[] = {
#define X(name) LUA_##name,
        PRIMITIVE_SCRIPTS(X)
#undef X
    };
    dlock_status st = redis_single_open(opts, NULL, &prims->link);

    for (size_t i = 0; st == DLOCK_OK && i < PRIMITIVE_SCRIPT_COUNT; i++) {
        prims->scripts[i].text = TEXTS[i];
        st = redis_script_load(prims->link, &prims->scripts[i]);
    }
    if (st == DLOCK_OK)
        st = primitives_check_rights(prims);
    if (st == DLOCK_OK)
        st = redis_subscription_open(&prims->subscription, opts->redis_url,
                                     opts->redis_timeout_ms);
    /* An unanswered load of a script changes no primitive, so the answer is IO. */
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
}

dlock_status dlock_primitives_open(dlock_primitives **out, const char *redis_url,
                                   int timeout_ms)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_options opts = {.variant = "a primitive",
                          .redis_url = redis_url,
                          .redis_timeout_ms = timeout_ms};
    dlock_primitives *prims;
    dlock_status st;

    dlock_error_clear();
    if (out == NULL)
        return dlock_fail(DLOCK_INVALID, "there is no place for what is opened");
    *out = NULL;
    if (timeout_ms <= 0)
        return dlock_fail(DLOCK_INVALID, "a timeout has to be above 0 ms");
    prims = aligned_alloc(_Alignof(dlock_primitives), sizeof(*prims));
    if (prims == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the primitives");
    memset(prims, 0, sizeof(*prims));
    dlock_fork_watch();
    prims->generation = dlock_fork_generation();
    st = reach(prims, &opts);
    if (st != DLOCK_OK) {
        dlock_primitives_close(prims);
        return st;
    }
    *out = prims;
    return DLOCK_OK;
}

void dlock_primitives_close(dlock_primitives *prims)
{
    DLOCK_PUT_OFF_CANCEL;
    if (prims == NULL || prims->generation != dlock_fork_generation())
        return; /* see dlock_close() */
    dlock_recorder_close(prims->recorder);
    redis_subscription_close(prims->subscription);
    redis_link_close(prims->link);
    free(prims);
}

static dlock_status primitives_check_use(const dlock_primitives *prims)
{
    dlock_error_clear();
    if (prims == NULL)
        return dlock_fail(DLOCK_INVALID, "no primitives were given");
    if (prims->generation != dlock_fork_generation())
        return dlock_fail(DLOCK_INVALID, "the primitives belong to the parent process");
    return DLOCK_OK;
}

dlock_status dlock_primitives_check(dlock_primitives *prims)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_status st = primitives_check_use(prims);

    if (st == DLOCK_OK)
        st = redis_single_check(prims->link, NULL);
    if (st == DLOCK_OK)
        st = primitives_check_rights(prims);
    return primitive_read(st);
}

dlock_status primitive_check(const dlock_primitives *prims, const char *name,
                             primitive_channel_fn *channel_of)
{
    char channel[REDISSON_NAME_SIZE];
    dlock_status st = primitives_check_use(prims);

    if (st == DLOCK_OK)
        st = dlock_name_check(name);
    if (st != DLOCK_OK)
        return st;
    channel_of(name, channel);
    return redisson_check_slot(prims->link, name, channel);
}

dlock_status primitive_check_count(int count, int min)
{
    if (count >= min && count <= DLOCK_COUNT_MAX)
        return DLOCK_OK;
    return dlock_fail(DLOCK_INVALID, "%d is not from %d to %d", count, min,
                      (int)DLOCK_COUNT_MAX);
}

dlock_status primitive_check_place(const void *place)
{
    return place != NULL ? DLOCK_OK
                         : dlock_fail(DLOCK_INVALID, "there is no place for the answer");
}

void primitive_semaphore_channel(const char *name, char out[REDISSON_NAME_SIZE])
{
    redisson_name("redisson_sc", name, out);
}

dlock_status primitive_number(dlock_primitives *prims,
                              const struct redis_script_call *call,
                              const struct redis_shape *shape, int64_t *number)
{
    struct redis_script_call asked = *call;
    struct redis_answer answer;
    dlock_status st;

    asked.shape = shape;
    st = redis_script_run(prims->link, &asked, INT64_MAX, &answer);
    if (st == DLOCK_OK)
        *number = answer.integer;
    return st;
}

dlock_status primitive_ask(dlock_primitives *prims,
                           const struct redis_script_call *call, dlock_status no)
{
    dlock_status st = redis_script_ask(prims->link, call, INT64_MAX);

    return st == DLOCK_LOST ? no : st;
}

dlock_status primitive_read(dlock_status st)
{
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
}

dlock_status primitive_get(dlock_primitives *prims, const char *key, int64_t *number)
{
    struct redis_answer answer;
    dlock_status st = redis_get(prims->link, key, REDIS_SHAPE_NUMBER, &answer);

    *number = st == DLOCK_OK ? answer.integer : 0;
    return st == DLOCK_LOST ? DLOCK_OK : primitive_read(st);
}

/* ---- waiting: the slots of a variant that dlock_wait() needs ---- */

static void *watch(void *state, const dlock_claim *claim)
{
    struct primitive_wait *wait = state;

    (void)claim;
    wait->waiter = redis_subscription_join(wait->prims->subscription, wait->channel,
                                              wait->wake);
    return wait->waiter != NULL ? wait : NULL;
}

static bool sleep_until(void *watched, int64_t until_ns)
{
    struct primitive_wait *wait = watched;

    return redis_waiter_sleep(wait->waiter, until_ns);
}

static void unwatch(void *watched, bool satisfied)
{
    struct primitive_wait *wait = watched;

    redis_waiter_leave(wait->waiter, satisfied);
    wait->waiter = NULL;
}

static uint64_t primitive_era(void *state, const char *name)
{
    const struct primitive_wait *wait = state;

    return redis_link_key_era(wait->prims->link, name);
}

dlock_status primitive_wait(struct primitive_wait *wait, int64_t wait_ms,
                            dlock_attempt_fn *attempt, void *arg)
{
    static const dlock_variant SLOTS = {
        .era = primitive_era, .watch = watch, .sleep = sleep_until, .unwatch = unwatch};
    static const struct dlock_retry PUSH = {.kind = DLOCK_RETRY_PUSH};
    static const dlock_claim NO_CLAIM = {0};
    struct dlock_waiting waiting = {
        .variant = &SLOTS,
        .state = wait,
        .claim = &NO_CLAIM,
        .retry = &PUSH,
        .counts_twice = wait->counts_twice,
        .attempt = attempt,
        .arg = arg,
    };
    dlock_status st;

    if (wait_ms != 0)
        waiting.until_ns =
            wait_ms < 0 ? INT64_MAX : dlock_clock_after(dlock_clock_ns(), wait_ms);
    st = dlock_wait(&waiting);
    dlock_metrics_add(&wait->prims->metrics, DLOCK_METRIC_wake_ups, waiting.wake_count);
    dlock_metrics_add(&wait->prims->metrics, DLOCK_METRIC_useless_wake_ups,
                      waiting.useless_wake_count);
    return st;
}

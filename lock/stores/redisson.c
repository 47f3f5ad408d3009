/* SPDX-License-Identifier: MIT */
/* redisson.c -- the common part of the locks that are compatible with Redisson. */
#include "lock/stores/redisson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/redis/slot.h"
#include "lock/cancel.h"
#include "gen/lua_scripts.h"
#include "lock/stores/redis_rights.h"

enum {
    LEVELS_MISSING = -3, /* see reentrant_acquire.lua */
    CANCEL_SLICE_MS = 10,
};

void redisson_close(void *opaque)
{
    struct redisson_lock *lock = opaque;

    fence_epochs_close(lock->epochs);
    redis_subscription_close(lock->subscription);
    redis_link_close(lock->link);
    if (lock->shares != NULL)
        dlock_fair_shares_destroy(lock->shares);
    free(lock->shares);
    free(lock);
}

/* Called by the subscription for each message of a release. */
static bool tell_shares(void *shares, const char *channel)
{
    return dlock_fair_shares_heard(shares, channel);
}

static dlock_status open_shares(struct redisson_lock *lock)
{
    lock->shares = calloc(1, sizeof(*lock->shares));
    if (lock->shares == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory to share grants");
    dlock_fair_shares_init(lock->shares);
    redis_subscription_tell(lock->subscription, tell_shares, lock->shares);
    return DLOCK_OK;
}

static dlock_status redisson_check_rights(const struct redisson_lock *lock)
{
    const struct redis_script *const scripts[] = {&lock->acquire, &lock->renew, &lock->release};

    return redis_rights_check(lock->link, (struct redis_rights){"", 3, scripts, ""});
}

dlock_status redisson_open(struct redisson_lock **out, const dlock_options *opts,
                           const char *acquire, const char *release,
                           enum redisson_waiting waiting)
{
    struct redisson_lock *lock = calloc(1, sizeof(*lock));
    dlock_status st;

    *out = NULL;
    if (lock == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the variant");
    lock->channel = REDISSON_CHANNEL;
    lock->acquire.text = acquire;
    lock->renew.text = LUA_REENTRANT_RENEW;
    lock->release.text = release;
    st = redis_single_open(opts, NULL, &lock->link);
    if (st == DLOCK_OK)
        st = redis_script_load(lock->link, &lock->acquire);
    if (st == DLOCK_OK)
        st = redis_script_load(lock->link, &lock->renew);
    if (st == DLOCK_OK)
        st = redis_script_load(lock->link, &lock->release);
    if (st == DLOCK_OK)
        st = redisson_check_rights(lock);
    if (st == DLOCK_OK && waiting != REDISSON_POLLS)
        st = redis_subscription_open(&lock->subscription, opts->redis_url,
                                     opts->redis_timeout_ms);
    if (st == DLOCK_OK && waiting == REDISSON_SHARES_GRANTS)
        st = open_shares(lock);
    if (st != DLOCK_OK) {
        redisson_close(lock);
        return st;
    }
    *out = lock;
    return DLOCK_OK;
}

dlock_status redisson_check(void *opaque)
{
    const struct redisson_lock *lock = opaque;
    dlock_status st = redis_ping(lock->link);

    return st == DLOCK_OK ? redisson_check_rights(lock) : st;
}

uint64_t redisson_era(void *opaque, const char *name)
{
    const struct redisson_lock *lock = opaque;

    return redis_link_key_era(lock->link, name);
}

void redisson_name(const char *prefix, const char *name, char out[REDISSON_NAME_SIZE])
{
    bool has_braces = strchr(name, '{') != NULL;

    snprintf(out, REDISSON_NAME_SIZE, "%s:%s%s%s", prefix, has_braces ? "" : "{", name,
             has_braces ? "" : "}");
}

/* When an acquire that is held back looks whether it was cancelled. */
static int64_t slice_end_ns(const dlock_claim *claim)
{
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), CANCEL_SLICE_MS);

    return end_ns < claim->wait_until_ns ? end_ns : claim->wait_until_ns;
}

/* Hold back only an acquire of a new hold that may wait: a try-lock must be answered at
 * once, and readers do not exclude each other.  The lease counts from the end of that,
 * since the request is sent then. */
static bool hold_back(const struct redisson_lock *lock, dlock_claim *claim)
{
    char channel[REDISSON_NAME_SIZE];
    bool was_held_back = false;

    if (lock->shares == NULL || claim->wait_until_ns == 0 || claim->level > 1 ||
        claim->shared)
        return false;
    redisson_name(lock->channel, claim->name, channel);
    while (!dlock_cancel_is_fired(claim->cancel) &&
           dlock_fair_shares_hold_back(lock->shares, channel, slice_end_ns(claim))) {
        was_held_back = true;
        claim->sent_ns = dlock_clock_ns();
    }
    return was_held_back;
}

static void note_answer(const struct redisson_lock *lock, const dlock_claim *claim,
                        bool is_taken)
{
    char channel[REDISSON_NAME_SIZE];

    redisson_name(lock->channel, claim->name, channel);
    dlock_fair_shares_answered(lock->shares, channel, is_taken);
}

static void note_release(const struct redisson_lock *lock, const dlock_claim *claim,
                         int64_t told_count)
{
    char channel[REDISSON_NAME_SIZE];
    int64_t other_count;

    if (told_count <= 0)
        return;
    redisson_name(lock->channel, claim->name, channel);
    other_count = told_count - redis_subscription_listens(lock->subscription, channel);
    dlock_fair_shares_released(lock->shares, channel, other_count);
}

dlock_status redisson_check_slot(const struct redis_link *link, const char *name,
                                 const char *other)
{
    if (!redis_link_is_routed(link) || redis_slot_is_shared(name, other))
        return DLOCK_OK;
    return dlock_fail(DLOCK_INVALID, "the braces in this name put its keys into several slots of "
                                     "a Redis Cluster");
}

/* Without this check a release would delete the lock and then fail to publish. */
static dlock_status check_slot(const struct redisson_lock *lock, const char *name)
{
    char channel[REDISSON_NAME_SIZE];

    redisson_name(lock->channel, name, channel);
    return redisson_check_slot(lock->link, name, channel);
}

static bool is_granted(const struct redis_answer *answer)
{
    return answer->kind != REDIS_INTEGER;
}

dlock_status redisson_acquire_by(const struct redisson_lock *lock, dlock_claim *claim,
                                 const struct redis_script_call *call)
{
    struct redis_write write = {.script = call, .is_done = is_granted};
    struct redis_answer answer;
    bool was_held_back;
    dlock_status st = check_slot(lock, claim->name);

    if (st != DLOCK_OK)
        return st;
    was_held_back = hold_back(lock, claim);
    st = redis_script_write(lock->link, &write, claim->give_up_ns, &answer);
    if (st != DLOCK_OK)
        return st;
    if (was_held_back)
        note_answer(lock, claim, answer.kind == REDIS_INTEGER);
    if (answer.kind == REDIS_BULK)
        claim->fence = (uint64_t)answer.integer;
    if (is_granted(&answer))
        return DLOCK_OK;
    if (answer.integer == LEVELS_MISSING)
        return DLOCK_LOST;
    claim->free_in_ms = answer.integer;
    return DLOCK_BUSY;
}

const struct redis_shape *redisson_acquire_shape(const dlock_claim *claim)
{
    return claim->level > 1 ? REDIS_SHAPE_ACQUIRE_MORE : REDIS_SHAPE_ACQUIRE;
}

const struct redis_shape *redisson_release_shape(const dlock_claim *claim)
{
    return claim->level > 1 ? REDIS_SHAPE_RELEASE_MORE : REDIS_SHAPE_RELEASE_TOLD;
}

dlock_status redisson_acquire(void *opaque, dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    char lease[12];
    char level[12];
    struct redis_script_call call = {
        &lock->acquire, false, 1, 4, {claim->name, lease, claim->owner, level},
        redisson_acquire_shape(claim)};

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    snprintf(level, sizeof(level), "%d", claim->level);
    return redisson_acquire_by(lock, claim, &call);
}

dlock_status redisson_renew(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    char lease[12];
    struct redis_script_call call = {
        &lock->renew, false, 1, 3, {claim->name, lease, claim->owner},
        REDIS_SHAPE_YES_NO};

    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    return redis_script_extend(lock->link, &call, claim->give_up_ns);
}

static dlock_status read_release(const struct redisson_lock *lock,
                                 const dlock_claim *claim,
                                 const struct redis_answer *answer)
{
    if (answer->kind == REDIS_NIL)
        return DLOCK_LOST;
    if (lock->shares != NULL && !claim->shared)
        note_release(lock, claim, answer->integer - 1);
    return DLOCK_OK;
}

dlock_status redisson_release_by(const struct redisson_lock *lock,
                                 const dlock_claim *claim,
                                 const struct redis_script_call *call)
{
    struct redis_answer answer;
    dlock_status st;

    if (claim->post != NULL)
        return redis_script_leave(lock->link, call, claim->post);
    st = redis_script_run(lock->link, call, claim->give_up_ns, &answer);
    return st == DLOCK_OK ? read_release(lock, claim, &answer) : st;
}

dlock_status redisson_read_release(void *lock, const dlock_claim *claim,
                                   const struct redis_answer *answer)
{
    return read_release(lock, claim, answer);
}

bool redisson_send_queued(void *opaque)
{
    const struct redisson_lock *lock = opaque;

    return redis_link_push(lock->link);
}

dlock_status redisson_release(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    const char *message = lock->subscription != NULL ? REDISSON_FREED : "";
    char channel[REDISSON_NAME_SIZE];
    char lease[12];
    char level[12];
    struct redis_script_call call = {
        &lock->release,
        false,
        1,
        6,
        {claim->name, claim->owner, level, lease, message, channel},
        lock->subscription != NULL || claim->level > 1 ? redisson_release_shape(claim)
                                                       : REDIS_SHAPE_RELEASE};

    redisson_name(lock->channel, claim->name, channel);
    snprintf(lease, sizeof(lease), "%d", claim->lease_ms);
    snprintf(level, sizeof(level), "%d", claim->level);
    return redisson_release_by(lock, claim, &call);
}

void *redisson_watch(void *opaque, const dlock_claim *claim)
{
    const struct redisson_lock *lock = opaque;
    char channel[REDISSON_NAME_SIZE];

    redisson_name(lock->channel, claim->name, channel);
    return redis_subscription_join(lock->subscription, channel,
                                   (struct redis_wake){.rule = &REDIS_WAKE_LOCK});
}

bool redisson_sleep(void *waiter, int64_t until_ns)
{
    return redis_waiter_sleep(waiter, until_ns);
}

void redisson_unwatch(void *waiter, bool granted)
{
    redis_waiter_leave(waiter, granted);
}

static const struct redis_script INSPECT = {.text = LUA_REDISSON_INSPECT};
static const struct redis_script FORCE = {.text = LUA_REDISSON_FORCE};

static void fill_keys(const char *name, struct redisson_keys *keys)
{
    redisson_name(REDISSON_QUEUE, name, keys->queue);
    redisson_name(REDISSON_TIMEOUTS, name, keys->timeouts);
    redisson_name(REDISSON_FENCES, name, keys->fences);
}

struct redis_script_call redisson_inspect_call(const char *name, const char *kind,
                                               const char *channel,
                                               struct redisson_keys *keys)
{
    struct redis_script_call call = {
        &INSPECT, true, 4, 6,
        {name, keys->queue, keys->timeouts, keys->fences, kind, channel},
        REDIS_SHAPE_INSPECT};

    fill_keys(name, keys);
    return call;
}

struct redis_script_call redisson_force_call(const char *name, const char *kind,
                                             const char *channel,
                                             struct redisson_keys *keys)
{
    struct redis_script_call call = {
        &FORCE, true, 3, 6,
        {name, keys->queue, keys->timeouts, kind, channel, REDISSON_FREED},
        REDIS_SHAPE_YES_NO};

    fill_keys(name, keys);
    return call;
}

/* Write the channel of the lock; "" if the lock publishes no message. */
static void channel_of(const struct redisson_lock *lock, const char *name,
                       char out[REDISSON_NAME_SIZE])
{
    out[0] = '\0';
    if (lock->subscription != NULL)
        redisson_name(lock->channel, name, out);
}

dlock_status redisson_inspect(void *opaque, const char *name, dlock_info *out)
{
    const struct redisson_lock *lock = opaque;
    char channel[REDISSON_NAME_SIZE];
    struct redisson_keys keys;
    struct redis_script_call call;
    dlock_status st;

    channel_of(lock, name, channel);
    call = redisson_inspect_call(name, "channel", channel, &keys);
    st = redisson_check_slot(lock->link, name, keys.queue);
    return st == DLOCK_OK ? redis_inspect_by(lock->link, &call, out) : st;
}

dlock_status redisson_force(void *opaque, const char *name)
{
    const struct redisson_lock *lock = opaque;
    char channel[REDISSON_NAME_SIZE];
    struct redisson_keys keys;
    struct redis_script_call call;
    dlock_status st;

    channel_of(lock, name, channel);
    call = redisson_force_call(name, "channel", channel, &keys);
    st = redisson_check_slot(lock->link, name, keys.queue);
    return st == DLOCK_OK ? redis_script_ask(lock->link, &call, INT64_MAX) : st;
}

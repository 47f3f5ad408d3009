/* SPDX-License-Identifier: MIT */
/* rwlock.c -- Redisson's read/write lock, on its own keys, fields, channel and
 * messages.
 *
 * Promises    as reentrant, and many readers at once while there is no writer.  A
 *             writer may read too, release its write lock and go on reading.  Each
 *             reader has its own lease, so the hold of a dead reader ends even if other
 *             readers go on.
 * Breaks      as reentrant.  A reader cannot become the writer; and readers that always
 *             overlap keep a writer out for ever.
 * Described   the articles' Redisson chapters; keys, scripts and messages are
 *             compatible with Redisson's.
 *
 * Four things differ from Redisson.  A writer that goes on as a reader wakes the
 * waiting readers.  A further level sets the lease and does not add to it.  The release
 * of a reader whose own lease has ended answers LOST, even if other readers keep the
 * lock alive.  No level of a reader makes the writer's lease shorter.  A Java program
 * that shares the lock only sees that locks are free earlier. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/lua_scripts.h"
#include "lock/stores/redisson.h"

#define CHANNEL "redisson_rwlock"
#define WAKE_ONE "0"
#define WAKE_ALL "1"

enum { FIELD_SIZE = DLOCK_OWNER_MAX + 8, LEVEL_KEY_SIZE = 320, NUMBER_SIZE = 12 };

struct rwlock {
    struct redisson_lock *writer; /* the reader uses its link and subscription too */
    struct redis_script read_acquire;
    struct redis_script read_renew;
    struct redis_script read_release;
};

/* The texts of a claim. */
struct words {
    char channel[REDISSON_NAME_SIZE];
    char base[REDISSON_NAME_SIZE];       /* "{name}"                                 */
    char levels[LEVEL_KEY_SIZE];         /* "{name}:uuid:number:rwlock_timeout:"     */
    char writer[FIELD_SIZE];             /* "uuid:number:write"                      */
    char lease[NUMBER_SIZE];
    char level[NUMBER_SIZE];
};

static void words_of(const dlock_claim *claim, struct words *out)
{
    bool has_braces = strchr(claim->name, '{') != NULL;

    redisson_name(CHANNEL, claim->name, out->channel);
    snprintf(out->base, sizeof(out->base), "%s%s%s", has_braces ? "" : "{", claim->name,
             has_braces ? "" : "}");
    snprintf(out->levels, sizeof(out->levels), "%.220s:%.63s:rwlock_timeout:", out->base,
             claim->owner);
    snprintf(out->writer, sizeof(out->writer), "%s:write", claim->owner);
    snprintf(out->lease, sizeof(out->lease), "%d", claim->lease_ms);
    snprintf(out->level, sizeof(out->level), "%d", claim->level);
}

static void close_state(void *opaque)
{
    struct rwlock *lock = opaque;

    redisson_close(lock->writer);
    free(lock);
}

static dlock_status check(void *opaque)
{
    const struct rwlock *lock = opaque;
    const struct redis_script *const scripts[] = {&lock->read_acquire, &lock->read_renew,
                                                  &lock->read_release};
    dlock_status st = redisson_check(lock->writer);

    return st != DLOCK_OK ? st
                          : redis_rights_check(lock->writer->link,
                                               (struct redis_rights){"", 3, scripts, ""});
}

static dlock_status open_state(const dlock_options *opts, void **state)
{
    struct rwlock *lock = calloc(1, sizeof(*lock));
    dlock_status st;

    *state = NULL;
    if (lock == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the variant");
    st = redisson_open(&lock->writer, opts, LUA_RWLOCK_WRITE_ACQUIRE,
                       LUA_RWLOCK_WRITE_RELEASE, REDISSON_SHARES_GRANTS);
    if (st != DLOCK_OK) {
        free(lock);
        return st;
    }
    lock->writer->channel = CHANNEL;
    lock->writer->renew.text = LUA_RWLOCK_WRITE_RENEW;
    lock->read_acquire.text = LUA_RWLOCK_READ_ACQUIRE;
    lock->read_renew.text = LUA_RWLOCK_READ_RENEW;
    lock->read_release.text = LUA_RWLOCK_READ_RELEASE;
    st = redis_script_load(lock->writer->link, &lock->writer->renew);
    if (st == DLOCK_OK)
        st = redis_script_load(lock->writer->link, &lock->read_acquire);
    if (st == DLOCK_OK)
        st = redis_script_load(lock->writer->link, &lock->read_renew);
    if (st == DLOCK_OK)
        st = redis_script_load(lock->writer->link, &lock->read_release);
    if (st == DLOCK_OK)
        st = check(lock);
    if (st != DLOCK_OK)
        close_state(lock);
    else
        *state = lock;
    return st;
}

static uint64_t era(void *opaque, const char *name)
{
    const struct rwlock *lock = opaque;

    return redisson_era(lock->writer, name);
}

static dlock_status try_acquire(void *opaque, dlock_claim *claim)
{
    const struct rwlock *lock = opaque;
    struct words w;
    struct redis_script_call read = {
        .script = &lock->read_acquire,
        .key_count = 2,
        .argc = 5,
        .argv = {claim->name, w.levels, w.lease, claim->owner, w.level},
        .shape = claim->level > 1 ? REDIS_SHAPE_READ_MORE : REDIS_SHAPE_ACQUIRE};
    struct redis_script_call write = {.script = &lock->writer->acquire,
                                      .key_count = 1,
                                      .argc = 4,
                                      .argv = {claim->name, w.lease, w.writer, w.level},
                                      .shape = redisson_acquire_shape(claim)};

    words_of(claim, &w);
    return redisson_acquire_by(lock->writer, claim, claim->shared ? &read : &write);
}

static dlock_status renew(void *opaque, const dlock_claim *claim)
{
    const struct rwlock *lock = opaque;
    struct words w;
    struct redis_script_call read = {
        .script = &lock->read_renew,
        .key_count = 2,
        .argc = 4,
        .argv = {claim->name, w.levels, w.lease, claim->owner}};
    struct redis_script_call write = {.script = &lock->writer->renew,
                                      .key_count = 1,
                                      .argc = 3,
                                      .argv = {claim->name, w.lease, w.writer}};

    words_of(claim, &w);
    return redis_script_extend(lock->writer->link, claim->shared ? &read : &write,
                               claim->give_up_ns);
}

/* While readers hold the lock, only writers wait, so the release of the last reader
 * wakes one writer. */
static dlock_status release(void *opaque, const dlock_claim *claim)
{
    const struct rwlock *lock = opaque;
    struct words w;
    struct redis_script_call read = {
        .script = &lock->read_release,
        .key_count = 3,
        .argc = 6,
        .argv = {claim->name, w.channel, w.base, claim->owner, w.level, WAKE_ONE},
        .shape = REDIS_SHAPE_READ_RELEASE};
    struct redis_script_call write = {.script = &lock->writer->release,
                                      .key_count = 3,
                                      .argc = 7,
                                      .argv = {claim->name, w.channel, w.levels,
                                               claim->owner, w.level, w.lease,
                                               WAKE_ALL},
                                      .shape = redisson_release_shape(claim)};

    words_of(claim, &w);
    return redisson_release_by(lock->writer, claim, claim->shared ? &read : &write);
}

static dlock_status inspect(void *opaque, const char *name, dlock_info *out)
{
    static const struct redis_script INSPECT = {.text = LUA_RWLOCK_INSPECT};
    const struct rwlock *lock = opaque;
    const dlock_claim nobody = {.name = name, .owner = ""};
    struct words w;
    struct redis_script_call call = {.script = &INSPECT,
                                     .by_text = true,
                                     .key_count = 2,
                                     .argc = 3,
                                     .argv = {name, w.base, w.channel},
                                     .shape = REDIS_SHAPE_INSPECT};
    dlock_status st;

    words_of(&nobody, &w);
    st = redisson_check_slot(lock->writer->link, name, w.channel);
    return st == DLOCK_OK ? redis_inspect_by(lock->writer->link, &call, out) : st;
}

static dlock_status force(void *opaque, const char *name)
{
    static const struct redis_script FORCE = {.text = LUA_RWLOCK_FORCE};
    const struct rwlock *lock = opaque;
    const dlock_claim nobody = {.name = name, .owner = ""};
    struct words w;
    struct redis_script_call call = {.script = &FORCE,
                                     .by_text = true,
                                     .key_count = 2,
                                     .argc = 4,
                                     .argv = {name, w.base, w.channel, WAKE_ALL}};
    dlock_status st;

    words_of(&nobody, &w);
    st = redisson_check_slot(lock->writer->link, name, w.channel);
    return st == DLOCK_OK ? redis_script_ask(lock->writer->link, &call, INT64_MAX) : st;
}

static void *watch(void *opaque, const dlock_claim *claim)
{
    const struct rwlock *lock = opaque;
    struct words w;

    words_of(claim, &w);
    return redis_subscription_join(lock->writer->subscription, w.channel,
                                   (struct redis_wake){.rule = &REDIS_WAKE_LOCK});
}

extern const dlock_variant dlock_variant_rwlock;

const dlock_variant dlock_variant_rwlock = {
    .info =
        {
            .name = "rwlock",
            .store = "redis",
            .promises = "as reentrant, and many readers at once while nobody writes",
            .breaks = "as reentrant; readers that always overlap keep writers out",
            .source = "the articles' Redisson read/write lock",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES |
                    DLOCK_CAP_OWNED | DLOCK_CAP_RENEW | DLOCK_CAP_REENTRANT |
                    DLOCK_CAP_PUSH | DLOCK_CAP_ATOMIC | DLOCK_CAP_SHARED,
        },
    .drift_per_mille = 1,
    .watched = true,
    .open = open_state,
    .close = close_state,
    .check = check,
    .era = era,
    .try_acquire = try_acquire,
    .renew = renew,
    .release = release,
    .watch = watch,
    .sleep = redisson_sleep,
    .unwatch = redisson_unwatch,
    .inspect = inspect,
    .force = force,
};

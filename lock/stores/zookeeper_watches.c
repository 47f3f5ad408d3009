/* SPDX-License-Identifier: MIT */
/* zookeeper_watches.c -- wakes waiters when a node is deleted.
 *
 * The client library keeps a pointer to a watch until the watch has fired or the
 * session's handle is closed, so its memory must not be freed before. */
#include "lock/stores/zookeeper_watches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/hash_table.h"

struct zookeeper_watch {
    struct zookeeper_watches *watches;
    char path[ZOOKEEPER_PATH_SIZE];
    int waiter_count;
    uint64_t end_count;
    uint64_t epoch;     /* the session in which it is armed; 0: not armed */
    bool is_asking;     /* the request to arm it is under way */
    struct dlock_condition told;
    UT_hash_handle hh;
};

struct zookeeper_watches {
    struct zookeeper_session *session;
    struct dlock_mutex mutex; /* not held while the session's mutex is locked */
    struct zookeeper_watch *table;
};

struct zookeeper_watches *zookeeper_watches_open(struct zookeeper_session *session)
{
    struct zookeeper_watches *watches = calloc(1, sizeof(*watches));

    if (watches == NULL)
        return NULL;
    watches->session = session;
    dlock_mutex_init(&watches->mutex);
    return watches;
}

/* Free the watch if neither a waiter nor the client library uses it.  The caller holds
 * the mutex. */
static void free_if_unused(struct zookeeper_watch *watch)
{
    if (watch->waiter_count > 0 || watch->epoch != 0 || watch->is_asking)
        return;
    HASH_DEL(watch->watches->table, watch);
    dlock_condition_destroy(&watch->told);
    free(watch);
}

void zookeeper_watches_close(struct zookeeper_watches *watches)
{
    struct zookeeper_watch *watch, *next;

    if (watches == NULL)
        return;
    HASH_ITER(hh, watches->table, watch, next) {
        watch->waiter_count = 0;
        watch->epoch = 0;
        watch->is_asking = false;
        free_if_unused(watch);
    }
    dlock_mutex_destroy(&watches->mutex);
    free(watches);
}

/* The watch has fired or was lost, and its node may be deleted: wake its waiters.  The
 * caller holds the mutex. */
static void tell(struct zookeeper_watch *watch)
{
    watch->epoch = 0;
    watch->end_count++;
    dlock_condition_broadcast(&watch->told);
    free_if_unused(watch);
}

void zookeeper_watches_end(struct zookeeper_watches *watches, uint64_t epoch)
{
    struct zookeeper_watch *watch, *next;

    dlock_mutex_lock(&watches->mutex);
    HASH_ITER(hh, watches->table, watch, next) {
        if (watch->epoch < epoch)
            tell(watch);
    }
    dlock_mutex_unlock(&watches->mutex);
}

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *arg);

static void on_armed(int rc, const char *value, int len, const struct Stat *stat,
                     const void *arg)
{
    struct zookeeper_watch *watch = (struct zookeeper_watch *)(uintptr_t)arg;
    struct zookeeper_watches *watches = watch->watches;

    (void)value;
    (void)len;
    (void)stat;
    dlock_mutex_lock(&watches->mutex);
    watch->is_asking = false;
    if (rc != ZOK)
        tell(watch); /* no node, or no connection */
    dlock_mutex_unlock(&watches->mutex);
}

/* Send the request that arms the watch; is_asking and the epoch are set.  False: it
 * could not be sent. */
static bool ask(struct zookeeper_watch *watch, uint64_t epoch)
{
    struct zookeeper_session *session = watch->watches->session;
    zhandle_t *zh = zookeeper_session_lock(session, epoch);
    int rc = ZINVALIDSTATE;

    if (zh != NULL) {
        /* Only a watch on an existing node, so that no watch is left for a deleted
         * one. */
        rc = zoo_awget(zh, watch->path, on_event, watch, on_armed, watch);
        zookeeper_session_unlock(session);
    }
    return rc == ZOK;
}

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *arg)
{
    struct zookeeper_watch *watch = arg;
    struct zookeeper_watches *watches = watch->watches;
    uint64_t epoch;
    bool has_to_ask;

    (void)zh;
    (void)state;
    (void)path;
    if (type == ZOO_SESSION_EVENT)
        return; /* it stays armed until zookeeper_watches_end() */
    dlock_mutex_lock(&watches->mutex);
    epoch = watch->epoch;
    has_to_ask = type == ZOO_CHANGED_EVENT && epoch != 0;
    if (has_to_ask)
        watch->is_asking = true;
    else
        tell(watch);
    dlock_mutex_unlock(&watches->mutex);
    if (!has_to_ask || ask(watch, epoch))
        return;
    dlock_mutex_lock(&watches->mutex);
    watch->is_asking = false;
    tell(watch);
    dlock_mutex_unlock(&watches->mutex);
}

bool zookeeper_waiter_begin(struct zookeeper_waiter *waiter,
                            struct zookeeper_watches *watches, const char *path)
{
    struct zookeeper_watch *watch = NULL;

    *waiter = (struct zookeeper_waiter){.watches = watches};
    dlock_mutex_lock(&watches->mutex);
    HASH_FIND_STR(watches->table, path, watch);
    if (watch == NULL) {
        watch = calloc(1, sizeof(*watch));
        if (watch != NULL && !dlock_condition_init(&watch->told)) {
            free(watch);
            watch = NULL;
        }
        if (watch != NULL) {
            watch->watches = watches;
            snprintf(watch->path, sizeof(watch->path), "%s", path);
            HASH_ADD_STR(watches->table, path, watch);
        }
    }
    if (watch != NULL) {
        watch->waiter_count++;
        waiter->watch = watch;
        waiter->seen = watch->end_count;
    }
    dlock_mutex_unlock(&watches->mutex);
    return watch != NULL;
}

/* Arm the watch if it is not armed.  If that fails, the next sleep tries again. */
static void arm(struct zookeeper_watches *watches, struct zookeeper_watch *watch,
                uint64_t epoch)
{
    bool has_to_ask;

    dlock_mutex_lock(&watches->mutex);
    has_to_ask = watch->epoch == 0 && !watch->is_asking;
    if (has_to_ask) {
        watch->epoch = epoch;
        watch->is_asking = true;
    }
    dlock_mutex_unlock(&watches->mutex);
    if (!has_to_ask || ask(watch, epoch))
        return;
    dlock_mutex_lock(&watches->mutex);
    watch->is_asking = false;
    watch->epoch = 0;
    dlock_mutex_unlock(&watches->mutex);
}

bool zookeeper_waiter_sleep(struct zookeeper_waiter *waiter, uint64_t epoch,
                            int64_t until_ns)
{
    struct zookeeper_watches *watches = waiter->watches;
    struct zookeeper_watch *watch = waiter->watch;
    bool has_ended;

    /* Check for an earlier deletion before the watch is armed again. */
    dlock_mutex_lock(&watches->mutex);
    has_ended = watch->end_count != waiter->seen;
    waiter->seen = watch->end_count;
    dlock_mutex_unlock(&watches->mutex);
    if (has_ended)
        return true;
    arm(watches, watch, epoch);
    dlock_mutex_lock(&watches->mutex);
    while (watch->end_count == waiter->seen && dlock_clock_ns() < until_ns)
        (void)dlock_condition_wait_until(&watch->told, &watches->mutex, until_ns);
    has_ended = watch->end_count != waiter->seen;
    waiter->seen = watch->end_count;
    dlock_mutex_unlock(&watches->mutex);
    return has_ended;
}

void zookeeper_waiter_end(struct zookeeper_waiter *waiter)
{
    if (waiter->watch == NULL)
        return;
    dlock_mutex_lock(&waiter->watches->mutex);
    waiter->watch->waiter_count--;
    free_if_unused(waiter->watch);
    dlock_mutex_unlock(&waiter->watches->mutex);
    waiter->watch = NULL;
}

bool zookeeper_waiter_is_for(const struct zookeeper_waiter *waiter, const char *path)
{
    return waiter->watch != NULL && strcmp(waiter->watch->path, path) == 0;
}

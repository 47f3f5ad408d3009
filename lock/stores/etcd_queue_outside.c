/* SPDX-License-Identifier: MIT */
/* etcd_queue_outside.c -- queues in etcd: opening and closing, waking waiters,
 * inspecting and freeing by force. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "lock/info.h"
#include "lock/stores/etcd_queue.h"
#include "lock/stores/etcd_queue_inside.h"

enum {
    TRIES = 20, /* the first of a queue may leave during the inspection */
    MS_PER_S = 1000,
};

dlock_status etcd_queue_open(struct etcd_queue **out, const dlock_options *opts)
{
    struct etcd_queue *queue = calloc(1, sizeof(*queue));
    dlock_status st = queue != NULL ? etcd_http_open(&queue->http, opts)
                                    : dlock_fail(DLOCK_NOMEM, "no memory for the queues");

    *out = NULL;
    if (st == DLOCK_OK) {
        queue->leases = etcd_leases_open(queue->http);
        queue->keys = etcd_keys_open(queue->http);
        queue->places = etcd_places_open();
        queue->watches = etcd_watches_open(queue->http);
        if (queue->leases == NULL || queue->keys == NULL || queue->places == NULL ||
            queue->watches == NULL)
            st = dlock_fail(DLOCK_NOMEM, "no memory for the queues");
    }
    if (st == DLOCK_OK)
        st = etcd_queue_check(queue);
    if (st != DLOCK_OK) {
        etcd_queue_close(queue);
        return st;
    }
    *out = queue;
    return DLOCK_OK;
}

void etcd_queue_close(struct etcd_queue *queue)
{
    if (queue == NULL)
        return;
    etcd_watches_close(queue->watches);
    etcd_leases_close(queue->leases);
    etcd_keys_close(queue->keys);
    etcd_places_close(queue->places);
    etcd_http_close(queue->http);
    free(queue);
}

dlock_status etcd_queue_check(struct etcd_queue *queue)
{
    return etcd_keys_check(queue->keys);
}

/* --- being told --- */

struct queue_watch {
    struct etcd_queue *queue;
    struct etcd_waiter *waiter;
    char owner[DLOCK_OWNER_MAX + 1];
    char name[DLOCK_NAME_MAX + 1];
};

/* Read the place of the watch's owner, if there still is one. */
static bool get(const struct queue_watch *watch, struct etcd_place *out)
{
    return etcd_places_get(watch->queue->places, watch->owner, watch->name, out);
}

static void put(const struct queue_watch *watch, const struct etcd_place *place)
{
    (void)etcd_places_put(watch->queue->places, watch->owner, watch->name, place);
}

void *etcd_queue_watch(struct etcd_queue *queue, const dlock_claim *claim)
{
    struct queue_watch *watch = calloc(1, sizeof(*watch));
    struct etcd_place place;

    if (watch == NULL)
        return NULL;
    watch->queue = queue;
    snprintf(watch->owner, sizeof(watch->owner), "%s", claim->owner);
    snprintf(watch->name, sizeof(watch->name), "%s", claim->name);
    if (get(watch, &place))
        watch->waiter = etcd_waiter_begin(queue->watches, claim->name);
    if (watch->waiter == NULL) {
        free(watch);
        return NULL;
    }
    place.is_watched = true;
    put(watch, &place);
    return watch;
}

/* After a failure the waiter's news still hold, and it would ask without a pause.  So it first
 * sleeps until look_ns. */
bool etcd_queue_sleep(void *arg, int64_t until_ns)
{
    const struct queue_watch *watch = arg;
    struct etcd_place place;
    struct etcd_stand stand;
    enum etcd_told told;

    if (!get(watch, &place)) {
        dlock_clock_sleep_until(until_ns);
        return false;
    }
    if (place.has_failed)
        dlock_clock_sleep_until(place.look_ns < until_ns ? place.look_ns : until_ns);
    if (place.has_failed && dlock_clock_ns() < place.look_ns)
        return false;
    stand = (struct etcd_stand){place.lease.id, place.created, place.before, place.ahead,
                                place.revision};
    told = etcd_waiter_sleep(watch->waiter, &stand, until_ns);
    if (told == ETCD_TOLD_NOTHING)
        return false;
    place.was_told = true;
    place.is_told_first = told == ETCD_IS_FIRST;
    put(watch, &place);
    return true;
}

void etcd_queue_unwatch(void *arg)
{
    struct queue_watch *watch = arg;
    struct etcd_place place;

    etcd_waiter_end(watch->waiter);
    if (get(watch, &place)) {
        place.is_watched = false;
        put(watch, &place);
    }
    free(watch);
}

/* --- from outside --- */

static dlock_status changes_all_the_time(const char *name)
{
    return dlock_fail(DLOCK_IO, "etcd: the first key of %.100s changes all the time", name);
}

dlock_status etcd_queue_inspect(struct etcd_queue *queue, const char *name, dlock_info *out)
{
    struct etcd_listed first;
    int64_t left_s = -1;
    int count = 0;
    dlock_status st = DLOCK_OK;

    *out = dlock_info_nothing();
    for (int i = 0; i < TRIES && left_s < 0; i++) {
        st = etcd_keys_list(queue->keys, name, &first, &count);
        if (st == DLOCK_OK && count == 0) {
            out->waiter_count = 0;
            return DLOCK_OK;
        }
        if (st == DLOCK_OK)
            st = etcd_lease_look(queue->leases, first.lease, &left_s);
        if (st != DLOCK_OK)
            return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
    }
    if (left_s < 0)
        return changes_all_the_time(name);
    out->locked = true;
    out->hold_count = 1;
    out->waiter_count = count - 1;
    if (left_s > INT64_MAX / MS_PER_S) /* a correct server never answers that */
        left_s = INT64_MAX / MS_PER_S;
    out->left_ms = left_s > 0 ? left_s * MS_PER_S : 1; /* 0 means less than a second */
    out->fence = first.created;
    if (first.owner[0] != '\0')
        strcpy(out->owner, first.owner);
    else /* a key of another program */
        snprintf(out->owner, sizeof(out->owner), "lease %" PRIx64, first.lease);
    return DLOCK_OK;
}

dlock_status etcd_queue_force(struct etcd_queue *queue, const char *name)
{
    struct etcd_listed first;
    struct etcd_parting parting;
    int count = 0;

    for (int i = 0; i < TRIES; i++) {
        dlock_status st = etcd_keys_list(queue->keys, name, &first, &count);
        struct etcd_key key = {name, 0, 0};

        if (st != DLOCK_OK)
            return st == DLOCK_UNKNOWN ? DLOCK_IO : st; /* only looked */
        if (count == 0)
            return DLOCK_LOST;
        key.lease = first.lease;
        key.created = first.created;
        st = etcd_key_delete(queue->keys, &key, false, INT64_MAX, &parting);
        if (st == DLOCK_OK) {
            struct etcd_end end = {key.lease, key.created, parting.revision};

            etcd_watches_note(queue->watches, name, &end, 0);
        }
        if (st != DLOCK_LOST)
            return st;
    }
    return changes_all_the_time(name);
}

/* SPDX-License-Identifier: MIT */
/* zookeeper_queue.c -- queues of ephemeral sequential nodes, one for each name. */
#include "lock/stores/zookeeper_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/mutex.h"
#include "base/os/clock.h"
#include "lock/stores/zookeeper_call.h"
#include "lock/stores/zookeeper_debts.h"
#include "lock/stores/zookeeper_place.h"
#include "lock/stores/zookeeper_watches.h"

/* The time between two checks of a waiter, without a message of a watch. */
enum { LOOK_EVERY_MS = 2000 };

struct zookeeper_queue {
    struct zookeeper_session *session;
    const char *kind;
    struct dlock_mutex mutex; /* protects the table, but not the places */
    struct zookeeper_place *table;
};

struct zookeeper_queue *zookeeper_queue_open(struct zookeeper_session *session,
                                             const char *kind)
{
    struct zookeeper_queue *queue = calloc(1, sizeof(*queue));

    if (queue == NULL)
        return NULL;
    queue->session = session;
    queue->kind = kind;
    dlock_mutex_init(&queue->mutex);
    return queue;
}

void zookeeper_queue_close(struct zookeeper_queue *queue)
{
    struct zookeeper_place *place, *next;

    if (queue == NULL)
        return;
    HASH_ITER(hh, queue->table, place, next) {
        HASH_DEL(queue->table, place);
        free(place);
    }
    dlock_mutex_destroy(&queue->mutex);
    free(queue);
}

/* --- the table --- */

static struct zookeeper_place *find(struct zookeeper_queue *queue,
                                    const dlock_claim *claim)
{
    struct zookeeper_place *place = NULL;
    char key[ZOOKEEPER_KEY_SIZE];

    snprintf(key, sizeof(key), "%s %s", claim->owner, claim->name);
    dlock_mutex_lock(&queue->mutex);
    HASH_FIND_STR(queue->table, key, place);
    dlock_mutex_unlock(&queue->mutex);
    return place;
}

static struct zookeeper_place *add(struct zookeeper_queue *queue,
                                   const dlock_claim *claim)
{
    struct zookeeper_place *place = calloc(1, sizeof(*place));

    if (place == NULL)
        return NULL;
    snprintf(place->key, sizeof(place->key), "%s %s", claim->owner, claim->name);
    zookeeper_path_of(place->dir, queue->kind, claim->name);
    dlock_mutex_lock(&queue->mutex);
    HASH_ADD_STR(queue->table, key, place);
    dlock_mutex_unlock(&queue->mutex);
    return place;
}

static void drop(struct zookeeper_queue *queue, struct zookeeper_place *place)
{
    dlock_mutex_lock(&queue->mutex);
    HASH_DEL(queue->table, place);
    dlock_mutex_unlock(&queue->mutex);
    free(place);
}

/* Make the node of a place that is given up a debt, if there is a node. */
static void owe(struct zookeeper_queue *queue, const struct zookeeper_place *place)
{
    if (place->path[0] != '\0')
        zookeeper_debts_owe(zookeeper_session_debts(queue->session), place->epoch,
                            place->path, NULL, zookeeper_settle_path);
}

/* Delete the node, with further tries after lost answers.  That is safe, because the
 * path is never used again. */
static enum zookeeper_result delete_node(struct zookeeper_session *session,
                                         const struct zookeeper_place *place,
                                         int64_t deadline_ns)
{
    enum zookeeper_result result = ZOOKEEPER_UNSENT;
    bool was_sent = false;

    do {
        result = zookeeper_settle_path(session, place->epoch, place->path, NULL,
                                       deadline_ns);
        if (result == ZOOKEEPER_NO_NODE && was_sent)
            return ZOOKEEPER_DONE; /* an earlier, unanswered delete did it */
        was_sent = was_sent || result == ZOOKEEPER_UNKNOWN;
    } while ((result == ZOOKEEPER_UNSENT || result == ZOOKEEPER_UNKNOWN) &&
             zookeeper_session_again(session, deadline_ns, place->epoch));
    return result == ZOOKEEPER_UNSENT && was_sent ? ZOOKEEPER_UNKNOWN : result;
}

/* Delete the node of a place.  If that fails, it becomes a debt. */
static dlock_status give_up(struct zookeeper_queue *queue,
                            struct zookeeper_place *place, int64_t give_up_ns)
{
    enum zookeeper_result result =
        delete_node(queue->session, place,
                    zookeeper_session_deadline_ns(queue->session, give_up_ns));

    switch (result) {
    case ZOOKEEPER_DONE:
        /* The server refuses this unless the directory is empty. */
        zookeeper_delete_unasked(queue->session, place->epoch, place->dir);
        return DLOCK_OK;
    case ZOOKEEPER_NO_NODE:
        return DLOCK_LOST;
    case ZOOKEEPER_UNSENT:
    case ZOOKEEPER_UNKNOWN:
        owe(queue, place);
        return dlock_fail(result == ZOOKEEPER_UNSENT ? DLOCK_IO : DLOCK_UNKNOWN,
                          "zookeeper: %s stays until there is a connection",
                          place->path);
    default:
        owe(queue, place);
        return dlock_fail(DLOCK_PROTOCOL, "zookeeper: refused to delete %s",
                          place->path);
    }
}

/* May a waiter keep its place after a failure?  Yes, if its session lives. */
static bool may_wait_on(struct zookeeper_queue *queue,
                        const struct zookeeper_place *place, const dlock_claim *claim,
                        dlock_status st)
{
    return (st == DLOCK_IO || st == DLOCK_UNKNOWN) && claim->wait_until_ns != 0 &&
           zookeeper_session_is_alive(queue->session, place->epoch);
}

/* The position of the claim in the queue, at a place that it has or takes now. */
static dlock_status stand(struct zookeeper_queue *queue, struct zookeeper_place *place,
                          dlock_claim *claim)
{
    int64_t deadline_ns =
        zookeeper_session_deadline_ns(queue->session, claim->give_up_ns);
    dlock_status st = DLOCK_LOST;

    if (place->path[0] != '\0' && place->is_watched && !place->has_to_look &&
        zookeeper_session_is_alive(queue->session, place->epoch) &&
        dlock_clock_ns() < place->look_at_ns)
        return DLOCK_BUSY;
    if (place->path[0] != '\0' &&
        zookeeper_session_is_alive(queue->session, place->epoch))
        st = zookeeper_place_look(queue->session, place, deadline_ns);
    if (place->path[0] == '\0' && claim->wait_until_ns == 0) {
        st = zookeeper_place_is_free(queue->session, place, deadline_ns);
        if (st != DLOCK_OK)
            return st;
        st = DLOCK_LOST;
    }
    if (st == DLOCK_LOST) { /* there is no place, its session has ended, or it was
                             * deleted */
        st = zookeeper_place_take(queue->session, place, claim, deadline_ns);
        if (st != DLOCK_OK) {
            place->path[0] = '\0';
            return st;
        }
        st = zookeeper_place_look(queue->session, place, deadline_ns);
    }
    claim->note = place->epoch;
    if (st == DLOCK_LOST)
        return dlock_fail(DLOCK_IO, "zookeeper: the node of a lock was removed");
    if (may_wait_on(queue, place, claim, st))
        return DLOCK_BUSY;
    place->has_to_look = false;
    place->look_at_ns = dlock_clock_after(dlock_clock_ns(), LOOK_EVERY_MS);
    return st;
}

dlock_status zookeeper_queue_enter(struct zookeeper_queue *queue, dlock_claim *claim)
{
    struct zookeeper_place *place = find(queue, claim);
    dlock_status st;

    if (place == NULL)
        place = add(queue, claim);
    if (place == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for a place in the queue");
    st = stand(queue, place, claim);
    if (st == DLOCK_OK && !zookeeper_session_is_alive(queue->session, place->epoch))
        st = dlock_fail(DLOCK_IO, "zookeeper: the session ended meanwhile");
    claim->fence = place->czxid;
    if (st == DLOCK_OK || (st == DLOCK_BUSY && claim->wait_until_ns != 0))
        return st;
    if (st == DLOCK_BUSY && place->path[0] != '\0')
        (void)give_up(queue, place, claim->give_up_ns);
    else
        owe(queue, place);
    drop(queue, place);
    return st;
}

dlock_status zookeeper_queue_set_level(struct zookeeper_queue *queue,
                                       const dlock_claim *claim, int level,
                                       uint64_t *fence)
{
    struct zookeeper_place *place = find(queue, claim);
    struct zookeeper_call *call;
    enum zookeeper_result result;
    char data[ZOOKEEPER_DATA_SIZE];
    dlock_status st = DLOCK_OK;

    if (place == NULL || !zookeeper_session_is_alive(queue->session, place->epoch))
        return DLOCK_LOST;
    call = zookeeper_call_make(queue->session, place->epoch);
    if (call == NULL)
        return DLOCK_NOMEM;
    zookeeper_place_describe(data, claim, level);
    zookeeper_send_set(call, place->path, data);
    result = zookeeper_call_wait(
        call, zookeeper_session_deadline_ns(queue->session, claim->give_up_ns));
    if (result == ZOOKEEPER_NO_NODE)
        st = DLOCK_LOST;
    else if (result != ZOOKEEPER_DONE)
        st = zookeeper_fail(call, result, "write the level of a lock");
    if (st == DLOCK_OK && fence != NULL)
        *fence = place->czxid;
    zookeeper_call_drop(call);
    return st;
}

/* Make the node that an unanswered request may have made a debt. */
static dlock_status leave_unknown(struct zookeeper_queue *queue,
                                  const dlock_claim *claim)
{
    char dir[ZOOKEEPER_PATH_SIZE];
    enum zookeeper_result result;

    if (claim->note == 0 || !zookeeper_session_is_alive(queue->session, claim->note))
        return DLOCK_LOST;
    zookeeper_path_of(dir, queue->kind, claim->name);
    result = zookeeper_place_settle(
        queue->session, claim->note, dir, claim->token,
        zookeeper_session_deadline_ns(queue->session, claim->give_up_ns));
    if (result == ZOOKEEPER_DONE)
        return DLOCK_OK;
    if (result == ZOOKEEPER_NO_NODE)
        return DLOCK_LOST;
    zookeeper_debts_owe(zookeeper_session_debts(queue->session), claim->note, dir,
                        claim->token, zookeeper_place_settle);
    return dlock_fail(DLOCK_UNKNOWN, "zookeeper: a node may be left until there is a "
                                     "connection");
}

dlock_status zookeeper_queue_leave(struct zookeeper_queue *queue,
                                   const dlock_claim *claim)
{
    struct zookeeper_place *place = find(queue, claim);
    dlock_status st = DLOCK_LOST;

    if (place == NULL)
        return leave_unknown(queue, claim);
    if (place->path[0] != '\0' &&
        zookeeper_session_is_alive(queue->session, place->epoch))
        st = give_up(queue, place, claim->give_up_ns);
    drop(queue, place);
    return st;
}

/* --- waiting --- */

struct queue_watch {
    struct zookeeper_queue *queue;
    struct zookeeper_place *place;
    struct zookeeper_waiter waiter;
};

void *zookeeper_queue_watch(struct zookeeper_queue *queue, const dlock_claim *claim)
{
    struct queue_watch *watch = calloc(1, sizeof(*watch));

    if (watch == NULL)
        return NULL;
    watch->queue = queue;
    watch->place = find(queue, claim);
    if (watch->place == NULL) {
        free(watch);
        return NULL;
    }
    watch->place->is_watched = true;
    return watch;
}

bool zookeeper_queue_sleep(void *arg, int64_t until_ns)
{
    struct queue_watch *watch = arg;
    struct zookeeper_place *place = watch->place;

    if (!zookeeper_waiter_is_for(&watch->waiter, place->before)) {
        zookeeper_waiter_end(&watch->waiter);
        if (!zookeeper_waiter_begin(&watch->waiter,
                                    zookeeper_session_watches(watch->queue->session),
                                    place->before)) {
            dlock_clock_sleep_until(until_ns);
            return false;
        }
    }
    if (!zookeeper_waiter_sleep(&watch->waiter, place->epoch, until_ns))
        return false;
    place->has_to_look = true;
    return true;
}

void zookeeper_queue_unwatch(void *arg)
{
    struct queue_watch *watch = arg;

    zookeeper_waiter_end(&watch->waiter);
    free(watch);
}

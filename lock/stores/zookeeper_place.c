/* SPDX-License-Identifier: MIT */
/* zookeeper_place.c -- one place in the queue for a lock: its node, and its position.
 *
 * A number is never given twice in a directory, and a directory is removed only when it
 * is empty; so numbers can be compared among the places of one directory, and
 * transactions of the server always.  The server's numbers have 32 bits, so they would
 * begin anew in a queue that is not empty for 2^32 places. */
#include "lock/stores/zookeeper_place.h"

#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"
#include "lock/stores/zookeeper_call.h"
#include "lock/stores/zookeeper_debts.h"
#include "lock/stores/zookeeper_session.h"

enum {
    NODE_SIZE = 2 + DLOCK_TOKEN_LEN + 1 + 1,
    ENTER_TRIES = 10, /* other owners may delete the directory meanwhile, repeatedly */
};

/* Was the node made by a request with `token`? */
static bool is_made_by(const char *node, const char *token)
{
    uint32_t number;

    return zookeeper_place_number(node, &number) &&
           strncmp(node + 2, token, DLOCK_TOKEN_LEN) == 0;
}

static const char *node_of(const struct zookeeper_place *place)
{
    return strrchr(place->path, '/') + 1;
}

void zookeeper_place_describe(char data[ZOOKEEPER_DATA_SIZE], const dlock_claim *claim,
                     int level)
{
    snprintf(data, ZOOKEEPER_DATA_SIZE, "%s %d", claim->owner, level);
}

/* Find out whether the server has a node with this token, and its path. */
static enum zookeeper_result look_for(struct zookeeper_session *session, uint64_t epoch,
                                      const char *dir, const char *token,
                                      char path[ZOOKEEPER_PATH_SIZE],
                                      int64_t deadline_ns)
{
    struct zookeeper_call *sync = zookeeper_call_make(session, epoch);
    struct zookeeper_call *list = zookeeper_call_make(session, epoch);
    enum zookeeper_result result = ZOOKEEPER_UNSENT;

    if (sync != NULL && list != NULL) {
        /* After a change of the server, the new one may lag behind, so ask it to catch
         * up. */
        zookeeper_send_sync(sync, dir);
        zookeeper_send_list(list, dir);
        result = zookeeper_call_wait(list, deadline_ns);
        if (result == ZOOKEEPER_DONE) {
            const struct zookeeper_names *found = zookeeper_listed(list);

            result = ZOOKEEPER_NO_NODE;
            for (int i = 0; i < found->count; i++) {
                if (!is_made_by(found->names[i], token))
                    continue;
                zookeeper_path_join(path, dir, found->names[i]);
                result = ZOOKEEPER_DONE;
            }
        }
    }
    zookeeper_call_drop(sync);
    zookeeper_call_drop(list);
    return result;
}

enum zookeeper_result zookeeper_place_settle(struct zookeeper_session *session,
                                          uint64_t epoch, const char *dir,
                                          const char *token, int64_t deadline_ns)
{
    char path[ZOOKEEPER_PATH_SIZE];
    enum zookeeper_result result =
        look_for(session, epoch, dir, token, path, deadline_ns);

    if (result == ZOOKEEPER_DONE)
        result = zookeeper_settle_path(session, epoch, path, NULL, deadline_ns);
    if (result == ZOOKEEPER_DONE || result == ZOOKEEPER_NO_NODE)
        zookeeper_delete_unasked(session, epoch, dir); /* the server refuses this unless
                                                        * the directory is empty */
    return result;
}

/* --- taking a place --- */

/* Read the transaction that made the node that was found. */
static enum zookeeper_result look_up_fence(struct zookeeper_session *session,
                                           struct zookeeper_place *place,
                                           int64_t deadline_ns)
{
    struct zookeeper_call *get = zookeeper_call_make(session, place->epoch);
    enum zookeeper_result result = ZOOKEEPER_UNSENT;

    if (get != NULL) {
        zookeeper_send_get(get, place->path);
        result = zookeeper_call_wait(get, deadline_ns);
    }
    if (result == ZOOKEEPER_DONE)
        place->czxid = zookeeper_created_in(get);
    if (result == ZOOKEEPER_DONE && place->czxid == 0)
        result = ZOOKEEPER_REFUSED;
    zookeeper_call_drop(get);
    return result;
}

/* The answer to the making of the node was lost: find out if it was made.  Only the
 * same session can have made it, so this is asked before another node is made. */
static enum zookeeper_result find_lost_node(struct zookeeper_session *session,
                                            struct zookeeper_place *place,
                                            const char *token, int64_t deadline_ns)
{
    enum zookeeper_result result = ZOOKEEPER_UNKNOWN;

    while (result == ZOOKEEPER_UNKNOWN || result == ZOOKEEPER_UNSENT) {
        if (!zookeeper_session_again(session, deadline_ns, place->epoch))
            return ZOOKEEPER_UNKNOWN;
        result = look_for(session, place->epoch, place->dir, token, place->path,
                          deadline_ns);
        if (result == ZOOKEEPER_DONE)
            result = look_up_fence(session, place, deadline_ns);
    }
    return result;
}

/* Is `path` the path of a node with `prefix` and the server's number after it? */
static bool is_place_of(const char *path, const char *prefix)
{
    size_t node_at = (size_t)(strrchr(prefix, '/') - prefix) + 1;
    uint32_t number;

    return strncmp(path, prefix, strlen(prefix)) == 0 &&
           zookeeper_place_number(path + node_at, &number);
}

/* Send two requests at once: make the directory, and make the node in it.  DONE: the
 * node is made.  NO_NODE: the directory was deleted in between, or its parent is gone.
 * UNSENT: no node was made. */
static enum zookeeper_result make_node(struct zookeeper_session *session,
                                       struct zookeeper_place *place,
                                       const dlock_claim *claim, int64_t deadline_ns)
{
    struct zookeeper_call *dir = zookeeper_call_make(session, place->epoch);
    struct zookeeper_call *node = zookeeper_call_make(session, place->epoch);
    enum zookeeper_result result = ZOOKEEPER_UNSENT, made = ZOOKEEPER_DONE;
    char prefix[ZOOKEEPER_PATH_SIZE];
    char data[ZOOKEEPER_DATA_SIZE];
    char name[NODE_SIZE];

    snprintf(name, sizeof(name), "c-%s-", claim->token);
    zookeeper_path_join(prefix, place->dir, name);
    zookeeper_place_describe(data, claim, 1);
    place->path[0] = '\0';
    if (dir != NULL && node != NULL) {
        zookeeper_send_create(dir, place->dir, "", ZOOKEEPER_CONTAINER);
        zookeeper_send_create(node, prefix, data, ZOOKEEPER_SEQUENTIAL);
        result = zookeeper_call_wait(node, deadline_ns);
    }
    if (result == ZOOKEEPER_NO_NODE)
        made = zookeeper_call_wait(dir, deadline_ns);
    if (made == ZOOKEEPER_REFUSED || made == ZOOKEEPER_UNSENT) {
        (void)zookeeper_fail(dir, made, "make the directory of a lock");
        result = made;
    } else if (result == ZOOKEEPER_DONE) {
        if (!is_place_of(zookeeper_created_path(node), prefix) ||
            zookeeper_created_in(node) == 0)
            result = ZOOKEEPER_REFUSED;
        strcpy(place->path, zookeeper_created_path(node));
        place->czxid = zookeeper_created_in(node);
    } else if (result == ZOOKEEPER_UNKNOWN) {
        result = find_lost_node(session, place, claim->token, deadline_ns);
        if (result == ZOOKEEPER_NO_NODE)
            result = ZOOKEEPER_UNSENT;
    }
    if (result != ZOOKEEPER_DONE && result != ZOOKEEPER_NO_NODE && result != made &&
        node != NULL)
        (void)zookeeper_fail(node, result, "make a node");
    zookeeper_call_drop(dir);
    zookeeper_call_drop(node);
    return result;
}

dlock_status zookeeper_place_take(struct zookeeper_session *session,
                                  struct zookeeper_place *place, dlock_claim *claim,
                                  int64_t deadline_ns)
{
    enum zookeeper_result result = ZOOKEEPER_NO_NODE;
    int tries = 0;
    dlock_status st;

    do {
        st = zookeeper_session_await(session, deadline_ns, &place->epoch);
        if (st != DLOCK_OK)
            break;
        claim->note = place->epoch;
        result = make_node(session, place, claim, deadline_ns);
        if (result == ZOOKEEPER_NO_NODE && ++tries == ENTER_TRIES)
            return dlock_fail(DLOCK_IO, "zookeeper: %s goes away again and again",
                              place->dir);
        if (result == ZOOKEEPER_NO_NODE && tries > 1) /* the parent directory is gone */
            st = zookeeper_session_make_root(session, deadline_ns);
    } while (st == DLOCK_OK &&
             (result == ZOOKEEPER_NO_NODE || result == ZOOKEEPER_UNSENT) &&
             dlock_clock_ns() < deadline_ns);
    if (st != DLOCK_OK)
        return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
    place->has_to_look = true;
    return result == ZOOKEEPER_DONE      ? DLOCK_OK
           : result == ZOOKEEPER_UNSENT  ? DLOCK_IO
           : result == ZOOKEEPER_UNKNOWN ? DLOCK_UNKNOWN
                                         : DLOCK_PROTOCOL;
}

/* --- where it stands --- */

dlock_status zookeeper_place_refuse(const char *dir, const char *node)
{
    return dlock_fail(DLOCK_PROTOCOL,
                      "zookeeper: the node \"%.80s\" in %.100s is no place in a queue", node, dir);
}

/* Find the position in a list of nodes.  OK: the first.  BUSY: `before` is the node
 * before it.  LOST: it is not in the list.  PROTOCOL: a node of the list has no number,
 * so the order is not known. */
static dlock_status judge(struct zookeeper_place *place,
                          const struct zookeeper_names *found)
{
    const char *before = NULL;
    uint32_t mine = 0, nearest = 0, number;
    bool is_there = false;

    if (!zookeeper_place_number(node_of(place), &mine))
        return zookeeper_place_refuse(place->dir, node_of(place));
    for (int i = 0; i < found->count; i++) {
        const char *other = found->names[i];

        if (!zookeeper_place_number(other, &number))
            return zookeeper_place_refuse(place->dir, other);
        if (strcmp(other, node_of(place)) == 0) {
            is_there = true;
        } else if (number < mine && (before == NULL || number > nearest)) {
            before = other;
            nearest = number;
        }
    }
    if (!is_there)
        return DLOCK_LOST;
    if (before == NULL)
        return DLOCK_OK;
    zookeeper_path_join(place->before, place->dir, before);
    return DLOCK_BUSY;
}

/* OK: the list has no place.  BUSY: it has one.  PROTOCOL: as above. */
static dlock_status judge_any(const char *dir, const struct zookeeper_names *found)
{
    uint32_t number;

    for (int i = 0; i < found->count; i++)
        if (!zookeeper_place_number(found->names[i], &number))
            return zookeeper_place_refuse(dir, found->names[i]);
    return found->count > 0 ? DLOCK_BUSY : DLOCK_OK;
}

dlock_status zookeeper_place_look(struct zookeeper_session *session,
                                  struct zookeeper_place *place, int64_t deadline_ns)
{
    struct zookeeper_call *list = zookeeper_call_make(session, place->epoch);
    enum zookeeper_result result;
    dlock_status st;

    if (list == NULL)
        return DLOCK_NOMEM;
    zookeeper_send_list(list, place->dir);
    result = zookeeper_call_wait(list, deadline_ns);
    if (result == ZOOKEEPER_DONE)
        st = judge(place, zookeeper_listed(list));
    else if (result == ZOOKEEPER_NO_NODE)
        st = DLOCK_LOST;
    else
        st = zookeeper_fail(list, result, "list the places");
    zookeeper_call_drop(list);
    return st;
}

dlock_status zookeeper_place_is_free(struct zookeeper_session *session,
                                     const struct zookeeper_place *place,
                                     int64_t deadline_ns)
{
    struct zookeeper_call *list = NULL;
    enum zookeeper_result result = ZOOKEEPER_UNSENT;
    uint64_t epoch;
    dlock_status st;

    do {
        zookeeper_call_drop(list);
        st = zookeeper_session_await(session, deadline_ns, &epoch);
        if (st != DLOCK_OK)
            return st;
        list = zookeeper_call_make(session, epoch);
        if (list == NULL)
            return DLOCK_NOMEM;
        zookeeper_send_list(list, place->dir);
        result = zookeeper_call_wait(list, deadline_ns);
    } while ((result == ZOOKEEPER_UNSENT || result == ZOOKEEPER_UNKNOWN) &&
             dlock_clock_ns() < deadline_ns);
    if (result == ZOOKEEPER_DONE)
        st = judge_any(place->dir, zookeeper_listed(list));
    else if (result != ZOOKEEPER_NO_NODE)
        st = zookeeper_fail(list, result, "list the places");
    zookeeper_call_drop(list);
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st; /* only a read was sent */
}

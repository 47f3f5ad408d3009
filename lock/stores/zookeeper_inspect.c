/* SPDX-License-Identifier: MIT */
/* zookeeper_inspect.c -- inspecting locks in ZooKeeper, and freeing them by force. */
#include "lock/stores/zookeeper_inspect.h"

#include <stdio.h>
#include <string.h>

#include "base/os/number.h"
#include "lock/info.h"
#include "lock/stores/zookeeper_call.h"
#include "lock/stores/zookeeper_place.h"

enum {
    TRIES = 20, /* the first of a queue may leave during the inspection */
    LEVEL_MAX = 1000000000, /* a larger number is no level, but a part of a token */
};

typedef void send_fn(struct zookeeper_call *call, const char *path);

/* Send one request about `path`, after a sync if the request reads.  OK after DONE and
 * NO_NODE, and the caller drops *out; or a failure. */
static dlock_status ask(struct zookeeper_session *session, send_fn *send,
                        const char *path, struct zookeeper_call **out,
                        enum zookeeper_result *result)
{
    int64_t deadline_ns = zookeeper_session_deadline_ns(session, INT64_MAX);
    struct zookeeper_call *sync = NULL;
    uint64_t epoch = 0;
    dlock_status st = zookeeper_session_await(session, deadline_ns, &epoch);

    *out = NULL;
    if (st != DLOCK_OK)
        return st;
    *out = zookeeper_call_make(session, epoch);
    sync = *out != NULL ? zookeeper_call_make(session, epoch) : NULL;
    if (sync == NULL) {
        zookeeper_call_drop(*out);
        return DLOCK_NOMEM;
    }
    if (send != zookeeper_send_delete)
        zookeeper_send_sync(sync, path);
    send(*out, path);
    *result = zookeeper_call_wait(*out, deadline_ns);
    if (*result != ZOOKEEPER_DONE && *result != ZOOKEEPER_NO_NODE) {
        st = zookeeper_fail(*out, *result, "inspect or free a lock");
        zookeeper_call_drop(*out);
    }
    zookeeper_call_drop(sync);
    return st;
}

dlock_status zookeeper_look_at(struct zookeeper_session *session, const char *path,
                               dlock_info *out)
{
    struct zookeeper_call *call;
    enum zookeeper_result result;
    dlock_status st = ask(session, zookeeper_send_get, path, &call, &result);

    *out = dlock_info_nothing();
    if (st != DLOCK_OK)
        return st;
    if (result == ZOOKEEPER_DONE) {
        const char *data = zookeeper_data(call);
        size_t len = strcspn(data, " ");
        const char *second = data + len + (data[len] == ' ');
        int64_t level = 1;

        out->locked = true;
        out->left_ms = INT64_MAX;
        out->fence = zookeeper_created_in(call);
        (void)dlock_number_read(second, strlen(second), 1, LEVEL_MAX, &level);
        out->hold_count = (int)level;
        snprintf(out->owner, sizeof(out->owner), "%.*s",
                 (int)(len < DLOCK_OWNER_MAX ? len : DLOCK_OWNER_MAX), data);
    }
    zookeeper_call_drop(call);
    return DLOCK_OK;
}

dlock_status zookeeper_take_away(struct zookeeper_session *session, const char *path)
{
    struct zookeeper_call *call;
    enum zookeeper_result result;
    dlock_status st = ask(session, zookeeper_send_delete, path, &call, &result);

    if (st != DLOCK_OK)
        return st;
    zookeeper_call_drop(call);
    return result == ZOOKEEPER_DONE ? DLOCK_OK : DLOCK_LOST;
}

/* Read the number of places, and the path of the first if there is one.  OK, or a
 * failure. */
static dlock_status find_first(struct zookeeper_session *session, const char *dir,
                               char path[ZOOKEEPER_PATH_SIZE], int *place_count)
{
    const struct zookeeper_names *places;
    const char *first = NULL;
    uint32_t number, least = 0;
    struct zookeeper_call *call;
    enum zookeeper_result result;
    dlock_status st = ask(session, zookeeper_send_list, dir, &call, &result);

    *place_count = 0;
    if (st != DLOCK_OK)
        return st;
    places = zookeeper_listed(call);
    if (result == ZOOKEEPER_DONE)
        *place_count = places->count;
    for (int i = 0; st == DLOCK_OK && i < *place_count; i++) {
        if (!zookeeper_place_number(places->names[i], &number))
            st = zookeeper_place_refuse(dir, places->names[i]);
        else if (first == NULL || number < least) {
            first = places->names[i];
            least = number;
        }
    }
    if (first != NULL)
        zookeeper_path_join(path, dir, first);
    zookeeper_call_drop(call);
    return st;
}

dlock_status zookeeper_look_at_queue(struct zookeeper_session *session, const char *dir,
                                     dlock_info *out)
{
    char path[ZOOKEEPER_PATH_SIZE];
    int place_count = 0;
    dlock_status st = DLOCK_OK;

    *out = dlock_info_nothing();
    for (int i = 0; i < TRIES && !out->locked; i++) {
        st = find_first(session, dir, path, &place_count);
        if (st != DLOCK_OK)
            return st;
        if (place_count == 0) {
            out->waiter_count = 0;
            return DLOCK_OK;
        }
        st = zookeeper_look_at(session, path, out);
        if (st != DLOCK_OK)
            return st;
    }
    if (!out->locked)
        return dlock_fail(DLOCK_IO, "zookeeper: the first in %s changes all the time",
                          dir);
    out->waiter_count = place_count - 1;
    return DLOCK_OK;
}

dlock_status zookeeper_take_away_first(struct zookeeper_session *session,
                                       const char *dir)
{
    char path[ZOOKEEPER_PATH_SIZE];
    uint64_t epoch = 0;
    int place_count = 0;
    dlock_status st = DLOCK_LOST;

    for (int i = 0; i < TRIES && st == DLOCK_LOST; i++) {
        st = find_first(session, dir, path, &place_count);
        if (st != DLOCK_OK || place_count == 0)
            return st == DLOCK_UNKNOWN ? DLOCK_IO : st == DLOCK_OK ? DLOCK_LOST : st;
        st = zookeeper_take_away(session, path); /* LOST: the place has just left by
                                                  * itself */
    }
    if (st == DLOCK_LOST)
        return dlock_fail(DLOCK_IO, "zookeeper: the first in %s changes all the time",
                          dir);
    if (st == DLOCK_OK && place_count == 1 &&
        zookeeper_session_await(session, 0, &epoch) == DLOCK_OK)
        zookeeper_delete_unasked(session, epoch, dir); /* the server refuses this unless
                                                        * the directory is empty */
    return st;
}

/* SPDX-License-Identifier: MIT */
/* zookeeper_call.c -- one request to ZooKeeper and its answer, with a deadline.
 *
 * The client library ends every request that it accepted, at last with an error.  So
 * the memory of a call is kept until then, even if the caller gave the call up long
 * before. */
#include "lock/stores/zookeeper_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/refusal.h"
#include "lock/metrics.h"

enum { PASSING_PAUSE_MS = 10 };

struct zookeeper_call {
    struct zookeeper_session *session;
    uint64_t epoch;
    int64_t sent_ns;
    struct dlock_mutex mutex; /* protects what follows */
    struct dlock_condition answered;
    int user_count; /* the caller, and the client library while the request is under
                     * way */
    bool was_sent;
    bool is_write; /* a write, which a quorum of the ensemble has to accept */
    bool is_done;
    int rc;
    uint64_t czxid;
    int version;
    char path[ZOOKEEPER_PATH_SIZE];
    char data[ZOOKEEPER_DATA_SIZE];
    struct zookeeper_names listed;
};

struct zookeeper_call *zookeeper_call_make(struct zookeeper_session *session,
                                           uint64_t epoch)
{
    struct zookeeper_call *call = calloc(1, sizeof(*call));

    if (call == NULL) {
        (void)dlock_fail(DLOCK_NOMEM, "no memory for a request to ZooKeeper");
        return NULL;
    }
    dlock_mutex_init(&call->mutex);
    if (!dlock_condition_init(&call->answered)) {
        dlock_mutex_destroy(&call->mutex);
        free(call);
        return NULL;
    }
    call->session = session;
    call->epoch = epoch;
    call->user_count = 1;
    return call;
}

static void free_call(struct zookeeper_call *call)
{
    for (int i = 0; i < call->listed.count; i++)
        free(call->listed.names[i]);
    free(call->listed.names);
    dlock_condition_destroy(&call->answered);
    dlock_mutex_destroy(&call->mutex);
    free(call);
}

void zookeeper_call_drop(struct zookeeper_call *call)
{
    bool is_last;

    if (call == NULL)
        return;
    dlock_mutex_lock(&call->mutex);
    is_last = --call->user_count == 0;
    dlock_mutex_unlock(&call->mutex);
    if (is_last)
        free_call(call);
}

/* Does the answer come from a server that knew the session? */
static bool is_from_server(int rc)
{
    return rc == ZOK || rc == ZNONODE || rc == ZNODEEXISTS || rc == ZNOTEMPTY ||
           rc == ZBADVERSION;
}

/* End a call, in the client library's thread.  The caller holds the mutex, which is
 * unlocked.  A follower that has lost its leader still answers reads, while the leader
 * may end the session.  So only the answer to a write shows that the session lives. */
static void finish(struct zookeeper_call *call, int rc)
{
    if (call->is_write && is_from_server(rc))
        zookeeper_session_heard(call->session, call->epoch, call->sent_ns);
    call->rc = rc;
    call->is_done = true;
    dlock_condition_signal(&call->answered);
    dlock_mutex_unlock(&call->mutex);
    zookeeper_call_drop(call);
}

static struct zookeeper_call *enter(const void *arg)
{
    struct zookeeper_call *call = (struct zookeeper_call *)(uintptr_t)arg;

    dlock_mutex_lock(&call->mutex);
    return call;
}

/* The transaction that made a node; 0: the server says none.  Fences are these numbers, so each is
 * above 0. */
static uint64_t transaction_of(const struct Stat *stat)
{
    return stat != NULL && stat->czxid > 0 ? (uint64_t)stat->czxid : 0;
}

static void on_void(int rc, const void *arg)
{
    finish(enter(arg), rc);
}

static void on_stat(int rc, const struct Stat *stat, const void *arg)
{
    (void)stat;
    finish(enter(arg), rc);
}

static void on_text(int rc, const char *value, const void *arg)
{
    (void)value;
    finish(enter(arg), rc);
}

static void on_created(int rc, const char *path, const struct Stat *stat,
                       const void *arg)
{
    struct zookeeper_call *call = enter(arg);

    if (rc == ZOK && path != NULL)
        snprintf(call->path, sizeof(call->path), "%s", path);
    if (rc == ZOK)
        call->czxid = transaction_of(stat);
    finish(call, rc);
}

static void on_data(int rc, const char *value, int len, const struct Stat *stat,
                    const void *arg)
{
    struct zookeeper_call *call = enter(arg);

    if (rc == ZOK && value != NULL && len > 0) {
        size_t size = (size_t)len < sizeof(call->data) ? (size_t)len
                                                       : sizeof(call->data) - 1;

        memcpy(call->data, value, size);
    }
    if (rc == ZOK && stat != NULL) {
        call->czxid = transaction_of(stat);
        call->version = stat->version;
    }
    finish(call, rc);
}

static void on_list(int rc, const struct String_vector *found, const void *arg)
{
    struct zookeeper_call *call = enter(arg);

    if (rc == ZOK && found != NULL && found->count > 0) {
        call->listed.names = calloc((size_t)found->count, sizeof(char *));
        for (int i = 0; call->listed.names != NULL && i < found->count; i++) {
            call->listed.names[i] =
                found->data[i] != NULL ? strdup(found->data[i]) : NULL;
            if (call->listed.names[i] == NULL)
                break;
            call->listed.count++;
        }
        if (call->listed.count < found->count)
            rc = ZSYSTEMERROR; /* a part of a queue would be worse than none */
    }
    finish(call, rc);
}

/* Begin to send.  NULL: there is no connection. */
static zhandle_t *begin(struct zookeeper_call *call, bool is_write)
{
    zhandle_t *zh = zookeeper_session_lock(call->session, call->epoch);

    if (zh != NULL) {
        call->sent_ns = dlock_clock_ns();
        call->is_write = is_write;
        call->was_sent = true;
        call->user_count++;
        dlock_commands_sent++;
    }
    return zh;
}

/* End the sending: the client library accepted the request (ZOK), or did not. */
static void end(struct zookeeper_call *call, int rc)
{
    zookeeper_session_unlock(call->session);
    if (rc == ZOK)
        return;
    call->user_count--;
    call->was_sent = rc != ZINVALIDSTATE; /* otherwise it counts as refused by the
                                           * server */
    call->is_done = true;
    call->rc = rc;
}

void zookeeper_send_create(struct zookeeper_call *call, const char *path,
                           const char *data, enum zookeeper_create_mode mode)
{
    int flags = mode == ZOOKEEPER_PERSISTENT   ? ZOO_PERSISTENT
                : mode == ZOOKEEPER_CONTAINER  ? ZOO_CONTAINER
                : mode == ZOOKEEPER_SEQUENTIAL ? ZOO_EPHEMERAL_SEQUENTIAL
                                               : ZOO_EPHEMERAL;
    zhandle_t *zh = begin(call, true);

    if (zh != NULL)
        end(call, zoo_acreate2(zh, path, data, (int)strlen(data),
                               &ZOO_OPEN_ACL_UNSAFE, flags, on_created, call));
}

/* Not by zoo_amulti(), which frees uninitialised memory if the session has just
 * ended. */
void zookeeper_send_delete_version(struct zookeeper_call *call, const char *path,
                                   int version)
{
    zhandle_t *zh = begin(call, true);

    if (zh != NULL)
        end(call, zoo_adelete(zh, path, version, on_void, call));
}

void zookeeper_send_delete(struct zookeeper_call *call, const char *path)
{
    zookeeper_send_delete_version(call, path, -1);
}

void zookeeper_send_get(struct zookeeper_call *call, const char *path)
{
    zhandle_t *zh = begin(call, false);

    if (zh != NULL)
        end(call, zoo_aget(zh, path, 0, on_data, call));
}

void zookeeper_send_set(struct zookeeper_call *call, const char *path,
                        const char *data)
{
    zhandle_t *zh = begin(call, true);

    if (zh != NULL)
        end(call, zoo_aset(zh, path, data, (int)strlen(data), -1, on_stat, call));
}

void zookeeper_send_list(struct zookeeper_call *call, const char *path)
{
    zhandle_t *zh = begin(call, false);

    if (zh != NULL)
        end(call, zoo_aget_children(zh, path, 0, on_list, call));
}

void zookeeper_send_sync(struct zookeeper_call *call, const char *path)
{
    zhandle_t *zh = begin(call, false);

    if (zh != NULL)
        end(call, zoo_async(zh, path, on_text, call));
}

void zookeeper_delete_unasked(struct zookeeper_session *session, uint64_t epoch,
                              const char *path)
{
    struct zookeeper_call *call = zookeeper_call_make(session, epoch);

    if (call != NULL)
        zookeeper_send_delete(call, path);
    zookeeper_call_drop(call);
}

/* Delete a node that never exists: that changes nothing, and is a write. */
void zookeeper_beat(struct zookeeper_session *session, uint64_t epoch)
{
    zookeeper_delete_unasked(session, epoch, ZOOKEEPER_ROOT "/beat");
}

/* The result of an error.  The callers repeat a request that was not executed, and the
 * pause before keeps them from doing so without an end. */
static enum zookeeper_result judge_refusal(int rc, int64_t deadline_ns)
{
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), PASSING_PAUSE_MS);

    switch (refusal_of_number(REFUSAL_ZOOKEEPER, rc)) {
    case REFUSAL_PASSES:
        dlock_clock_sleep_until(until_ns < deadline_ns ? until_ns : deadline_ns);
        return ZOOKEEPER_UNSENT;
    case REFUSAL_UNDECIDED:
        return ZOOKEEPER_UNKNOWN;
    default:
        return ZOOKEEPER_REFUSED;
    }
}

enum zookeeper_result zookeeper_call_wait(struct zookeeper_call *call,
                                          int64_t deadline_ns)
{
    bool is_done;
    int rc;

    if (!call->was_sent)
        return ZOOKEEPER_UNSENT;
    dlock_mutex_lock(&call->mutex);
    while (!call->is_done && dlock_clock_ns() < deadline_ns)
        (void)dlock_condition_wait_until(&call->answered, &call->mutex, deadline_ns);
    is_done = call->is_done;
    rc = call->rc;
    dlock_mutex_unlock(&call->mutex);
    if (!is_done)
        return ZOOKEEPER_UNKNOWN;
    switch (rc) {
    case ZOK:
        return ZOOKEEPER_DONE;
    case ZNONODE:
        return ZOOKEEPER_NO_NODE;
    case ZNODEEXISTS:
        return ZOOKEEPER_NODE_EXISTS;
    case ZNOTEMPTY:
        return ZOOKEEPER_NOT_EMPTY;
    case ZBADVERSION:
        return ZOOKEEPER_CHANGED;
    default:
        return judge_refusal(rc, deadline_ns);
    }
}

dlock_status zookeeper_fail(const struct zookeeper_call *call,
                            enum zookeeper_result result, const char *what)
{
    switch (result) {
    case ZOOKEEPER_UNSENT:
        return call->was_sent
                   ? dlock_fail(DLOCK_IO, "zookeeper: cannot %s now: error %d", what, call->rc)
                   : dlock_fail(DLOCK_IO, "zookeeper: no connection to %s", what);
    case ZOOKEEPER_UNKNOWN:
        return dlock_fail(DLOCK_UNKNOWN, "zookeeper: no answer to %s", what);
    case ZOOKEEPER_REFUSED:
        return dlock_fail(DLOCK_PROTOCOL, "zookeeper: refused to %s: %s", what,
                          call->rc == ZOK       ? "the answer is about another node"
                          : call->rc == ZNOAUTH ? "an ACL denies it"
                                                : zerror(call->rc));
    default:
        return dlock_fail(DLOCK_PROTOCOL, "zookeeper: cannot %s: %s", what,
                          result == ZOOKEEPER_NO_NODE ? "there is no such node"
                                                      : "the node is in the way");
    }
}

const char *zookeeper_created_path(const struct zookeeper_call *call)
{
    return call->path;
}

uint64_t zookeeper_created_in(const struct zookeeper_call *call)
{
    return call->czxid;
}

const char *zookeeper_data(const struct zookeeper_call *call)
{
    return call->data;
}

int zookeeper_version(const struct zookeeper_call *call)
{
    return call->version;
}

const struct zookeeper_names *zookeeper_listed(const struct zookeeper_call *call)
{
    return &call->listed;
}

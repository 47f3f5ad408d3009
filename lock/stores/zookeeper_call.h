/* SPDX-License-Identifier: MIT */
/* zookeeper_call.h -- one request to ZooKeeper and its answer, with a deadline.
 *
 * The server executes the requests of a session in the order in which they were sent.
 * A caller may send several requests before it waits for the first.
 *
 * Threads     A call belongs to the thread that made it.
 */
#ifndef DLOCK_ZOOKEEPER_CALL_H
#define DLOCK_ZOOKEEPER_CALL_H

#include <stdint.h>

#include "lock/stores/zookeeper_handle.h"

enum { ZOOKEEPER_DATA_SIZE = DLOCK_OWNER_MAX + DLOCK_TOKEN_LEN + 16 };

/* The result of a request.  An answer without a row here is ZOOKEEPER_REFUSED, whose
 * status is PROTOCOL. */
enum zookeeper_result {
    ZOOKEEPER_DONE,
    ZOOKEEPER_NO_NODE,
    ZOOKEEPER_NODE_EXISTS,
    ZOOKEEPER_NOT_EMPTY,
    ZOOKEEPER_CHANGED,  /* the node has another version                         */
    ZOOKEEPER_REFUSED,  /* any other answer                                     */
    ZOOKEEPER_UNSENT,   /* no connection in that epoch, or the server refuses for
                         * now: it was not executed                             */
    ZOOKEEPER_UNKNOWN,  /* it was sent, and no answer came                      */
};

struct zookeeper_names {
    int count;
    char **names;
};

struct zookeeper_call;

/* Make a call for the session `epoch`; the caller frees it with zookeeper_call_drop().
 * NULL: no memory. */
struct zookeeper_call *zookeeper_call_make(struct zookeeper_session *session,
                                           uint64_t epoch);

/* Give up the call, answered or not; its memory is freed when the client library has
 * ended it too.  NULL is fine. */
void zookeeper_call_drop(struct zookeeper_call *call);

/* Send the call; each call once.  If a call cannot be sent, it gets ZOOKEEPER_UNSENT at
 * once. */
enum zookeeper_create_mode {
    ZOOKEEPER_PERSISTENT,
    ZOOKEEPER_CONTAINER, /* the server deletes it some time after its last child */
    ZOOKEEPER_EPHEMERAL,
    ZOOKEEPER_SEQUENTIAL, /* ephemeral, with a growing number after its name     */
};
void zookeeper_send_create(struct zookeeper_call *call, const char *path,
                           const char *data, enum zookeeper_create_mode mode);
void zookeeper_send_delete(struct zookeeper_call *call, const char *path);
/* Delete the node only if it has this version; otherwise the result is CHANGED. */
void zookeeper_send_delete_version(struct zookeeper_call *call, const char *path,
                                   int version);
void zookeeper_send_get(struct zookeeper_call *call, const char *path);
void zookeeper_send_set(struct zookeeper_call *call, const char *path,
                        const char *data);
void zookeeper_send_list(struct zookeeper_call *call, const char *path);
/* A read after the answer sees every write before this call. */
void zookeeper_send_sync(struct zookeeper_call *call, const char *path);

/* Delete the node, without waiting for an answer. */
void zookeeper_delete_unasked(struct zookeeper_session *session, uint64_t epoch,
                              const char *path);

/* Send a write that changes nothing, for zookeeper_session_heard(). */
void zookeeper_beat(struct zookeeper_session *session, uint64_t epoch);

/* Wait for the answer until `deadline_ns`. */
enum zookeeper_result zookeeper_call_wait(struct zookeeper_call *call,
                                          int64_t deadline_ns);

/* The status for a result that is a failure; dlock_error() gets the reason. */
dlock_status zookeeper_fail(const struct zookeeper_call *call,
                            enum zookeeper_result result, const char *what);

/* After DONE: the path of the created node, and the transaction that created it; the
 * data of a node, and its version; the nodes in a directory.  The results live as long
 * as the call. */
const char *zookeeper_created_path(const struct zookeeper_call *call);
uint64_t zookeeper_created_in(const struct zookeeper_call *call);
const char *zookeeper_data(const struct zookeeper_call *call);
int zookeeper_version(const struct zookeeper_call *call);
const struct zookeeper_names *zookeeper_listed(const struct zookeeper_call *call);

#endif /* DLOCK_ZOOKEEPER_CALL_H */

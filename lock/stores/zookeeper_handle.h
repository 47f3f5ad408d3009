/* SPDX-License-Identifier: MIT */
/* zookeeper_handle.h -- the struct of a session (zookeeper_session.h), which its keeper
 * changes, and the functions that requests need.
 *
 * Only for stores/.
 *
 * Threads     Any, except where only the keeper is named.
 */
#ifndef DLOCK_ZOOKEEPER_HANDLE_H
#define DLOCK_ZOOKEEPER_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/os/condition.h"
#include "base/os/thread.h"
#include "lock/dlock_variant.h"
#include "lock/stores/zookeeper_path.h"

struct _zhandle;
struct zookeeper_debts;
struct zookeeper_watches;
struct zookeeper_session;

/* The argument of the client library's session events. */
struct zookeeper_link {
    struct zookeeper_session *session;
    uint64_t epoch;
};

struct zookeeper_session {
    char *url;
    const char *kind;
    int timeout_ms; /* of a request */
    int wanted_ms;  /* of the session */
    struct zookeeper_debts *debts;
    struct zookeeper_watches *watches;
    struct dlock_thread keeper;
    bool has_keeper;
    /* Written under the mutex, and read without it. alive_until_ns becomes 0 before the
     * epoch changes, and gets another value only after that. */
    _Atomic uint64_t epoch;
    _Atomic int64_t alive_until_ns;
    struct dlock_mutex mutex; /* protects what follows */
    struct dlock_condition changed;
    struct _zhandle *zh; /* NULL: none is open */
    struct zookeeper_link *link;
    int granted_ms;
    bool is_connected;
    bool is_over;       /* the server has ended the session */
    bool was_connected; /* in this epoch */
    bool has_errand;    /* the keeper has work */
    bool stopping;
    int64_t patience_ns; /* until when calls wait for a connection */
    int64_t beat_at_ns;
    int backoff_ms;
};

/* Let calls wait for a connection from now on, because it was just lost or is being
 * made. The caller holds the mutex. */
void zookeeper_session_be_patient(struct zookeeper_session *session);

/* Wait for a connection until `deadline_ns`, but at most the timeout of a request since
 * the loss of the connection; after that calls fail at once. OK, and *epoch is the
 * session; or IO. */
dlock_status zookeeper_session_await(struct zookeeper_session *session,
                                     int64_t deadline_ns, uint64_t *epoch);

/* Wait until a request that failed in session `epoch` can be tried again. True: there
 * is a connection, in the same session. False: the session has ended, or `deadline_ns`
 * has come. */
bool zookeeper_session_again(struct zookeeper_session *session, int64_t deadline_ns,
                             uint64_t epoch);

/* Does the server certainly keep the session `epoch` now? No I/O, no mutex. */
bool zookeeper_session_is_alive(const struct zookeeper_session *session,
                                uint64_t epoch);

/* The deadline of a request that begins now: after the timeout of the options, or
 * give_up_ns if that is earlier. */
int64_t zookeeper_session_deadline_ns(const struct zookeeper_session *session,
                                      int64_t give_up_ns);

struct zookeeper_debts *zookeeper_session_debts(struct zookeeper_session *session);
struct zookeeper_watches *zookeeper_session_watches(struct zookeeper_session *session);

/* Tell the keeper that it has work to do. */
void zookeeper_session_wake_keeper(struct zookeeper_session *session);

/* For tests: the server's name for the session and the password to it (16 bytes).
 * False: there is no session now. */
bool zookeeper_session_identity(struct zookeeper_session *session, int64_t *id,
                                char password[16]);

/* Lock the handle so that the caller can send requests, and unlock it. NULL: `epoch`
 * has ended, or there is no connection; then the caller must not unlock. */
struct _zhandle *zookeeper_session_lock(struct zookeeper_session *session,
                                        uint64_t epoch);
void zookeeper_session_unlock(struct zookeeper_session *session);

/* Note that the server answered a write that was sent at sent_ns, so the leader of the
 * ensemble knew the session then. */
void zookeeper_session_heard(struct zookeeper_session *session, uint64_t epoch,
                             int64_t sent_ns);

#endif /* DLOCK_ZOOKEEPER_HANDLE_H */

/* SPDX-License-Identifier: MIT */
/* zookeeper_handle.h -- the state of a session of zookeeper_session.h, which its keeper
 * changes, and what requests ask of it.
 *
 * Only for stores/.
 *
 * Threads     Any, but for what is said to be the keeper's.
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

/* The context of the library's session events. */
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
    /* Written under the mutex. For who asks without it: alive_until_ns becomes 0 before
     * the epoch changes, and anything else only after. */
    _Atomic uint64_t epoch;
    _Atomic int64_t alive_until_ns;
    struct dlock_mutex mutex; /* of what follows */
    struct dlock_condition changed;
    struct _zhandle *zh; /* NULL: none is open */
    struct zookeeper_link *link;
    int granted_ms;
    bool is_connected;
    bool is_over;       /* the server says so */
    bool was_connected; /* in this epoch */
    bool has_errand;    /* for the keeper */
    bool stopping;
    int64_t patience_ns; /* until when calls wait for a connection */
    int64_t beat_at_ns;
    int backoff_ms;
};

/* With the mutex held: the connection has just gone, or is to come. */
void zookeeper_session_be_patient(struct zookeeper_session *session);

/* Wait for a connection, until `deadline_ns`, and no longer than the timeout of a
 * request since it was lost: after that everything fails at once. OK and *epoch, or
 * IO. */
dlock_status zookeeper_session_await(struct zookeeper_session *session,
                                     int64_t deadline_ns, uint64_t *epoch);

/* May a request that went wrong in session `epoch` be tried again, before
 * `deadline_ns`? Waits for a connection. False: the session is over, or it is too
 * late. */
bool zookeeper_session_again(struct zookeeper_session *session, int64_t deadline_ns,
                             uint64_t epoch);

/* Does the server certainly keep the session `epoch`?  No I/O, no mutex. */
bool zookeeper_session_is_alive(const struct zookeeper_session *session,
                                uint64_t epoch);

/* When a request that begins now has to be over: after the timeout of the options, or
 * at give_up_ns if that is earlier. */
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

/* Between these two the handle is the caller's to give requests to.  NULL: `epoch` is
 * over, or there is no connection; then there is nothing to unlock. */
struct _zhandle *zookeeper_session_lock(struct zookeeper_session *session,
                                        uint64_t epoch);
void zookeeper_session_unlock(struct zookeeper_session *session);

/* The server answered a write that was sent then, so the leader of its ensemble knew the
 * session. */
void zookeeper_session_heard(struct zookeeper_session *session, uint64_t epoch,
                             int64_t sent_ns);

#endif /* DLOCK_ZOOKEEPER_HANDLE_H */

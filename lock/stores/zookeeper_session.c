/* SPDX-License-Identifier: MIT */
/* zookeeper_session.c -- the session with ZooKeeper in which all locks of a system
 * live. */
#include "lock/stores/zookeeper_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "base/os/condition.h"
#include "base/os/clock.h"
#include "lock/stores/zookeeper_call.h"
#include "lock/stores/zookeeper_debts.h"
#include "lock/stores/zookeeper_watches.h"
#include "base/os/thread.h"

enum {
    SESSION_MIN_MS = 400, /* the least that is requested: with less a busy machine loses
                           * connections */
    BACKOFF_FIRST_MS = 20,
    BACKOFF_LAST_MS = 1000,
    BEATS_PER_TIMEOUT = 6,
    BEAT_LEAST_MS = 5, /* between two beats, whatever the server grants */
};

static void log_nothing(const char *message)
{
    (void)message;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* --- what arrives in the library's thread --- */

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *arg)
{
    const struct zookeeper_link *link = arg;
    struct zookeeper_session *session = link->session;

    (void)path;
    if (type != ZOO_SESSION_EVENT)
        return;
    dlock_mutex_lock(&session->mutex);
    if (link->epoch == atomic_load(&session->epoch)) {
        if (state == ZOO_CONNECTED_STATE) {
            session->granted_ms = zoo_recv_timeout(zh);
            session->is_connected = session->was_connected = true;
            session->beat_at_ns = 0;
        } else {
            if (session->is_connected)
                zookeeper_session_be_patient(session);
            session->is_connected = false;
        }
        if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
            session->is_over = true;
            atomic_store(&session->alive_until_ns, 0);
        }
        dlock_condition_broadcast(&session->changed);
    }
    dlock_mutex_unlock(&session->mutex);
}

/* --- the keeper --- */

/* Open a handle.  The caller holds the mutex, which is unlocked meanwhile, because
 * resolving host names takes time. */
static void open_handle(struct zookeeper_session *session)
{
    struct zookeeper_link *link = calloc(1, sizeof(*link));
    zhandle_t *zh = NULL;

    session->is_connected = session->is_over = session->was_connected = false;
    zookeeper_session_be_patient(session);
    if (link != NULL) {
        *link = (struct zookeeper_link){session, atomic_load(&session->epoch)};
        dlock_mutex_unlock(&session->mutex);
        zh = zookeeper_init2(session->url, on_event, session->wanted_ms, NULL, link, 0,
                             log_nothing);
        dlock_mutex_lock(&session->mutex);
    }
    session->zh = zh;
    /* Without this the client library resolves the host names after each wait.  If the
     * process forks meanwhile, no host name can be resolved in the child. */
    if (zh != NULL)
        zoo_set_servers_resolution_delay(zh, -1);
    if (zh == NULL)
        free(link);
    else
        session->link = link;
    dlock_condition_broadcast(&session->changed);
}

/* End the epoch: its locks count as lost.  If there is a connection, the server is told
 * to end the session at once; otherwise the session ends by its timeout.  The caller
 * holds the mutex, which is unlocked meanwhile. */
static void end_epoch(struct zookeeper_session *session)
{
    zhandle_t *zh = session->zh;
    struct zookeeper_link *link = session->link;

    atomic_store(&session->alive_until_ns, 0);
    atomic_fetch_add(&session->epoch, 1);
    session->zh = NULL;
    session->link = NULL;
    zookeeper_session_be_patient(session);
    session->is_connected = false;
    dlock_condition_broadcast(&session->changed);
    dlock_mutex_unlock(&session->mutex);
    if (zh != NULL)
        zookeeper_close(zh); /* ends every call that is under way */
    free(link);
    zookeeper_watches_end(session->watches, atomic_load(&session->epoch));
    dlock_mutex_lock(&session->mutex);
}

static void wait_until(struct zookeeper_session *session, int64_t until_ns)
{
    if (!session->stopping && !session->has_errand && dlock_clock_ns() < until_ns)
        (void)dlock_condition_wait_until(&session->changed, &session->mutex, until_ns);
}

/* Wait before the next session, after one that ended or could not be opened. */
static void back_off(struct zookeeper_session *session)
{
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), session->backoff_ms);

    while (!session->stopping && dlock_clock_ns() < until_ns)
        (void)dlock_condition_wait_until(&session->changed, &session->mutex, until_ns);
    session->backoff_ms = session->backoff_ms == 0 ? BACKOFF_FIRST_MS
                                                   : session->backoff_ms * 2;
    if (session->backoff_ms > BACKOFF_LAST_MS)
        session->backoff_ms = BACKOFF_LAST_MS;
}

/* Has the session been answered before, and has no answer come for its timeout? */
static bool is_silent(const struct zookeeper_session *session)
{
    int64_t until_ns = atomic_load(&session->alive_until_ns);

    return until_ns != 0 && dlock_clock_ns() >= until_ns;
}

/* Do the keeper's work while there is a session.  The mutex is unlocked meanwhile. */
static void attend(struct zookeeper_session *session)
{
    uint64_t epoch = atomic_load(&session->epoch);
    int64_t now_ns = dlock_clock_ns();
    int64_t wake_ns = atomic_load(&session->alive_until_ns);

    if (wake_ns == 0)
        wake_ns = INT64_MAX;
    if (!session->is_connected) {
        session->has_errand = false;
        wait_until(session, wake_ns);
        return;
    }
    if (now_ns >= session->beat_at_ns) {
        int beat_ms = session->granted_ms / BEATS_PER_TIMEOUT;

        session->beat_at_ns = dlock_clock_after(
            now_ns, beat_ms < BEAT_LEAST_MS ? BEAT_LEAST_MS : beat_ms);
        dlock_mutex_unlock(&session->mutex);
        zookeeper_beat(session, epoch);
        dlock_mutex_lock(&session->mutex);
    }
    if (zookeeper_debts_are_open(session->debts)) {
        session->has_errand = false;
        dlock_mutex_unlock(&session->mutex);
        zookeeper_debts_settle(session->debts, epoch);
        dlock_mutex_lock(&session->mutex);
    }
    session->has_errand =
        session->has_errand && zookeeper_debts_are_open(session->debts);
    wait_until(session, earlier(wake_ns, session->beat_at_ns));
}

static void *keep(void *arg)
{
    struct zookeeper_session *session = arg;

    dlock_mutex_lock(&session->mutex);
    while (!session->stopping) {
        if (session->zh == NULL) {
            back_off(session);
            if (!session->stopping)
                open_handle(session);
        } else if (session->is_over || is_silent(session)) {
            end_epoch(session);
        } else {
            if (session->is_connected && atomic_load(&session->alive_until_ns) != 0)
                session->backoff_ms = 0; /* it lived for longer than the server's answer took */
            attend(session);
        }
    }
    end_epoch(session);
    dlock_mutex_unlock(&session->mutex);
    return NULL;
}

/* --- begin and end --- */

static enum zookeeper_result make_dir(struct zookeeper_call *call, const char *path,
                                      int64_t deadline_ns)
{
    enum zookeeper_result result;

    zookeeper_send_create(call, path, "", ZOOKEEPER_PERSISTENT);
    result = zookeeper_call_wait(call, deadline_ns);
    return result == ZOOKEEPER_NODE_EXISTS ? ZOOKEEPER_DONE : result;
}

dlock_status zookeeper_session_make_root(struct zookeeper_session *session,
                                         int64_t deadline_ns)
{
    char path[ZOOKEEPER_PATH_SIZE];
    enum zookeeper_result result = ZOOKEEPER_DONE;
    uint64_t epoch;
    dlock_status st = zookeeper_session_await(session, deadline_ns, &epoch);

    snprintf(path, sizeof(path), "%s/%s", ZOOKEEPER_ROOT, session->kind);
    for (int i = 0; st == DLOCK_OK && i < 2; i++) {
        struct zookeeper_call *call = zookeeper_call_make(session, epoch);

        if (call == NULL)
            return DLOCK_NOMEM;
        result = make_dir(call, i == 0 ? ZOOKEEPER_ROOT : path, deadline_ns);
        if (result != ZOOKEEPER_DONE)
            st = zookeeper_fail(call, result,
                                i == 0 ? "make " ZOOKEEPER_ROOT
                                         " (does the URL's chroot exist?)"
                                       : "make the directory of the locks");
        zookeeper_call_drop(call);
    }
    return st;
}

dlock_status zookeeper_session_check(struct zookeeper_session *session)
{
    int64_t deadline_ns = zookeeper_session_deadline_ns(session, INT64_MAX);
    struct zookeeper_call *call;
    enum zookeeper_result result;
    uint64_t epoch;
    dlock_status st = zookeeper_session_await(session, deadline_ns, &epoch);

    if (st != DLOCK_OK)
        return st;
    call = zookeeper_call_make(session, epoch);
    if (call == NULL)
        return DLOCK_NOMEM;
    zookeeper_send_get(call, ZOOKEEPER_ROOT);
    result = zookeeper_call_wait(call, deadline_ns);
    if (result != ZOOKEEPER_DONE && result != ZOOKEEPER_NO_NODE)
        st = zookeeper_fail(call, result, "read " ZOOKEEPER_ROOT);
    zookeeper_call_drop(call);
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
}

static dlock_status begin(struct zookeeper_session *session, const dlock_options *opts)
{
    int64_t deadline_ns;
    dlock_status st;

    session->url = strdup(opts->zookeeper_url);
    session->debts = zookeeper_debts_open(session);
    session->watches = zookeeper_watches_open(session);
    if (session->url == NULL || session->debts == NULL || session->watches == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for a session");
    deadline_ns = zookeeper_session_deadline_ns(session, INT64_MAX);
    session->patience_ns = deadline_ns;
    session->has_keeper = dlock_thread_start(&session->keeper, keep, session) == 0;
    if (!session->has_keeper)
        return dlock_fail(DLOCK_NOMEM, "the thread of the session cannot be started");
    st = zookeeper_session_make_root(session, deadline_ns);
    while ((st == DLOCK_IO || st == DLOCK_UNKNOWN) && dlock_clock_ns() < deadline_ns) {
        /* The connection was made and lost again at once. */
        dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), BACKOFF_FIRST_MS));
        st = zookeeper_session_make_root(session, deadline_ns);
    }
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
}

dlock_status zookeeper_session_open(struct zookeeper_session **out,
                                    const dlock_options *opts, const char *kind)
{
    dlock_status st = zookeeper_url_check(opts->zookeeper_url);
    struct zookeeper_session *session;

    *out = NULL;
    if (st != DLOCK_OK)
        return st;
    session = calloc(1, sizeof(*session));
    if (session == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for a session");
    dlock_mutex_init(&session->mutex);
    if (!dlock_condition_init(&session->changed)) {
        dlock_mutex_destroy(&session->mutex);
        free(session);
        return dlock_fail(DLOCK_NOMEM, "no memory for a session");
    }
    session->kind = kind;
    session->timeout_ms = opts->zookeeper_timeout_ms;
    session->wanted_ms = opts->lease_ms < SESSION_MIN_MS ? SESSION_MIN_MS
                                                         : opts->lease_ms;
    atomic_store(&session->epoch, 1);
    st = begin(session, opts);
    if (st != DLOCK_OK) {
        zookeeper_session_close(session);
        return st;
    }
    *out = session;
    return DLOCK_OK;
}

void zookeeper_session_close(struct zookeeper_session *session)
{
    if (session == NULL)
        return;
    if (session->has_keeper) {
        dlock_mutex_lock(&session->mutex);
        session->stopping = true;
        dlock_condition_broadcast(&session->changed);
        dlock_mutex_unlock(&session->mutex);
        dlock_thread_join(&session->keeper);
    }
    zookeeper_debts_close(session->debts);
    zookeeper_watches_close(session->watches);
    dlock_condition_destroy(&session->changed);
    dlock_mutex_destroy(&session->mutex);
    free(session->url);
    free(session);
}

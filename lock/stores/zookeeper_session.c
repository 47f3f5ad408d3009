/* SPDX-License-Identifier: MIT */
/* zookeeper_session.c -- the one session with ZooKeeper that a system's locks live
 * in. */
#include "lock/stores/zookeeper_session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "base/os/clock.h"
#include "lock/stores/zookeeper_call.h"
#include "lock/stores/zookeeper_debts.h"
#include "lock/stores/zookeeper_watches.h"
#include "base/os/thread.h"

enum {
    SESSION_MIN_MS = 400, /* to ask for: below it a busy machine loses connections  */
    BACKOFF_FIRST_MS = 20,
    BACKOFF_LAST_MS = 1000,
    BEATS_PER_TIMEOUT = 6,
    DRIFT_PER_MILLE = 1,  /* of the timeout given up for clocks that differ, and    */
    DRIFT_FLOOR_MS = 2,
};

/* What the library's session events come with. */
struct link {
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
    pthread_t keeper;
    bool has_keeper;
    /* Written under the mutex. For who asks without it: alive_until_ns becomes 0 before
     * the epoch changes, and anything else only after. */
    _Atomic uint64_t epoch;
    _Atomic int64_t alive_until_ns;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    zhandle_t *zh; /* NULL: none is open */
    struct link *link;
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

static void log_nothing(const char *message)
{
    (void)message;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* With the mutex held: the connection has just gone, or is to come. */
static void be_patient(struct zookeeper_session *session)
{
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), session->timeout_ms);

    if (until_ns > session->patience_ns)
        session->patience_ns = until_ns;
}

/* --- what arrives in the library's thread --- */

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *arg)
{
    const struct link *link = arg;
    struct zookeeper_session *session = link->session;

    (void)path;
    if (type != ZOO_SESSION_EVENT)
        return;
    pthread_mutex_lock(&session->mutex);
    if (link->epoch == atomic_load(&session->epoch)) {
        if (state == ZOO_CONNECTED_STATE) {
            session->granted_ms = zoo_recv_timeout(zh);
            session->is_connected = session->was_connected = true;
            session->beat_at_ns = 0;
        } else {
            if (session->is_connected)
                be_patient(session);
            session->is_connected = false;
        }
        if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
            session->is_over = true;
            atomic_store(&session->alive_until_ns, 0);
        }
        pthread_cond_broadcast(&session->changed);
    }
    pthread_mutex_unlock(&session->mutex);
}

void zookeeper_session_heard(struct zookeeper_session *session, uint64_t epoch,
                             int64_t sent_ns)
{
    int64_t until_ns;

    pthread_mutex_lock(&session->mutex);
    until_ns = sent_ns - DRIFT_FLOOR_MS * DLOCK_NS_PER_MS +
               session->granted_ms * DLOCK_NS_PER_MS / 1000 * (1000 - DRIFT_PER_MILLE);
    if (epoch == atomic_load(&session->epoch) && !session->is_over &&
        session->was_connected && until_ns > atomic_load(&session->alive_until_ns))
        atomic_store(&session->alive_until_ns, until_ns);
    pthread_mutex_unlock(&session->mutex);
}

/* --- the keeper --- */

/* With the mutex held, which it gives back meanwhile: looking up hosts takes time. */
static void open_handle(struct zookeeper_session *session)
{
    struct link *link = calloc(1, sizeof(*link));
    zhandle_t *zh = NULL;

    session->is_connected = session->is_over = session->was_connected = false;
    be_patient(session);
    if (link != NULL) {
        *link = (struct link){session, atomic_load(&session->epoch)};
        pthread_mutex_unlock(&session->mutex);
        zh = zookeeper_init2(session->url, on_event, session->wanted_ms, NULL, link, 0,
                             log_nothing);
        pthread_mutex_lock(&session->mutex);
    }
    session->zh = zh;
    /* Else it looks up the hosts each time that it has waited for anything, and a
     * process that forks meanwhile has a child in which no host can be looked up. */
    if (zh != NULL)
        zoo_set_servers_resolution_delay(zh, -1);
    if (zh == NULL)
        free(link);
    else
        session->link = link;
    pthread_cond_broadcast(&session->changed);
}

/* The same. Nothing of this epoch is to be relied on any more; whatever the server
 * still keeps of it goes with the session, at once if it can be told. */
static void end_epoch(struct zookeeper_session *session)
{
    zhandle_t *zh = session->zh;
    struct link *link = session->link;

    atomic_store(&session->alive_until_ns, 0);
    atomic_fetch_add(&session->epoch, 1);
    session->zh = NULL;
    session->link = NULL;
    be_patient(session);
    session->is_connected = false;
    pthread_cond_broadcast(&session->changed);
    pthread_mutex_unlock(&session->mutex);
    if (zh != NULL)
        zookeeper_close(zh); /* answers every call that is under way */
    free(link);
    zookeeper_watches_end(session->watches, atomic_load(&session->epoch));
    pthread_mutex_lock(&session->mutex);
}

static void wait_until(struct zookeeper_session *session, int64_t until_ns)
{
    if (!session->stopping && !session->has_errand && dlock_clock_ns() < until_ns)
        dlock_clock_wait(&session->changed, &session->mutex, until_ns);
}

/* After a session that ended, or could not be begun. */
static void back_off(struct zookeeper_session *session)
{
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), session->backoff_ms);

    while (!session->stopping && dlock_clock_ns() < until_ns)
        dlock_clock_wait(&session->changed, &session->mutex, until_ns);
    session->backoff_ms = session->backoff_ms == 0 ? BACKOFF_FIRST_MS
                                                   : session->backoff_ms * 2;
    if (session->backoff_ms > BACKOFF_LAST_MS)
        session->backoff_ms = BACKOFF_LAST_MS;
}

/* Was the session heard of once, and not for too long since? */
static bool is_silent(const struct zookeeper_session *session)
{
    int64_t until_ns = atomic_load(&session->alive_until_ns);

    return until_ns != 0 && dlock_clock_ns() >= until_ns;
}

/* While there is a session.  The mutex is given back meanwhile. */
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
        session->beat_at_ns = now_ns + session->granted_ms * DLOCK_NS_PER_MS /
                                           BEATS_PER_TIMEOUT;
        pthread_mutex_unlock(&session->mutex);
        zookeeper_beat(session, epoch);
        pthread_mutex_lock(&session->mutex);
    }
    if (zookeeper_debts_are_open(session->debts)) {
        session->has_errand = false;
        pthread_mutex_unlock(&session->mutex);
        zookeeper_debts_settle(session->debts, epoch);
        pthread_mutex_lock(&session->mutex);
    }
    session->has_errand =
        session->has_errand && zookeeper_debts_are_open(session->debts);
    wait_until(session, earlier(wake_ns, session->beat_at_ns));
}

static void *keep(void *arg)
{
    struct zookeeper_session *session = arg;

    pthread_mutex_lock(&session->mutex);
    while (!session->stopping) {
        if (session->zh == NULL) {
            back_off(session);
            if (!session->stopping)
                open_handle(session);
        } else if (session->is_over || is_silent(session)) {
            end_epoch(session);
        } else {
            if (session->is_connected)
                session->backoff_ms = 0;
            attend(session);
        }
    }
    end_epoch(session);
    pthread_mutex_unlock(&session->mutex);
    return NULL;
}

/* --- what the other threads call --- */

dlock_status zookeeper_session_await(struct zookeeper_session *session,
                                     int64_t deadline_ns, uint64_t *epoch)
{
    dlock_status st = DLOCK_OK;

    pthread_mutex_lock(&session->mutex);
    while (!session->is_connected || session->zh == NULL) {
        int64_t until_ns = earlier(deadline_ns, session->patience_ns);

        if (dlock_clock_ns() >= until_ns) {
            st = dlock_fail(DLOCK_IO, "zookeeper: no connection to %s", session->url);
            break;
        }
        dlock_clock_wait(&session->changed, &session->mutex, until_ns);
    }
    *epoch = atomic_load(&session->epoch);
    pthread_mutex_unlock(&session->mutex);
    return st;
}

bool zookeeper_session_again(struct zookeeper_session *session, int64_t deadline_ns,
                             uint64_t epoch)
{
    uint64_t now;

    return zookeeper_session_await(session, deadline_ns, &now) == DLOCK_OK &&
           now == epoch && dlock_clock_ns() < deadline_ns;
}

bool zookeeper_session_is_alive(const struct zookeeper_session *session, uint64_t epoch)
{
    /* In this order; see the struct. */
    int64_t until_ns = atomic_load(&session->alive_until_ns);

    return atomic_load(&session->epoch) == epoch && dlock_clock_ns() < until_ns;
}

int64_t zookeeper_session_deadline_ns(const struct zookeeper_session *session,
                                      int64_t give_up_ns)
{
    return earlier(give_up_ns,
                   dlock_clock_after(dlock_clock_ns(), session->timeout_ms));
}

zhandle_t *zookeeper_session_lock(struct zookeeper_session *session, uint64_t epoch)
{
    pthread_mutex_lock(&session->mutex);
    if (session->zh != NULL && session->is_connected && !session->is_over &&
        epoch == atomic_load(&session->epoch))
        return session->zh;
    pthread_mutex_unlock(&session->mutex);
    return NULL;
}

void zookeeper_session_unlock(struct zookeeper_session *session)
{
    pthread_mutex_unlock(&session->mutex);
}

struct zookeeper_debts *zookeeper_session_debts(struct zookeeper_session *session)
{
    return session->debts;
}

struct zookeeper_watches *zookeeper_session_watches(struct zookeeper_session *session)
{
    return session->watches;
}

void zookeeper_session_wake_keeper(struct zookeeper_session *session)
{
    pthread_mutex_lock(&session->mutex);
    session->has_errand = true;
    pthread_cond_broadcast(&session->changed);
    pthread_mutex_unlock(&session->mutex);
}

bool zookeeper_session_identity(struct zookeeper_session *session, int64_t *id,
                                char password[16])
{
    bool is_there;

    pthread_mutex_lock(&session->mutex);
    is_there = session->zh != NULL && session->is_connected;
    if (is_there) {
        const clientid_t *identity = zoo_client_id(session->zh);

        *id = identity->client_id;
        memcpy(password, identity->passwd, sizeof(identity->passwd));
    }
    pthread_mutex_unlock(&session->mutex);
    return is_there;
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
        st = zookeeper_fail(call, result, "a question");
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
        /* Connected, and lost again at once. */
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
    pthread_mutex_init(&session->mutex, NULL);
    if (dlock_clock_cond_init(&session->changed) != 0) {
        pthread_mutex_destroy(&session->mutex);
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
        pthread_mutex_lock(&session->mutex);
        session->stopping = true;
        pthread_cond_broadcast(&session->changed);
        pthread_mutex_unlock(&session->mutex);
        pthread_join(session->keeper, NULL);
    }
    zookeeper_debts_close(session->debts);
    zookeeper_watches_close(session->watches);
    pthread_cond_destroy(&session->changed);
    pthread_mutex_destroy(&session->mutex);
    free(session->url);
    free(session);
}

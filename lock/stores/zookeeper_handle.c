/* SPDX-License-Identifier: MIT */
/* zookeeper_handle.c -- the functions of a session that requests need. */
#include "lock/stores/zookeeper_handle.h"

#include <string.h>
#include <zookeeper/zookeeper.h>

#include "base/os/clock.h"
#include "lock/status.h"

enum {
    DRIFT_PER_MILLE = 1, /* the part of the timeout given up for clocks that differ */
    DRIFT_FLOOR_MS = 2,  /* given up besides                                        */
};

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void zookeeper_session_be_patient(struct zookeeper_session *session)
{
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), session->timeout_ms);

    if (until_ns > session->patience_ns)
        session->patience_ns = until_ns;
}

void zookeeper_session_heard(struct zookeeper_session *session, uint64_t epoch,
                             int64_t sent_ns)
{
    int64_t until_ns;

    dlock_mutex_lock(&session->mutex);
    until_ns = sent_ns - DRIFT_FLOOR_MS * DLOCK_NS_PER_MS +
               session->granted_ms * DLOCK_NS_PER_MS / 1000 * (1000 - DRIFT_PER_MILLE);
    if (epoch == atomic_load(&session->epoch) && !session->is_over &&
        session->was_connected && until_ns > atomic_load(&session->alive_until_ns))
        atomic_store(&session->alive_until_ns, until_ns);
    dlock_mutex_unlock(&session->mutex);
}

dlock_status zookeeper_session_await(struct zookeeper_session *session,
                                     int64_t deadline_ns, uint64_t *epoch)
{
    dlock_status st = DLOCK_OK;

    dlock_mutex_lock(&session->mutex);
    while (!session->is_connected || session->zh == NULL) {
        int64_t until_ns = earlier(deadline_ns, session->patience_ns);

        if (dlock_clock_ns() >= until_ns) {
            st = dlock_fail(DLOCK_IO, "zookeeper: no connection to %s", session->url);
            break;
        }
        (void)dlock_condition_wait_until(&session->changed, &session->mutex, until_ns);
    }
    *epoch = atomic_load(&session->epoch);
    dlock_mutex_unlock(&session->mutex);
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
    /* Read in this order; see the struct. */
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
    dlock_mutex_lock(&session->mutex);
    if (session->zh != NULL && session->is_connected && !session->is_over &&
        epoch == atomic_load(&session->epoch))
        return session->zh;
    dlock_mutex_unlock(&session->mutex);
    return NULL;
}

void zookeeper_session_unlock(struct zookeeper_session *session)
{
    dlock_mutex_unlock(&session->mutex);
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
    dlock_mutex_lock(&session->mutex);
    session->has_errand = true;
    dlock_condition_broadcast(&session->changed);
    dlock_mutex_unlock(&session->mutex);
}

bool zookeeper_session_identity(struct zookeeper_session *session, int64_t *id,
                                char password[16])
{
    bool is_there;

    dlock_mutex_lock(&session->mutex);
    is_there = session->zh != NULL && session->is_connected;
    if (is_there) {
        const clientid_t *identity = zoo_client_id(session->zh);

        *id = identity->client_id;
        memcpy(password, identity->passwd, sizeof(identity->passwd));
    }
    dlock_mutex_unlock(&session->mutex);
    return is_there;
}

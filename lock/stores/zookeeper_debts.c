/* SPDX-License-Identifier: MIT */
/* zookeeper_debts.c -- nodes that have to be deleted and could not be deleted yet. */
#include "lock/stores/zookeeper_debts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/os/mutex.h"
#include "base/os/clock.h"

struct debt {
    uint64_t epoch;
    char path[ZOOKEEPER_PATH_SIZE];
    char token[DLOCK_TOKEN_LEN + 1];
    zookeeper_settle_fn *settle;
    struct debt *prev, *next;
};

struct zookeeper_debts {
    struct zookeeper_session *session;
    struct dlock_mutex mutex;
    struct debt *list;
};

struct zookeeper_debts *zookeeper_debts_open(struct zookeeper_session *session)
{
    struct zookeeper_debts *debts = calloc(1, sizeof(*debts));

    if (debts == NULL)
        return NULL;
    debts->session = session;
    dlock_mutex_init(&debts->mutex);
    return debts;
}

void zookeeper_debts_close(struct zookeeper_debts *debts)
{
    struct debt *debt, *next;

    if (debts == NULL)
        return;
    DL_FOREACH_SAFE(debts->list, debt, next)
        free(debt);
    dlock_mutex_destroy(&debts->mutex);
    free(debts);
}

void zookeeper_debts_owe(struct zookeeper_debts *debts, uint64_t epoch,
                         const char *path, const char *token,
                         zookeeper_settle_fn *settle)
{
    struct debt *debt = calloc(1, sizeof(*debt));

    if (debt == NULL)
        return;
    debt->epoch = epoch;
    snprintf(debt->path, sizeof(debt->path), "%s", path);
    snprintf(debt->token, sizeof(debt->token), "%s", token != NULL ? token : "");
    debt->settle = settle;
    dlock_mutex_lock(&debts->mutex);
    DL_PREPEND(debts->list, debt); /* before those that the server has refused already */
    dlock_mutex_unlock(&debts->mutex);
    zookeeper_session_wake_keeper(debts->session);
}

enum zookeeper_result zookeeper_settle_path(struct zookeeper_session *session,
                                            uint64_t epoch, const char *path,
                                            const char *token, int64_t deadline_ns)
{
    struct zookeeper_call *call = zookeeper_call_make(session, epoch);
    enum zookeeper_result result = ZOOKEEPER_UNSENT;

    (void)token;
    if (call != NULL) {
        zookeeper_send_delete(call, path);
        result = zookeeper_call_wait(call, deadline_ns);
    }
    zookeeper_call_drop(call);
    return result;
}

bool zookeeper_debts_are_open(struct zookeeper_debts *debts)
{
    bool are_open;

    dlock_mutex_lock(&debts->mutex);
    are_open = debts->list != NULL;
    dlock_mutex_unlock(&debts->mutex);
    return are_open;
}

static struct debt *take(struct zookeeper_debts *debts)
{
    struct debt *debt;

    dlock_mutex_lock(&debts->mutex);
    debt = debts->list;
    if (debt != NULL)
        DL_DELETE(debts->list, debt);
    dlock_mutex_unlock(&debts->mutex);
    return debt;
}

void zookeeper_debts_settle(struct zookeeper_debts *debts, uint64_t epoch)
{
    struct debt *debt;

    while ((debt = take(debts)) != NULL) {
        enum zookeeper_result result = ZOOKEEPER_NO_NODE;

        if (debt->epoch == epoch)
            result = debt->settle(
                debts->session, epoch, debt->path, debt->token,
                zookeeper_session_deadline_ns(debts->session, INT64_MAX));
        if (result == ZOOKEEPER_UNSENT || result == ZOOKEEPER_UNKNOWN ||
            result == ZOOKEEPER_REFUSED) {
            dlock_mutex_lock(&debts->mutex);
            DL_APPEND(debts->list, debt);
            dlock_mutex_unlock(&debts->mutex);
            return;
        }
        free(debt);
    }
}

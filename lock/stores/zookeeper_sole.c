/* SPDX-License-Identifier: MIT */
/* zookeeper_sole.c -- one node per name, which only its maker deletes. */
#include "lock/stores/zookeeper_sole.h"

#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"

/* Does `data`, which is "OWNER TOKEN", have that token? */
static bool is_made_with(const char *data, const char *token)
{
    const char *space = strchr(data, ' ');

    return space != NULL && strcmp(space + 1, token) == 0;
}

/* Read the node at `path`: the transaction that made it, and its version.  NO_NODE:
 * there is no node, or it was made with another token. */
static enum zookeeper_result look(struct zookeeper_session *session, uint64_t epoch,
                                  const char *path, const char *token,
                                  uint64_t *czxid, int *version, int64_t deadline_ns)
{
    struct zookeeper_call *sync = zookeeper_call_make(session, epoch);
    struct zookeeper_call *get = zookeeper_call_make(session, epoch);
    enum zookeeper_result result = ZOOKEEPER_UNSENT;

    if (sync != NULL && get != NULL) {
        /* After a change of the server, the new one may lag behind, so ask it to catch
         * up. */
        zookeeper_send_sync(sync, path);
        zookeeper_send_get(get, path);
        result = zookeeper_call_wait(get, deadline_ns);
    }
    if (result == ZOOKEEPER_DONE) {
        *czxid = zookeeper_created_in(get);
        *version = zookeeper_version(get);
        if (!is_made_with(zookeeper_data(get), token))
            result = ZOOKEEPER_NO_NODE;
    }
    zookeeper_call_drop(sync);
    zookeeper_call_drop(get);
    return result;
}

enum zookeeper_result zookeeper_sole_delete(struct zookeeper_session *session,
                                            uint64_t epoch, const char *path,
                                            const char *token, int64_t deadline_ns)
{
    enum zookeeper_result result;
    bool has_looked;

    do {
        struct zookeeper_call *call = zookeeper_call_make(session, epoch);
        uint64_t czxid;
        int version = 0;

        result = look(session, epoch, path, token, &czxid, &version, deadline_ns);
        has_looked = result == ZOOKEEPER_DONE && call != NULL;
        if (has_looked) {
            zookeeper_send_delete_version(call, path, version);
            result = zookeeper_call_wait(call, deadline_ns);
        } else if (result == ZOOKEEPER_DONE || result == ZOOKEEPER_UNKNOWN) {
            result = ZOOKEEPER_UNSENT; /* only a read was sent */
        }
        zookeeper_call_drop(call);
    } while (result == ZOOKEEPER_CHANGED && dlock_clock_ns() < deadline_ns);
    return result == ZOOKEEPER_CHANGED ? ZOOKEEPER_UNSENT : result;
}

/* The answer to the making of the node was lost: find out if it exists, before any
 * other request. */
static enum zookeeper_result find_lost(struct zookeeper_session *session,
                                       dlock_claim *claim, const char *path,
                                       int64_t deadline_ns)
{
    enum zookeeper_result result = ZOOKEEPER_UNKNOWN;
    int version;

    while (result == ZOOKEEPER_UNKNOWN || result == ZOOKEEPER_UNSENT) {
        if (!zookeeper_session_again(session, deadline_ns, claim->note))
            return ZOOKEEPER_UNKNOWN;
        result = look(session, claim->note, path, claim->token, &claim->fence, &version,
                      deadline_ns);
    }
    if (result == ZOOKEEPER_DONE && claim->fence == 0)
        return ZOOKEEPER_REFUSED;
    return result == ZOOKEEPER_NO_NODE ? ZOOKEEPER_UNSENT : result;
}

enum zookeeper_result zookeeper_sole_make(struct zookeeper_session *session,
                                          dlock_claim *claim, const char *path,
                                          int64_t deadline_ns)
{
    struct zookeeper_call *call = zookeeper_call_make(session, claim->note);
    enum zookeeper_result result = ZOOKEEPER_UNSENT;
    char data[ZOOKEEPER_DATA_SIZE];

    if (call == NULL)
        return result;
    snprintf(data, sizeof(data), "%s %s", claim->owner, claim->token);
    zookeeper_send_create(call, path, data, ZOOKEEPER_EPHEMERAL);
    result = zookeeper_call_wait(call, deadline_ns);
    if (result == ZOOKEEPER_DONE) {
        claim->fence = zookeeper_created_in(call);
        if (strcmp(zookeeper_created_path(call), path) != 0 || claim->fence == 0)
            result = ZOOKEEPER_REFUSED; /* the answer is about another node */
    }
    if (result == ZOOKEEPER_UNKNOWN)
        result = find_lost(session, claim, path, deadline_ns);
    if (result != ZOOKEEPER_DONE && result != ZOOKEEPER_NODE_EXISTS)
        (void)zookeeper_fail(call, result, "make the node of a lock");
    zookeeper_call_drop(call);
    return result;
}

/* SPDX-License-Identifier: MIT */
/* zk_basic.c -- one ephemeral node of ZooKeeper per name: the owner that makes it holds
 * the lock.
 *
 * Promises    one holder among all that use the ensemble; free once the session of a
 *             dead holder has run out.  Its fence is the transaction that made the node:
 *             it grows for as long as the ensemble keeps its log, through restarts, and
 *             begins anew only with an ensemble that was wiped.
 * Breaks      a herd: all waiters watch the same node, so each release wakes all of
 *             them, although only one gets the lock, in no order. And a process that
 *             stops for longer than the session timeout (lease_ms, within what the
 *             server allows), and then goes on writing: dlock_lease_valid() says so
 *             from the moment when the server may have ended the session.
 * Described   the articles' first lock in ZooKeeper.
 *
 * The node has its owner and token. By these a lost answer is settled, and a release
 * deletes only its own node, even if a person deleted that by hand before;
 * stores/zookeeper_sole.h names the case that is not covered. */
#include <stdio.h>
#include <stdlib.h>

#include "base/os/clock.h"
#include "lock/stores/zookeeper_call.h"
#include "lock/stores/zookeeper_debts.h"
#include "lock/stores/zookeeper_inspect.h"
#include "lock/stores/zookeeper_sole.h"
#include "lock/stores/zookeeper_watches.h"

#define KIND "basic"

/* A claim's note is the epoch of its session. */

static dlock_status open_state(const dlock_options *opts, void **out)
{
    struct zookeeper_session *session = NULL;
    dlock_status st = zookeeper_session_open(&session, opts, KIND);

    *out = session;
    return st;
}

static void close_state(void *state)
{
    zookeeper_session_close(state);
}

static dlock_status check(void *state)
{
    return zookeeper_session_check(state);
}

static dlock_status try_acquire(void *state, dlock_claim *claim)
{
    struct zookeeper_session *session = state;
    int64_t deadline_ns = zookeeper_session_deadline_ns(session, claim->give_up_ns);
    enum zookeeper_result result;
    char path[ZOOKEEPER_PATH_SIZE];
    dlock_status st;

    zookeeper_path_of(path, KIND, claim->name);
    do {
        st = zookeeper_session_await(session, deadline_ns, &claim->note);
        if (st != DLOCK_OK)
            return st;
        result = zookeeper_sole_make(session, claim, path, deadline_ns);
        if (result == ZOOKEEPER_NO_NODE) /* the directory was deleted */
            st = zookeeper_session_make_root(session, deadline_ns);
        if (st != DLOCK_OK)
            return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
    } while ((result == ZOOKEEPER_NO_NODE || result == ZOOKEEPER_UNSENT) &&
             dlock_clock_ns() < deadline_ns);
    if (result == ZOOKEEPER_NODE_EXISTS)
        return DLOCK_BUSY;
    if (result != ZOOKEEPER_DONE)
        return result == ZOOKEEPER_UNSENT || result == ZOOKEEPER_NO_NODE ? DLOCK_IO
               : result == ZOOKEEPER_UNKNOWN                             ? DLOCK_UNKNOWN
                                             : DLOCK_PROTOCOL;
    if (!zookeeper_session_is_alive(session, claim->note))
        return dlock_fail(DLOCK_IO, "zookeeper: the session ended meanwhile");
    return DLOCK_OK;
}

static dlock_status probe(void *state, const dlock_claim *claim)
{
    return zookeeper_session_is_alive(state, claim->note) ? DLOCK_OK : DLOCK_LOST;
}

/* Delete the node, with further tries after lost answers. That is safe, because only a
 * node with this token is deleted. */
static enum zookeeper_result delete_node(struct zookeeper_session *session,
                                         const dlock_claim *claim, const char *path,
                                         int64_t deadline_ns)
{
    enum zookeeper_result result = ZOOKEEPER_UNSENT;
    bool was_sent = false;

    do {
        result = zookeeper_sole_delete(session, claim->note, path, claim->token,
                                       deadline_ns);
        if (result == ZOOKEEPER_NO_NODE && was_sent)
            return ZOOKEEPER_DONE; /* an earlier, unanswered delete did it */
        was_sent = was_sent || result == ZOOKEEPER_UNKNOWN;
    } while ((result == ZOOKEEPER_UNSENT || result == ZOOKEEPER_UNKNOWN) &&
             zookeeper_session_again(session, deadline_ns, claim->note));
    return result == ZOOKEEPER_UNSENT && was_sent ? ZOOKEEPER_UNKNOWN : result;
}

static dlock_status release(void *state, const dlock_claim *claim)
{
    struct zookeeper_session *session = state;
    enum zookeeper_result result;
    char path[ZOOKEEPER_PATH_SIZE];

    zookeeper_path_of(path, KIND, claim->name);
    if (!zookeeper_session_is_alive(session, claim->note))
        return DLOCK_LOST;
    result = delete_node(session, claim, path,
                         zookeeper_session_deadline_ns(session, claim->give_up_ns));
    if (result == ZOOKEEPER_DONE)
        return DLOCK_OK;
    if (result == ZOOKEEPER_NO_NODE)
        return DLOCK_LOST;
    zookeeper_debts_owe(zookeeper_session_debts(session), claim->note, path,
                        claim->token, zookeeper_sole_delete);
    if (result == ZOOKEEPER_REFUSED)
        return dlock_fail(DLOCK_PROTOCOL, "zookeeper: refused to delete %s", path);
    return dlock_fail(result == ZOOKEEPER_UNSENT ? DLOCK_IO : DLOCK_UNKNOWN,
                      "zookeeper: %s stays until there is a connection", path);
}

/* --- waiting --- */

struct herd_watch {
    struct zookeeper_session *session;
    struct zookeeper_waiter waiter;
};

static void *watch(void *state, const dlock_claim *claim)
{
    struct zookeeper_watches *watches = zookeeper_session_watches(state);
    struct herd_watch *herd = calloc(1, sizeof(*herd));
    char path[ZOOKEEPER_PATH_SIZE];

    if (herd == NULL)
        return NULL;
    herd->session = state;
    zookeeper_path_of(path, KIND, claim->name);
    if (!zookeeper_waiter_begin(&herd->waiter, watches, path)) {
        free(herd);
        return NULL;
    }
    return herd;
}

static bool sleep_in_herd(void *arg, int64_t until_ns)
{
    struct herd_watch *herd = arg;
    uint64_t epoch = 0;

    if (zookeeper_session_await(herd->session, dlock_clock_ns(), &epoch) != DLOCK_OK)
        epoch = 0; /* the watch cannot be armed */
    return zookeeper_waiter_sleep(&herd->waiter, epoch, until_ns);
}

static void unwatch(void *arg, bool granted)
{
    struct herd_watch *herd = arg;

    (void)granted;
    zookeeper_waiter_end(&herd->waiter);
    free(herd);
}

/* --- from outside --- */

static dlock_status inspect(void *state, const char *name, dlock_info *out)
{
    char path[ZOOKEEPER_PATH_SIZE];

    zookeeper_path_of(path, KIND, name);
    return zookeeper_look_at(state, path, out);
}

static dlock_status force(void *state, const char *name)
{
    char path[ZOOKEEPER_PATH_SIZE];

    zookeeper_path_of(path, KIND, name);
    return zookeeper_take_away(state, path);
}

extern const dlock_variant dlock_variant_zk_basic;

const dlock_variant dlock_variant_zk_basic = {
    .info =
        {
            .name = "zk-basic",
            .store = "zookeeper",
            .promises = "one holder; free with its session",
            .breaks = "a stop beyond the session timeout; a release wakes all waiters",
            .source = "the articles' ephemeral node",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_OWNED |
                    DLOCK_CAP_PUSH | DLOCK_CAP_FENCED | DLOCK_CAP_SESSION,
        },
    .open = open_state,
    .close = close_state,
    .check = check,
    .try_acquire = try_acquire,
    .probe = probe,
    .release = release,
    .watch = watch,
    .sleep = sleep_in_herd,
    .unwatch = unwatch,
    .inspect = inspect,
    .force = force,
};

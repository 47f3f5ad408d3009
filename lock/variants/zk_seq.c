/* SPDX-License-Identifier: MIT */
/* zk_seq.c -- a queue of ephemeral sequential nodes in ZooKeeper; the first one holds.
 *
 * Promises    one holder among all that use the ensemble, who may lock again; in the
 *             order of arrival, and each release wakes one waiter; free once the
 *             session of a dead holder has run out. Its fence is the transaction that
 *             made the holder's node, which grows also when the queue's directory is
 *             made anew, and through restarts: it begins anew only with an ensemble that
 *             was wiped.
 * Breaks      a process that stops for longer than the session timeout (lease_ms,
 *             within what the server allows), and then goes on writing.
 *             dlock_lease_valid() says so from the moment when the server may have
 *             ended the session.
 * Described   ZooKeeper's recipes, "Locks"; the articles' better lock in ZooKeeper.
 *
 * See stores/zookeeper_queue.h and stores/zookeeper_session.h. A connection that is
 * lost and comes back within the timeout costs neither the lock nor the place in the
 * queue; a session that runs out costs every lock and place of this system at once. An
 * acquire that does not wait only reads the queue, and makes a node only if the queue
 * is empty. */
#include <stdlib.h>

#include "lock/stores/zookeeper_inspect.h"
#include "lock/stores/zookeeper_queue.h"

#define KIND "seq"

struct state {
    struct zookeeper_session *session;
    struct zookeeper_queue *queue;
};

static void close_state(void *arg)
{
    struct state *state = arg;

    zookeeper_session_close(state->session);
    zookeeper_queue_close(state->queue);
    free(state);
}

static dlock_status open_state(const dlock_options *opts, void **out)
{
    struct state *state = calloc(1, sizeof(*state));
    dlock_status st;

    *out = NULL;
    if (state == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the queue");
    st = zookeeper_session_open(&state->session, opts, KIND);
    if (st == DLOCK_OK) {
        state->queue = zookeeper_queue_open(state->session, KIND);
        if (state->queue == NULL)
            st = dlock_fail(DLOCK_NOMEM, "no memory for the queue");
    }
    if (st != DLOCK_OK) {
        close_state(state);
        return st;
    }
    *out = state;
    return DLOCK_OK;
}

static dlock_status check(void *state)
{
    return zookeeper_session_check(((struct state *)state)->session);
}

static dlock_status try_acquire(void *arg, dlock_claim *claim)
{
    struct state *state = arg;

    if (claim->level > 1)
        return zookeeper_queue_set_level(state->queue, claim, claim->level,
                                         &claim->fence);
    return zookeeper_queue_enter(state->queue, claim);
}

static dlock_status probe(void *state, const dlock_claim *claim)
{
    return zookeeper_session_is_alive(((struct state *)state)->session, claim->note)
               ? DLOCK_OK
               : DLOCK_LOST;
}

static dlock_status release(void *arg, const dlock_claim *claim)
{
    struct state *state = arg;

    if (claim->level > 1)
        return zookeeper_queue_set_level(state->queue, claim, claim->level - 1, NULL);
    return zookeeper_queue_leave(state->queue, claim);
}

static void *watch(void *state, const dlock_claim *claim)
{
    return zookeeper_queue_watch(((struct state *)state)->queue, claim);
}

static void unwatch(void *watch, bool granted)
{
    (void)granted;
    zookeeper_queue_unwatch(watch);
}

static void leave(void *state, const dlock_claim *claim)
{
    (void)zookeeper_queue_leave(((struct state *)state)->queue, claim);
}

static dlock_status inspect(void *state, const char *name, dlock_info *out)
{
    char dir[ZOOKEEPER_PATH_SIZE];

    zookeeper_path_of(dir, KIND, name);
    return zookeeper_look_at_queue(((struct state *)state)->session, dir, out);
}

static dlock_status force(void *state, const char *name)
{
    char dir[ZOOKEEPER_PATH_SIZE];

    zookeeper_path_of(dir, KIND, name);
    return zookeeper_take_away_first(((struct state *)state)->session, dir);
}

extern const dlock_variant dlock_variant_zk_seq;

const dlock_variant dlock_variant_zk_seq = {
    .info =
        {
            .name = "zk-seq",
            .store = "zookeeper",
            .promises = "one holder, in the order of arrival; free with its session",
            .breaks = "a process that stops beyond its session timeout",
            .source = "ZooKeeper's recipe for locks",
            .caps = DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_OWNED |
                    DLOCK_CAP_REENTRANT | DLOCK_CAP_PUSH | DLOCK_CAP_FENCED |
                    DLOCK_CAP_FAIR | DLOCK_CAP_SESSION,
        },
    .open = open_state,
    .close = close_state,
    .check = check,
    .try_acquire = try_acquire,
    .probe = probe,
    .release = release,
    .watch = watch,
    .sleep = zookeeper_queue_sleep,
    .unwatch = unwatch,
    .leave = leave,
    .inspect = inspect,
    .force = force,
};

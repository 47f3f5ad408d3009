/* SPDX-License-Identifier: MIT */
/* zookeeper_sessions.c -- the wrong events and numbers of a session with a lying ZooKeeper.
 *
 * The state of a session comes without a request: in the opening, and at any time later.  Every
 * call has to end, and after the lie the system has to work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <zookeeper/zookeeper.h>

#include "tests/liar/rig.h"
#include "tests/liar/zookeeper_server.h"

enum { WAIT_MS = 30, STRANGE = 12345, BEATS_MOST = 100, BEAT_MS = 2, LOOK_MS = 20 };

static const struct zookeeper_session_lie HONEST;

/* Make every call that asks the server, in a session that may end meanwhile.  `then` is performed
 * while a lock is held. */
static void live(const struct rig *rig, dlock_system *sys, int then)
{
    int64_t begin_ms = rig_now_ms();
    dlock_lease held, lease;
    dlock_info info;
    bool is_held;

    is_held = dlock_acquire(sys, rig_new_name(), WAIT_MS, &held) == DLOCK_OK;
    if (then != 0)
        zookeeper_server_tell(then);
    if (dlock_inspect(sys, rig_new_name(), &info) == DLOCK_OK)
        assert_false(info.locked);
    if (dlock_acquire(sys, rig_new_name(), 0, &lease) == DLOCK_OK)
        (void)dlock_release(sys, &lease);
    assert_int_not_equal(DLOCK_OK, dlock_force_release(sys, rig_new_name()));
    while (rig_now_ms() - begin_ms < LOOK_MS && dlock_check(sys) != DLOCK_INVALID)
        ;
    if (is_held)
        (void)dlock_release(sys, &held);
    if (zookeeper_server_beats() > BEATS_MOST + (rig_now_ms() - begin_ms) / BEAT_MS)
        fail_msg("%s: %ld requests that keep a session in %d ms", rig->of->name,
                 zookeeper_server_beats(), (int)(rig_now_ms() - begin_ms));
}

/* Open a system with the lying server, use it, and go on with an honest server. */
static void open_to(const struct rig *rig, const struct zookeeper_session_lie *lie)
{
    dlock_options opts = rig_options(rig->of, rig->of->liar);
    dlock_system *sys = NULL;

    zookeeper_server_be(lie);
    if (dlock_open(&sys, &opts) == DLOCK_OK) {
        live(rig, sys, 0);
        zookeeper_server_be(&HONEST);
        zookeeper_server_tell(ZOO_EXPIRED_SESSION_STATE);
        rig_assert_works(sys);
    }
    zookeeper_server_be(&HONEST);
    dlock_close(sys);
}

/* A waiter whose watch fires with a wrong event still hears of the end of the lock, or waits until
 * its time has passed. */
static void wait_with(struct rig *rig, int watch_type)
{
    const char *name = rig_new_name();
    dlock_lease held, lease;

    zookeeper_server_be(&(struct zookeeper_session_lie){.watch_type = watch_type});
    rig_take_free(rig->other, name, &held);
    assert_int_not_equal(DLOCK_OK, dlock_acquire(rig->sys, name, WAIT_MS, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(rig->other, &held)); /* the watch fires */
    if (dlock_acquire(rig->sys, name, WAIT_MS, &lease) == DLOCK_OK)
        (void)dlock_release(rig->sys, &lease);
    zookeeper_server_be(&HONEST);
    rig_assert_works(rig->sys);
}

void believes_no_session(void **state)
{
    const int STATES[] = {ZOO_EXPIRED_SESSION_STATE, ZOO_AUTH_FAILED_STATE, ZOO_CONNECTING_STATE,
                          ZOO_ASSOCIATING_STATE,     ZOO_READONLY_STATE,    ZOO_NOTCONNECTED_STATE,
                          ZOO_CONNECTED_STATE,       STRANGE,               INT_MIN};
    const int TIMES_MS[] = {0, -1, 1, 5, INT_MIN, INT_MAX};
    const int TYPES[] = {ZOO_CREATED_EVENT, ZOO_CHANGED_EVENT,     ZOO_CHILD_EVENT,
                         ZOO_SESSION_EVENT, ZOO_NOTWATCHING_EVENT, STRANGE, INT_MIN};
    struct rig rig;

    rig_begin(&rig, *state);
    open_to(&rig, &(struct zookeeper_session_lie){.fails_to_open = true});
    for (size_t i = 0; i < sizeof(STATES) / sizeof(STATES[0]); i++) {
        open_to(&rig, &(struct zookeeper_session_lie){.first_state = STATES[i]});
        zookeeper_server_be(&HONEST);
        live(&rig, rig.sys, STATES[i]);
        zookeeper_server_tell(ZOO_CONNECTED_STATE);
        rig_assert_works(rig.sys);
    }
    for (size_t i = 0; i < sizeof(TIMES_MS) / sizeof(TIMES_MS[0]); i++)
        open_to(&rig, &(struct zookeeper_session_lie){.grants_other_time = true,
                                                      .granted_ms = TIMES_MS[i]});
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++)
        wait_with(&rig, TYPES[i]);
    rig_end(&rig);
}

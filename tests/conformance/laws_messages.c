/* SPDX-License-Identifier: MIT */
/* laws_messages.c -- waiters and the messages that wake them. */
#include <stdio.h>

#include "tests/conformance/laws.h"

enum { LONG_LEASE_MS = 600000, MANY = 40, SETTLE_MS = 60 };

/* Redis keeps no message for a client that is not connected. Here the lock disappears without a
 * message, as if the message of its release was lost. The waiter must get the lock long before the
 * lease of minutes would have ended. */
void a_lost_message_costs_a_look(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_helper *waiter;
    struct rig_pair pair;
    dlock_lease lease;

    opts.lease_ms = LONG_LEASE_MS;
    pair = rig_open_pair(&opts);
    servers_find(&opts);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    waiter = rig_helper_start(pair.b, name, -1);
    /* A waiter that has not come yet would find a free lock, whatever it does without a message. */
    rig_let_wait(pair.a, name, 4 * SETTLE_MS);
    assert_false(rig_helper_is_done(waiter));
    assert_int_equal(1, servers_ask(0, "DEL %s", name));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
    assert_status(LOST, dlock_release(pair.a, &lease));
}

/* Each waiter waits for a name of its own, and so listens on a channel of its own; no table of
 * channels may be full. */
void waits_for_many_names(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_helper *waiters[MANY];
    dlock_lease leases[MANY];
    struct rig_pair pair;
    char names[MANY][24];

    servers_start(&opts);
    pair = rig_open_pair(&opts);
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "many:%d", i);
        assert_status(OK, dlock_acquire(pair.a, names[i], 0, &leases[i]));
    }
    for (int i = 0; i < MANY; i++)
        waiters[i] = rig_helper_start(pair.b, names[i], -1);
    assert_comes(servers_tell(0, "PUBSUB CHANNELS")->elements == MANY);
    for (int i = 0; i < MANY; i++)
        assert_status(OK, dlock_release(pair.a, &leases[i]));
    for (int i = 0; i < MANY; i++)
        assert_status(OK, rig_helper_acquired(waiters[i]));
    for (int i = 0; i < MANY; i++)
        assert_status(OK, rig_helper_finish(waiters[i]));
    assert_comes(servers_tell(0, "PUBSUB CHANNELS")->elements == 0);
}

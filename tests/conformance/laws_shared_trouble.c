/* SPDX-License-Identifier: MIT */
/* laws_shared_trouble.c -- a thread that is reader and writer of one name is one owner
 * in the store.  The laws here release one of the two holds and keep the other. */
#include <signal.h>

#include "tests/conformance/laws.h"

#define TIMEOUT_MS STRETCHED(400)

static dlock_status read_lock(dlock_system *sys, const char *name, dlock_lease *lease)
{
    dlock_request request = {.shared = true};

    return dlock_acquire_with(sys, name, &request, lease);
}

/* The store still knows the abandoned writer, under the owner that its thread has as a reader. */
void an_abandoned_writer_is_not_entered_again(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_lease writing, reading;
    dlock_system *sys;

    opts.watchdog = false;
    sys = rig_open(&opts);
    assert_status(OK, dlock_acquire(sys, name, 0, &writing));
    assert_status(OK, read_lock(sys, name, &reading));
    assert_status(OK, dlock_abandon(sys, &writing));
    assert_status(BUSY, dlock_acquire(sys, name, 0, &writing));
    assert_status(OK, dlock_release(sys, &reading));
    assert_status(BUSY, dlock_acquire(sys, name, 0, &writing));
}

/* The release may arrive at any later time, and must not end a new hold of the same owner. */
void an_unanswered_release_meets_no_new_reader(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_lease writing, reading;
    dlock_system *sys;

    opts.watchdog = false;
    opts.redis_timeout_ms = TIMEOUT_MS;
    servers_start(&opts);
    premise_watch_pace();
    sys = rig_open(&opts);
    assert_status_provided(is_steady(TIMEOUT_MS), OK,
                           dlock_acquire(sys, name, 0, &writing));
    assert_status_provided(is_steady(TIMEOUT_MS), OK, read_lock(sys, name, &reading));
    servers_signal(0, 1, SIGSTOP);
    assert_status(UNKNOWN, dlock_release(sys, &reading));
    servers_signal(0, 1, SIGCONT);
    assert_comes(dlock_check(sys) == DLOCK_OK);
    assert_status_provided(is_steady(TIMEOUT_MS), BUSY, read_lock(sys, name, &reading));
    assert_status_provided(is_steady(TIMEOUT_MS), OK, dlock_release(sys, &writing));
}

/* SPDX-License-Identifier: MIT */
/* laws_outage.c -- a wait goes on while the store cannot be reached, and ends at its time limit. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/cutter.h"
#include "tests/conformance/laws.h"

enum {
    WAIT_MS = 45000,
    AWAY_MS = 400,     /* long enough for several attempts */
    SHORT_WAIT_MS = 300,
    RELEASE_MS = 1500, /* shorter than the time for which a release is tried */
    COMMANDS_MOST = 200, /* of a wait that gets nothing: a busy loop would send thousands */
};

/* The servers of a law, a system that waits, and a system that holds. */
struct outage {
    dlock_options opts;
    dlock_system *holder;
    dlock_system *waiter;
    bool is_redis;
};

/* For Redis, start servers, which the law kills and starts again. For the other stores, put a
 * cutter in front, which closes every connection during the outage. */
static void begin(struct outage *outage, const char *variant)
{
    outage->opts = rig_options(variant);
    outage->is_redis = (rig_caps(variant) & DLOCK_CAP_EXPIRES) &&
                       strncmp(dlock_variant_find(variant)->store, "redis", 5) == 0;
    if (outage->is_redis)
        servers_start(&outage->opts);
    outage->holder = rig_open(&outage->opts);
    if (strcmp(dlock_variant_find(variant)->store, "zookeeper") == 0)
        outage->opts.zookeeper_url = cutter_start(outage->opts.zookeeper_url);
    else if (strcmp(dlock_variant_find(variant)->store, "etcd") == 0)
        outage->opts.etcd_url = cutter_start_before(outage->opts.etcd_url);
    else if (!outage->is_redis)
        outage->opts.database_url = cutter_start_before(outage->opts.database_url);
    outage->waiter = rig_open(&outage->opts);
}

static void go_away(const struct outage *outage)
{
    if (outage->is_redis)
        servers_signal(0, servers_found(), SIGKILL);
    else
        cutter_refuse();
}

static void come_back(const struct outage *outage)
{
    if (outage->is_redis)
        servers_restart_all();
    else
        cutter_open();
}

void a_waiter_outlives_an_outage(const char *variant)
{
    const char *name = rig_name();
    struct outage outage;
    struct rig_helper *waiter;
    dlock_lease lease;

    begin(&outage, variant);
    assert_status(OK, dlock_acquire(outage.holder, name, 0, &lease));
    waiter = rig_helper_start(outage.waiter, name, WAIT_MS);
    rig_let_wait(outage.holder, name, AWAY_MS / 4);
    go_away(&outage);
    assert_stays(!rig_helper_is_done(waiter), AWAY_MS);
    come_back(&outage);
    /* Redis has lost the lock with its data; the other stores still have it. */
    if (!outage.is_redis)
        assert_status(OK, dlock_release(outage.holder, &lease));
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
}

void a_wait_that_begins_in_an_outage_is_granted(const char *variant)
{
    const char *name = rig_name();
    struct outage outage;
    struct rig_helper *waiter;

    begin(&outage, variant);
    go_away(&outage);
    waiter = rig_helper_start(outage.waiter, name, WAIT_MS);
    assert_stays(!rig_helper_is_done(waiter), AWAY_MS);
    come_back(&outage);
    assert_status(OK, rig_helper_acquired(waiter));
    assert_status(OK, rig_helper_finish(waiter));
}

/* The answer has to be IO, or UNKNOWN if the store may have executed the request. */
static void assert_fails(dlock_status st)
{
    if (st != DLOCK_UNKNOWN)
        assert_status(IO, st);
}

void an_outage_ends_no_wait_too_late(const char *variant)
{
    dlock_metrics before, after;
    struct rig_helper *waiter;
    struct outage outage;
    dlock_lease lease;
    int64_t begun_ms;

    begin(&outage, variant);
    go_away(&outage);
    assert_fails(dlock_acquire(outage.waiter, rig_name(), 0, &lease));
    dlock_metrics_read(outage.waiter, &before);
    begun_ms = rig_now_ms();
    waiter = rig_helper_start(outage.waiter, rig_name(), SHORT_WAIT_MS);
    assert_fails(rig_helper_acquired(waiter));
    assert_true(rig_now_ms() - begun_ms >= SHORT_WAIT_MS);
    rig_helper_finish(waiter);
    dlock_metrics_read(outage.waiter, &after);
    assert_true(after.acquire_commands - before.acquire_commands < COMMANDS_MOST);
}

void a_cancel_ends_a_wait_in_an_outage(const char *variant)
{
    dlock_request request = {.wait_ms = WAIT_MS, .cancel = rig_cancel()};
    struct rig_helper *waiter;
    struct outage outage;

    begin(&outage, variant);
    go_away(&outage);
    waiter = rig_helper_ask(outage.waiter, rig_name(), &request);
    assert_stays(!rig_helper_is_done(waiter), AWAY_MS);
    dlock_cancel_fire(request.cancel);
    assert_status(CANCELLED, rig_helper_acquired(waiter));
    rig_helper_finish(waiter);
}

/* The lock is lost with the data of its servers. The release must answer that, and not that the
 * servers could not be reached. */
void a_release_outlives_an_outage(const char *variant)
{
    const char *name = rig_name();
    struct rig_helper *holder;
    struct outage outage;
    int64_t begun_ms;
    dlock_status st;

    begin(&outage, variant);
    holder = rig_helper_start(outage.waiter, name, 0);
    assert_status(OK, rig_helper_acquired(holder));
    go_away(&outage);
    begun_ms = rig_now_ms();
    rig_helper_begin_release(holder);
    rig_pause_ms(AWAY_MS / 4);
    assert_false(rig_helper_has_released(holder));
    come_back(&outage);
    presume(rig_now_ms() - begun_ms < RELEASE_MS);
    st = rig_helper_finish(holder);
    if (st != DLOCK_UNKNOWN)
        assert_status(LOST, st);
    assert_status(OK, rig_try(outage.holder, name));
}

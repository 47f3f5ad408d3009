/* SPDX-License-Identifier: MIT */
/* laws_later.c -- releases without waiting: they arrive, whatever happens to the
 * connection or to the server, and never free another owner's lock. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lock/registry.h"
#include "tests/conformance/cutter.h"
#include "tests/conformance/forked.h"
#include "tests/conformance/laws.h"

enum { ROUNDS = 200, SETTLE_MS = 60, CALL_MS = 10000 };

/* The timeout of one command. */
#define TIMEOUT_MS STRETCHED(300)

bool is_left_to_itself(const char *variant)
{
    return dlock_registry_find(variant)->read_release != NULL;
}

static dlock_metrics read_metrics(dlock_system *sys)
{
    dlock_metrics metrics;

    dlock_metrics_read(sys, &metrics);
    return metrics;
}

static bool has_paid(dlock_system *sys, uint64_t count)
{
    return read_metrics(sys).debts_paid == count;
}

void is_released_later(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    uint64_t debts = is_left_to_itself(variant);
    dlock_metrics metrics;
    dlock_lease lease, copy, never = {0};

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    copy = lease;
    assert_status(OK, dlock_release_later(pair.a, &lease));
    assert_string_equal("", dlock_error());
    assert_false(dlock_lease_valid(pair.a, &copy));
    assert_status(INVALID, dlock_release_later(pair.a, &lease));
    assert_status(INVALID, dlock_release(pair.a, &copy));
    assert_status(INVALID, dlock_release_later(pair.a, &never));
    assert_status(INVALID, dlock_release_later(pair.a, NULL));
    /* After the release `a` sends no further request, and the lock is free. */
    assert_comes(rig_try(pair.b, name) == DLOCK_OK);
    assert_comes(has_paid(pair.a, debts));
    assert_int_equal(0, dlock_pay_debts(pair.a, -1));
    metrics = read_metrics(pair.a);
    assert_int_equal(debts, metrics.debts);
    assert_int_equal(0, metrics.debts_given_up);
    assert_int_equal(0, metrics.lost);
}

/* On one connection, the server executes each acquire after the release before it. */
void goes_behind_its_debt(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    char owner[DLOCK_OWNER_MAX + 1] = "";
    dlock_lease lease;

    for (int i = 0; i < ROUNDS; i++) {
        assert_status(OK, dlock_acquire(sys, name, 0, &lease));
        assert_string_not_equal(owner, lease.owner);
        strcpy(owner, lease.owner);
        assert_status(OK, dlock_release_later(sys, &lease));
    }
    assert_int_equal(0, dlock_pay_debts(sys, -1));
    assert_int_equal(ROUNDS, read_metrics(sys).debts_paid);
}

/* Another process finds the lock free as soon as the release was sent. A few releases may be late,
 * because the network may deliver the other request first; if releases were sent only with the next
 * request, nearly all would be late. */
void is_free_once_it_was_sent(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    int busy_count = 0;
    dlock_lease lease;

    for (int i = 0; i < ROUNDS; i++) {
        dlock_status st;

        assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
        assert_status(OK, dlock_release_later(pair.a, &lease));
        dlock_send_debts(pair.a);
        st = rig_try(pair.b, name);
        if (st == DLOCK_OK)
            continue;
        assert_status(BUSY, st);
        busy_count++;
        assert_comes(rig_try(pair.b, name) == DLOCK_OK);
    }
    assert_true(busy_count < ROUNDS / 4);
    dlock_send_debts(NULL);
    assert_string_not_equal("", dlock_error());
}

void gives_all_levels_back_later(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease outer, inner;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &outer));
    assert_status(OK, dlock_acquire(pair.a, name, 0, &inner));
    assert_status(OK, dlock_release_later(pair.a, &outer));
    assert_int_equal(0, dlock_pay_debts(pair.a, -1));
    assert_true(dlock_lease_valid(pair.a, &inner));
    assert_status(BUSY, rig_try(pair.b, name));
    assert_status(OK, dlock_release_later(pair.a, &inner));
    assert_comes(rig_try(pair.b, name) == DLOCK_OK);
    assert_int_equal(0, dlock_pay_debts(pair.a, -1));
    assert_int_equal(1, read_metrics(pair.a).debts_paid);
}

/* `a` is behind the cutter, and `b` is on the same server without the cutter. */
struct behind {
    struct rig_pair pair;
    const char *name;
    const char *url; /* of the cutter */
    dlock_lease lease;
};

static struct behind begin(const char *variant, int lease_ms, bool watchdog)
{
    dlock_options opts = rig_options(variant);
    struct behind s = {.name = rig_name()};

    s.pair.b = rig_open(&opts);
    if (lease_ms > 0)
        opts.lease_ms = lease_ms;
    opts.watchdog = watchdog;
    opts.redis_timeout_ms = TIMEOUT_MS;
    opts.redis_url = s.url = cutter_start_before(opts.redis_url);
    s.pair.a = rig_open(&opts);
    return s;
}

static void take(struct behind *s)
{
    assert_comes(dlock_acquire(s->pair.a, s->name, 0, &s->lease) == DLOCK_OK);
}

/* The release never arrived; it arrives once there is a connection again. */
void a_release_that_did_not_arrive_is_repeated(const char *variant)
{
    struct behind s = begin(variant, 0, false);

    take(&s);
    cutter_set(CUTTER_SILENT);
    assert_status(OK, dlock_release_later(s.pair.a, &s.lease));
    assert_stays(rig_try(s.pair.b, s.name) == DLOCK_BUSY, SETTLE_MS);
    assert_true(has_paid(s.pair.a, 0));
    cutter_cut();
    assert_comes(rig_try(s.pair.b, s.name) == DLOCK_OK);
    assert_comes(has_paid(s.pair.a, 1));
    assert_int_equal(0, read_metrics(s.pair.a).debts_given_up);
    cutter_stop();
}

/* The release arrived, and its answer did not. The repeated request then finds the lock of another
 * owner, or a new lock of the same thread, and must free neither. */
void a_release_that_is_repeated_meets_no_other_lock(const char *variant)
{
    struct behind s = begin(variant, 0, false);
    dlock_lease next;

    take(&s);
    cutter_set(CUTTER_DEAF);
    assert_status(OK, dlock_release_later(s.pair.a, &s.lease));
    assert_comes(dlock_acquire(s.pair.b, s.name, 0, &next) == DLOCK_OK);
    assert_true(has_paid(s.pair.a, 0));
    cutter_cut();
    assert_comes(has_paid(s.pair.a, 1));
    assert_status(BUSY, rig_try_elsewhere(s.pair.b, s.name));
    assert_status(OK, dlock_release(s.pair.b, &next));
    /* The answer is not LOST, because the first request may have freed the lock. */
    assert_int_equal(0, read_metrics(s.pair.a).lost);
    cutter_stop();
}

/* After its connection was lost, the next acquire of the name sends the release first. */
void an_acquire_pays_the_debts_of_its_name(const char *variant)
{
    struct behind s = begin(variant, 0, false);
    dlock_status st = DLOCK_IO;

    take(&s);
    cutter_set(CUTTER_SILENT);
    assert_status(OK, dlock_release_later(s.pair.a, &s.lease));
    assert_stays(rig_try(s.pair.b, s.name) == DLOCK_BUSY, SETTLE_MS);
    cutter_cut();
    assert_comes((st = dlock_acquire(s.pair.a, s.name, CALL_MS, &s.lease)) == DLOCK_OK);
    assert_comes(has_paid(s.pair.a, 1));
    assert_status(BUSY, rig_try(s.pair.b, s.name));
    assert_status(OK, dlock_release(s.pair.a, &s.lease));
    cutter_stop();
}

/* Without a server, the watchdog does not renew the lease, so the lease ends. The debt ends with
 * the lease. */
void a_debt_ends_with_its_lease(const char *variant)
{
    struct behind s = begin(variant, KEPT_LEASE_MS, true);
    uint64_t renewals;

    take(&s);
    assert_comes(read_metrics(s.pair.a).renewals > 0);
    cutter_set(CUTTER_SILENT);
    assert_status(OK, dlock_release_later(s.pair.a, &s.lease));
    renewals = read_metrics(s.pair.a).renewals;
    assert_comes(rig_try(s.pair.b, s.name) == DLOCK_OK);
    assert_comes(read_metrics(s.pair.a).debts_given_up == 1);
    assert_int_equal(0, dlock_pay_debts(s.pair.a, 0));
    assert_true(has_paid(s.pair.a, 0));
    assert_int_equal(renewals, read_metrics(s.pair.a).renewals);
    assert_int_equal(0, read_metrics(s.pair.a).lost);
    cutter_stop();
}

/* Start servers for this law, for `a` with a short timeout and for `b`. */
static struct rig_pair open_own(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair;

    servers_start(&opts);
    pair.b = rig_open(&opts);
    opts.redis_timeout_ms = TIMEOUT_MS;
    pair.a = rig_open(&opts);
    return pair;
}

void a_debt_outlives_a_restart(const char *variant)
{
    struct rig_pair pair = open_own(variant);
    const char *name = rig_name();
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    servers_signal(0, 1, SIGKILL);
    assert_status(OK, dlock_release_later(pair.a, &lease));
    assert_int_equal(1, dlock_pay_debts(pair.a, SETTLE_MS));
    servers_restart(0);
    assert_comes(has_paid(pair.a, 1));
    assert_comes(rig_try(pair.b, name) == DLOCK_OK);
}

void a_debt_outlives_a_pause(const char *variant)
{
    struct rig_pair pair = open_own(variant);
    const char *name = rig_name();
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    servers_signal(0, 1, SIGSTOP);
    assert_status(OK, dlock_release_later(pair.a, &lease));
    /* The request has reached its timeout, and its connection was closed. */
    assert_int_equal(1, dlock_pay_debts(pair.a, 2 * TIMEOUT_MS));
    servers_signal(0, 1, SIGCONT);
    assert_comes(rig_try(pair.b, name) == DLOCK_OK);
    assert_int_equal(0, dlock_pay_debts(pair.a, -1));
    assert_true(has_paid(pair.a, 1));
}

/* Neither the acquire nor the release after it is answered.  The server executes the acquire when
 * it goes on. */
void an_unanswered_acquire_becomes_a_debt(const char *variant)
{
    enum { LEASE_MS = 3600 * 1000 };
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease lease;

    servers_start(&opts);
    opts.lease_ms = LEASE_MS;
    pair.b = rig_open(&opts);
    opts.redis_timeout_ms = TIMEOUT_MS;
    pair.a = rig_open(&opts);
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_status(OK, dlock_release(pair.a, &lease));
    servers_signal(0, 1, SIGSTOP);
    assert_status(UNKNOWN, dlock_acquire(pair.a, name, 0, &lease));
    servers_signal(0, 1, SIGCONT);
    assert_comes(has_paid(pair.a, 1));
    assert_comes(rig_try(pair.b, name) == DLOCK_OK);
}

/* The server has forgotten the script of the release. */
void a_debt_outlives_a_script_flush(const char *variant)
{
    struct rig_pair pair = open_own(variant);
    const char *name = rig_name();
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    servers_tell(0, "SCRIPT FLUSH");
    assert_status(OK, dlock_release_later(pair.a, &lease));
    assert_comes(rig_try(pair.b, name) == DLOCK_OK);
    assert_int_equal(0, dlock_pay_debts(pair.a, -1));
    assert_int_equal(0, read_metrics(pair.a).lost);
}

void a_close_pays_its_debts(const char *variant)
{
    struct behind s = begin(variant, 0, false);
    dlock_options opts = rig_options(variant);
    dlock_system *sys = NULL;
    dlock_lease lease;

    assert_status(OK, dlock_open(&sys, &opts));
    assert_status(OK, dlock_acquire(sys, s.name, 0, &lease));
    assert_status(OK, dlock_release_later(sys, &lease));
    dlock_close(sys);
    assert_string_equal("", dlock_error());
    assert_status(OK, rig_try(s.pair.b, s.name));

    opts.redis_timeout_ms = TIMEOUT_MS;
    opts.redis_url = s.url;
    assert_status(OK, dlock_open(&sys, &opts));
    assert_status(OK, dlock_acquire(sys, s.name, 0, &lease));
    cutter_set(CUTTER_SILENT);
    assert_status(OK, dlock_release_later(sys, &lease));
    dlock_close(sys);
    assert_non_null(strstr(dlock_error(), "1 release"));
    assert_status(BUSY, rig_try(s.pair.b, s.name));
    cutter_stop();
}

/* The objects of the parent that a child inherits by fork(). */
struct inheritance {
    dlock_system *sys;
    dlock_lease *other;
};

static int owe_nothing(void *data)
{
    const struct inheritance *parent = data;
    bool is_well = dlock_release_later(parent->sys, parent->other) == DLOCK_INVALID &&
                   dlock_pay_debts(parent->sys, 0) == 0;

    dlock_close(parent->sys);
    return is_well ? 0 : 1;
}

/* A forked child neither sends the releases that its parent owes, nor drops them. */
void a_child_owes_nothing(const char *variant)
{
    struct behind s = begin(variant, 0, false);
    dlock_lease other;
    struct inheritance child = {s.pair.a, &other};

    take(&s);
    assert_status(OK, dlock_acquire(s.pair.a, rig_name(), 0, &other));
    cutter_set(CUTTER_SILENT);
    assert_status(OK, dlock_release_later(s.pair.a, &s.lease));
    assert_int_equal(0, forked_answer(owe_nothing, &child));
    assert_int_equal(1, dlock_pay_debts(s.pair.a, 0));
    cutter_cut();
    assert_comes(has_paid(s.pair.a, 1));
    assert_comes(dlock_release(s.pair.a, &other) != DLOCK_IO);
    cutter_stop();
}

/* SPDX-License-Identifier: MIT */
/* laws_release.c -- a release frees its own lock, and never another's. */
#include <pthread.h>
#include <string.h>

#include "lock/fault.h"
#include "tests/conformance/laws.h"

void spends_a_lease_once(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    dlock_lease never = {0};
    dlock_lease lease;
    dlock_lease copy;

    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    assert_int_equal(DLOCK_TOKEN_LEN, strlen(lease.token));
    copy = lease;
    assert_true(dlock_lease_valid(sys, &copy));
    assert_status(OK, dlock_release(sys, &lease));
    assert_status(INVALID, dlock_release(sys, &lease));
    assert_string_not_equal("", dlock_error());
    assert_status(INVALID, dlock_release(sys, &copy));
    assert_false(dlock_lease_valid(sys, &copy));
    assert_status(INVALID, dlock_release(sys, &never));
    assert_status(INVALID, dlock_release(sys, NULL));
    /* The next grant has another token, so the copy of the released lease does not fit it. */
    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    assert_string_not_equal(copy.token, lease.token);
    assert_status(INVALID, dlock_release(sys, &copy));
    assert_status(INVALID, dlock_renew(sys, &copy));
    assert_true(dlock_lease_valid(sys, &lease));
    assert_status(OK, dlock_release(sys, &lease));
    assert_string_equal("", dlock_error());
}

/* A thread that uses the lease of another thread. */
struct stranger {
    dlock_system *sys;
    dlock_lease lease;
    dlock_status renewed;
    dlock_status released;
    bool valid;
};

static void *meddle(void *arg)
{
    struct stranger *stranger = arg;

    stranger->valid = dlock_lease_valid(stranger->sys, &stranger->lease);
    stranger->renewed = dlock_renew(stranger->sys, &stranger->lease);
    stranger->released = dlock_release(stranger->sys, &stranger->lease);
    return NULL;
}

void knows_its_own_leases(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    struct stranger stranger = {.sys = pair.a};
    dlock_lease lease;
    dlock_lease copy;
    dlock_lease others;
    pthread_t thread;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_status(OK, dlock_acquire(pair.b, rig_name(), 0, &others));
    stranger.lease = copy = lease;
    assert_status(INVALID, dlock_release(pair.b, &copy));
    assert_status(INVALID, dlock_renew(pair.b, &copy));
    assert_false(dlock_lease_valid(pair.b, &lease));
    assert_int_equal(0, pthread_create(&thread, NULL, meddle, &stranger));
    pthread_join(thread, NULL);
    assert_true(stranger.valid);
    assert_status(INVALID, stranger.renewed);
    assert_status(INVALID, stranger.released);
    assert_true(dlock_lease_valid(pair.a, &lease));
    if (rig_caps(variant) & DLOCK_CAP_LOCAL)
        assert_status(BUSY, rig_try(pair.b, name));
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_status(OK, dlock_release(pair.b, &others));
}

/* The lease of `a` has ended, and `b` holds the lock. */
struct overrun {
    struct rig_pair pair;
    const char *name;
    dlock_lease late;
    dlock_lease next;
};

static struct overrun overrun(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_options long_opts = rig_options(variant);
    struct overrun over;

    opts.lease_ms = SHORT_LEASE_MS;
    over.pair.a = rig_open(&opts);
    over.pair.b = rig_open(&long_opts);
    over.name = rig_name();
    rig_acquire_short(over.pair.a, over.name, NULL, SHORT_LEASE_MS, &over.late);
    assert_status(OK,
                  dlock_acquire(over.pair.b, over.name, PATIENCE_MS, &over.next));
    assert_false(dlock_lease_valid(over.pair.a, &over.late));
    assert_true(dlock_lease_valid(over.pair.b, &over.next));
    return over;
}

void late_release_touches_nobody(const char *variant)
{
    struct overrun over = overrun(variant);

    assert_status(LOST, dlock_release(over.pair.a, &over.late));
    assert_status(INVALID, dlock_release(over.pair.a, &over.late));
    assert_status(BUSY, rig_try(over.pair.a, over.name));
    assert_status(BUSY, rig_try_elsewhere(over.pair.b, over.name));
    assert_status(OK, dlock_release(over.pair.b, &over.next));
    assert_status(OK, rig_try(over.pair.a, over.name));
}

static void naive_frees_anybody(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_options long_opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_helper *next;
    dlock_lease late;
    dlock_system *a;
    dlock_system *b;

    opts.lease_ms = SHORT_LEASE_MS;
    a = rig_open(&opts);
    b = rig_open(&long_opts);
    rig_acquire_short(a, name, NULL, SHORT_LEASE_MS, &late);
    next = rig_helper_start(b, name, PATIENCE_MS);
    assert_status(OK, rig_helper_acquired(next));
    assert_false(dlock_lease_valid(a, &late));
    assert_status(OK, dlock_release(a, &late));
    /* A third owner is inside while the second believes that it holds: the fault spreads from owner
     * to owner. */
    assert_status(OK, rig_try_elsewhere(a, name));
    assert_status(LOST, rig_helper_finish(next));
}

/* Wait until the helper has acquired with a short lease. Returns the time until which this lease
 * certainly lasts. */
static int64_t acquired_short(struct rig_helper *helper)
{
    dlock_status st = rig_helper_acquired(helper);
    int64_t asked_ms = rig_helper_asked_ms(helper);

    presume(rig_now_ms() - asked_ms < SHORT_LEASE_MS / 2);
    assert_status(OK, st);
    return asked_ms + SHORT_LEASE_MS * 9 / 10;
}

/* Hold `a` between the check and the delete of its release, if it has both; its lease ends, `b`
 * gets the lock, and `a` goes on. Returns the answer to the release of `a`. */
static dlock_status pause_in_the_gap(dlock_system *a, dlock_system *b, const char *name,
                                     bool has_gap, dlock_lease *next)
{
    dlock_fault_point gap = DLOCK_FAULT_BETWEEN_CHECK_AND_DELETE;
    struct rig_helper *slow = rig_helper_start(a, name, 0);
    int64_t until_ms = acquired_short(slow);
    dlock_fault_state fault;

    assert_true(dlock_fault_arm(gap, DLOCK_FAULT_HOLD, name));
    if (has_gap) {
        rig_helper_begin_release(slow);
        assert_comes((dlock_fault_look(gap, &fault), fault.holding) ||
                     !lasts_until(until_ms));
        assert_provided(lasts_until(until_ms), fault.holding);
        assert_string_equal(name, fault.key);
    }
    assert_status(OK, dlock_acquire(b, name, PATIENCE_MS, next));
    assert_true(dlock_fault_release(gap));
    return rig_helper_finish(slow);
}

static struct rig_pair open_short_and_long(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair;

    pair.b = rig_open(&opts);
    opts.lease_ms = SHORT_LEASE_MS;
    pair.a = rig_open(&opts);
    return pair;
}

static void frees_anybody_in_its_gap(const char *variant)
{
    struct rig_pair pair = open_short_and_long(variant);
    const char *name = rig_name();
    dlock_lease next;

    assert_status(OK, pause_in_the_gap(pair.a, pair.b, name, true, &next));
    assert_true(dlock_lease_valid(pair.b, &next));
    assert_status(OK, rig_try_elsewhere(pair.a, name));
    assert_status(LOST, dlock_release(pair.b, &next));
}

/* Does a release of the system reach the point between a check and a delete? */
static bool has_gap(dlock_system *sys, const char *name)
{
    dlock_fault_point gap = DLOCK_FAULT_BETWEEN_CHECK_AND_DELETE;
    struct rig_helper *helper = rig_helper_start(sys, name, 0);
    int64_t until_ms = acquired_short(helper);
    dlock_fault_state fault;

    assert_true(dlock_fault_arm(gap, DLOCK_FAULT_HOLD, name));
    rig_helper_begin_release(helper);
    assert_comes((dlock_fault_look(gap, &fault), fault.holding) ||
                 rig_helper_has_released(helper));
    presume(fault.holding || lasts_until(until_ms)); /* after the lease a release need not check */
    assert_true(dlock_fault_release(gap));
    (void)rig_helper_finish(helper);
    return fault.holding;
}

void a_pause_before_the_delete_frees_nobody(const char *variant)
{
    struct rig_pair pair = open_short_and_long(variant);
    const char *name = rig_name();
    dlock_lease next;

    assert_status(LOST, pause_in_the_gap(pair.a, pair.b, name,
                                         has_gap(pair.a, rig_name()), &next));
    assert_status(BUSY, rig_try_elsewhere(pair.a, name));
    assert_status(OK, dlock_release(pair.b, &next));
}

void late_release_frees_anybody(const char *variant)
{
    if (rig_is(variant, "getset")) {
        /* Its own clock shows that its lease has ended, but only until it has checked that
         * clock. */
        late_release_touches_nobody(variant);
        rig_reset();
        frees_anybody_in_its_gap(variant);
    } else if (rig_is(variant, "owner")) {
        /* Its check shows that the lock has another owner, but only until it has checked. */
        late_release_touches_nobody(variant);
        rig_reset();
        frees_anybody_in_its_gap(variant);
    } else {
        naive_frees_anybody(variant);
    }
}

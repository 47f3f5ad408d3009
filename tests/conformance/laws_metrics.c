/* SPDX-License-Identifier: MIT */
/* laws_metrics.c -- the counters of a system, and its reports of losses. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "tests/conformance/laws.h"

enum { WAIT_MS = 60, ROUNDS = 3 };

static dlock_metrics read_metrics(dlock_system *sys)
{
    dlock_metrics metrics;

    dlock_metrics_read(sys, &metrics);
    return metrics;
}

static uint64_t recorded(const dlock_histogram *h)
{
    uint64_t count = 0;

    for (int i = 0; i < DLOCK_HISTOGRAM_BUCKETS; i++)
        count += h->buckets[i];
    return count;
}

void counts_what_it_does(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    bool has_store = !rig_is(variant, "local");
    dlock_metrics before;
    dlock_metrics after;
    dlock_lease lease;
    dlock_lease none;

    for (int i = 0; i < ROUNDS; i++) {
        assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
        assert_status(OK, dlock_release(pair.a, &lease));
    }
    assert_status(OK, dlock_acquire(pair.b, name, 0, &lease));
    assert_status(BUSY, dlock_acquire(pair.a, name, 0, &none));
    assert_status(TIMEOUT, dlock_acquire(pair.a, name, WAIT_MS, &none));
    rig_pause_ms(WAIT_MS);
    if (rig_caps(variant) & DLOCK_CAP_RENEW)
        assert_status(OK, dlock_renew(pair.b, &lease));
    assert_status(OK, dlock_release(pair.b, &lease));
    before = read_metrics(pair.a);
    assert_int_equal(ROUNDS, before.acquires[DLOCK_OK]);
    assert_int_equal(1, before.acquires[DLOCK_BUSY]);
    assert_int_equal(1, before.acquires[DLOCK_TIMEOUT]);
    assert_int_equal(ROUNDS, recorded(&before.wait));
    assert_int_equal(ROUNDS, recorded(&before.hold));
    assert_int_equal(0, before.lost);
    assert_int_equal(0, before.renewals);
    assert_true(has_store == (before.acquire_commands >= ROUNDS + 2));
    assert_true(has_store == (before.other_commands >= ROUNDS));
    after = read_metrics(pair.b); /* the counters of the other system */
    assert_int_equal(1, after.acquires[DLOCK_OK]);
    assert_int_equal(0, after.acquires[DLOCK_BUSY]);
    assert_int_equal(rig_caps(variant) & DLOCK_CAP_RENEW ? 1 : 0, after.renewals);
    assert_true(after.hold.sum_us >= 2 * WAIT_MS * 1000);
}

void counts_wake_ups(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    bool woken = false;

    /* A waiter that was too late for its message looks by itself; not every waiter is too late. */
    for (int i = 0; i < HAND_OVERS_MAX && !woken; i++) {
        struct rig_helper *waiter;
        dlock_lease lease;

        assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
        waiter = rig_helper_start(pair.b, name, -1);
        assert_stays(!rig_helper_is_done(waiter), WAIT_MS);
        assert_status(OK, dlock_release(pair.a, &lease));
        assert_status(OK, rig_helper_acquired(waiter));
        assert_status(OK, rig_helper_finish(waiter));
        woken = read_metrics(pair.b).wake_ups > read_metrics(pair.b).useless_wake_ups;
    }
    assert_true(woken);
    assert_int_equal(0, read_metrics(pair.a).wake_ups);
}

static bool is_readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, 0) == 1;
}

/* The descriptor also reports losses of holds from before the descriptor was asked for, each loss
 * once. */
void tells_of_losses_by_a_descriptor(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_request request = {.lease_ms = KEPT_LEASE_MS};
    dlock_system *sys = rig_open(&opts);
    uint64_t count = 0;
    dlock_lease first;
    dlock_lease second;
    dlock_lease kept;
    int64_t until_ms;
    int fd;

    until_ms = rig_acquire_short(sys, rig_name(), &request, KEPT_LEASE_MS, &first);
    assert_status(OK, dlock_acquire(sys, rig_name(), 0, &kept));
    fd = dlock_lost_fd(sys);
    assert_true(fd >= 0);
    assert_int_equal(fd, dlock_lost_fd(sys));
    assert_provided(lasts_until(until_ms), !is_readable(fd));
    assert_comes(is_readable(fd));
    assert_false(dlock_lease_valid(sys, &first));
    assert_int_equal(sizeof(count), read(fd, &count, sizeof(count)));
    assert_int_equal(1, count);
    until_ms = rig_acquire_short(sys, rig_name(), &request, KEPT_LEASE_MS, &second);
    assert_provided(lasts_until(until_ms),
                    read(fd, &count, sizeof(count)) == -1 && errno == EAGAIN);
    assert_comes(is_readable(fd));
    assert_int_equal(2, read_metrics(sys).lost);
    assert_int_equal(2, read_metrics(sys).lost_expired);
    (void)dlock_release(sys, &first);
    (void)dlock_release(sys, &second);
    assert_status(OK, dlock_release(sys, &kept));
    assert_int_equal(2, read_metrics(sys).lost);
    assert_int_equal(2, read_metrics(sys).lost_expired);
    assert_int_equal(0, read_metrics(sys).lost_refused + read_metrics(sys).lost_fail_over);
}

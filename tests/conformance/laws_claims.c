/* SPDX-License-Identifier: MIT */
/* laws_claims.c -- calls the functions of a variant directly, and checks their contract with the
 * core. */
#include "tests/conformance/laws.h"
#include "tests/conformance/slots.h"

/* A network, or a client that tries again, may deliver a request twice. The second request may
 * get any answer, and one release must be enough to free the lock. */
void counts_a_claim_once(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const struct slots *slots = slots_open(&opts);
    const char *name = rig_name();
    struct slot_claim other;
    struct slot_claim claim;
    dlock_claim again;
    dlock_status st;

    slots_claim(slots, &claim, name);
    slots_claim(slots, &other, name);
    assert_status(OK, slots_try(slots, &claim));
    again = slots_again(&claim);
    st = slots->variant->try_acquire(slots->state, &again);
    assert_true(st == DLOCK_OK || st == DLOCK_BUSY);
    assert_status(BUSY, slots_try(slots, &other));
    if (rig_caps(variant) & DLOCK_CAP_REENTRANT) {
        claim.claim.level = 2;
        assert_status(OK, slots_try(slots, &claim));
        again = slots_again(&claim);
        assert_status(OK, slots->variant->try_acquire(slots->state, &again));
        assert_status(OK, slots_release(slots, &claim));
        assert_status(BUSY, slots_try(slots, &other));
        claim.claim.level = 1;
    }
    assert_status(OK, slots_release(slots, &claim));
    assert_status(OK, slots_try(slots, &other));
    assert_status(OK, slots_release(slots, &other));
}

/* The core releases what an unanswered acquire may have taken. If the acquire never arrived, this
 * release must change nothing: neither lower levels of the same owner nor the locks of others. */
void cleans_up_nothing_that_is(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const struct slots *slots = slots_open(&opts);
    const char *name = rig_name();
    struct slot_claim never;
    struct slot_claim claim;

    slots_claim(slots, &claim, name);
    slots_claim(slots, &never, name);
    assert_status(OK, slots_try(slots, &claim));
    assert_status(BUSY, slots_try(slots, &never));
    assert_status(LOST, slots_release(slots, &never));
    assert_status(BUSY, slots_try(slots, &never));
    if (rig_caps(variant) & DLOCK_CAP_REENTRANT) {
        claim.claim.level = 2;
        (void)slots_release(slots, &claim);
        assert_status(BUSY, slots_try(slots, &never));
        claim.claim.level = 1;
    }
    assert_status(OK, slots_release(slots, &claim));
    assert_status(OK, slots_try(slots, &never));
    assert_status(OK, slots_release(slots, &never));
}

static int64_t left_ms(const struct slots *slots, const char *name)
{
    dlock_info info;

    assert_status(OK, slots->variant->inspect(slots->state, name, &info));
    return info.left_ms;
}

/* A request with an earlier, shorter lease (a renewal or an inner level) may arrive after a level
 * with a longer lease. It must not shorten the lease of that level. */
static void keeps_the_longest(const struct slots *slots, bool shared)
{
    enum { LEASE_MS = 60000, BRIEF_MS = 1000 };
    struct slot_claim claim;

    slots_claim(slots, &claim, rig_name());
    claim.claim.shared = shared;
    claim.claim.lease_ms = LEASE_MS;
    assert_status(OK, slots_try(slots, &claim));
    claim.claim.lease_ms = BRIEF_MS;
    assert_status(OK, slots->variant->renew(slots->state, &claim.claim));
    assert_true(left_ms(slots, claim.name) > LEASE_MS / 2);
    claim.claim.level = 2;
    assert_status(OK, slots_try(slots, &claim));
    assert_true(left_ms(slots, claim.name) > LEASE_MS / 2);
    assert_status(OK, slots_release(slots, &claim));
    assert_true(left_ms(slots, claim.name) > LEASE_MS / 2);
    claim.claim.level = 1;
    assert_status(OK, slots_release(slots, &claim));
}

void a_late_request_takes_no_lease_away(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const struct slots *slots = slots_open(&opts);

    keeps_the_longest(slots, false);
    if (rig_caps(variant) & DLOCK_CAP_SHARED)
        keeps_the_longest(slots, true);
}

/* A renewal must not renew a lock that was released, nor a lock that ended and whose record is
 * still in the store. Any user of the store may delete such a record, so one may be gone; all of
 * ROUNDS are not. */
void renews_nothing_that_ended(const char *variant)
{
    enum { ROUNDS = 5 };
    int brief_ms = STRETCHED(60);
    int64_t asked_ms;
    dlock_options opts = rig_options(variant);
    const struct slots *slots;
    struct slot_claim claim;
    struct slot_claim other;

    opts.lease_ms = brief_ms;
    slots = slots_open(&opts);
    slots_claim(slots, &claim, rig_name());
    slots_claim(slots, &other, claim.name);
    asked_ms = rig_now_ms();
    assert_status(OK, slots_try(slots, &other));
    assert_status_provided(lasts_until(asked_ms + brief_ms), OK,
                           slots_release(slots, &other));
    assert_status(LOST, slots->variant->renew(slots->state, &other.claim));
    for (int round = 0; round < ROUNDS; round++) {
        assert_status(OK, slots_try(slots, &claim));
        rig_pause_ms(2 * brief_ms); /* twice the lease: the lock has certainly ended */
        assert_status(LOST, slots->variant->renew(slots->state, &claim.claim));
    }
    assert_status(OK, slots_try(slots, &other));
    assert_status(LOST, slots_release(slots, &claim));
}

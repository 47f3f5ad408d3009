/* SPDX-License-Identifier: MIT */
/* laws_queue.c -- the order of the queue decides who gets the lock, and not the order
 * of the attempts.
 *
 * Waiters that sleep might be woken in the right order by chance. So the waiters of these laws do
 * not sleep, and make their attempts in the worst order. */
#include "base/os/clock.h"
#include "tests/conformance/laws.h"
#include "tests/conformance/slots.h"

/* Every store believes for BELIEVED_MS after a look that the waiter still waits. */
enum { WAITERS = 4, BELIEVED_MS = 1000 };

static void wait_for(const struct slots *slots, struct slot_claim *waiter,
                     const char *name)
{
    slots_claim(slots, waiter, name);
    waiter->claim.wait_until_ns = dlock_clock_after(dlock_clock_ns(), 60000);
    assert_status(BUSY, slots_try(slots, waiter));
}

/* The lock is free. All waiters try, the last of the queue first. Only the first of the queue
 * enters, if the store still believes that it waits: no waiter had looked before `looked_ms`. */
static void only_the_first(const struct slots *slots, struct slot_claim *waiters,
                           size_t count, struct slot_claim *passer, int64_t looked_ms)
{
    int64_t until_ms = looked_ms + BELIEVED_MS;

    for (size_t i = count - 1; i > 0; i--)
        assert_status_provided(lasts_until(until_ms), BUSY,
                               slots_try(slots, &waiters[i]));
    if (passer != NULL)
        assert_status_provided(lasts_until(until_ms), BUSY, slots_try(slots, passer));
    assert_status(OK, slots_try(slots, &waiters[0]));
}

void only_the_first_may_enter(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const struct slots *slots = slots_open(&opts);
    struct slot_claim waiters[WAITERS];
    const char *name = rig_name();
    struct slot_claim passer;
    struct slot_claim holder;
    int64_t looked_ms;

    slots_claim(slots, &holder, name);
    slots_claim(slots, &passer, name);
    assert_status(OK, slots_try(slots, &holder));
    looked_ms = rig_now_ms();
    for (size_t i = 0; i < WAITERS; i++)
        wait_for(slots, &waiters[i], name);
    assert_status(OK, slots_release(slots, &holder));
    for (size_t turn = 0; turn < WAITERS; turn++) {
        int64_t last_ms = looked_ms;

        looked_ms = rig_now_ms();
        only_the_first(slots, &waiters[turn], WAITERS - turn, &passer, last_ms);
        assert_status(OK, slots_release(slots, &waiters[turn]));
    }
    assert_status(OK, slots_try(slots, &passer));
    assert_status(OK, slots_release(slots, &passer));
}

/* A waiter keeps its place while it looks now and then, also for longer than the store believes a
 * dead waiter: for 1.5 s (fair), or 2 s (pg-fair, which renews a place in its second half only).
 * The second waiter looks first each time: a store that forgot both then has the second one before
 * the first one. No pair of looks is made at 1.5 s: then such a store might keep their order. */
void keeps_a_place(const char *variant)
{
    static const int LOOKS_MS[] = {300, 800, 1510, 2200};
    enum { COME_MS = 400, LATE_MS = 290 };
    bool is_timed = !(rig_caps(variant) & DLOCK_CAP_SESSION);
    dlock_options opts = rig_options(variant);
    const struct slots *slots = slots_open(&opts);
    struct slot_claim waiters[2];
    struct slot_claim holder;
    int64_t begun_ms, came_ms, looked_ms = 0;

    slots_claim(slots, &holder, rig_name());
    assert_status(OK, slots_try(slots, &holder));
    begun_ms = rig_now_ms();
    wait_for(slots, &waiters[0], holder.name);
    wait_for(slots, &waiters[1], holder.name);
    came_ms = rig_now_ms();
    presume(!is_timed || came_ms <= begun_ms + COME_MS);
    for (size_t i = 0; i < sizeof(LOOKS_MS) / sizeof(LOOKS_MS[0]); i++) {
        looked_ms = came_ms + LOOKS_MS[i];
        if (lasts_until(looked_ms))
            rig_pause_ms((int)(looked_ms - rig_now_ms()));
        assert_status(BUSY, slots_try(slots, &waiters[1]));
        assert_status(BUSY, slots_try(slots, &waiters[0]));
        presume(!is_timed || lasts_until(looked_ms + LATE_MS));
    }
    assert_status(OK, slots_release(slots, &holder));
    only_the_first(slots, waiters, 2, NULL, looked_ms);
    presume(!is_timed || lasts_until(looked_ms + BELIEVED_MS));
    assert_status(OK, slots_release(slots, &waiters[0]));
    assert_status(OK, slots_try(slots, &waiters[1]));
    assert_status(OK, slots_release(slots, &waiters[1]));
}

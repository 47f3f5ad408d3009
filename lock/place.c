/* SPDX-License-Identifier: MIT */
/* place.c -- the place of an acquire in the line of its process, from joining to the hold. */
#include "lock/place.h"

#include <string.h>

#include "base/os/clock.h"
#include "lock/lease.h"
#include "lock/token.h"

/* Take the lock that the last holder handed over to this thread.  If the lease has
 * ended by now, the thread asks the store instead. */
static void take(dlock_system *sys, struct dlock_place *place, dlock_claim *claim)
{
    struct dlock_hold *hold = place->hold;
    const struct dlock_gift *gift = &place->gift;

    if (gift->deadline_ns <= dlock_clock_ns()) {
        dlock_handover_ask_anew(sys->handover, place);
        return;
    }
    dlock_holds_renumber(hold);
    strcpy(hold->facts.owner, gift->owner);
    dlock_token_make(hold->facts.token);
    hold->facts.note = gift->note;
    hold->facts.era = gift->era;
    hold->facts.lease_ms = sys->opts.lease_ms;
    hold->renew_at_ns = gift->renew_at_ns;
    atomic_store(&hold->deadline_ns, gift->deadline_ns);
    *claim = dlock_claim_of(sys, &hold->facts, 1);
    place->is_given = true;
}

dlock_status dlock_place_wait(dlock_system *sys, struct dlock_place *place,
                              const dlock_request *request, dlock_claim *claim)
{
    if (sys->handover == NULL || place->until_ns == 0 || request->lease_ms != 0 ||
        atomic_load(&place->hold->root) != place->hold)
        return DLOCK_OK;
    place->cancel = request->cancel;
    switch (dlock_handover_join(sys->handover, place)) {
    case DLOCK_TURN_GIVEN:
        take(sys, place, claim);
        return DLOCK_OK;
    case DLOCK_TURN_TIMEOUT:
        return DLOCK_TIMEOUT;
    case DLOCK_TURN_CANCELLED:
        return DLOCK_CANCELLED;
    case DLOCK_TURN_NOMEM:
        return dlock_fail(DLOCK_NOMEM, "no memory for a place in a line");
    default:
        return DLOCK_OK;
    }
}

void dlock_place_leave(dlock_system *sys, const struct dlock_place *place)
{
    if (place->asks || place->is_given)
        dlock_handover_end(sys->handover, place->hold, false);
}

void dlock_place_begin_hold(dlock_system *sys, struct dlock_place *place,
                            struct dlock_hold *hold, int64_t sent_ns)
{
    hold->is_in_line = place->asks || place->is_given;
    if (place->asks)
        dlock_handover_granted(sys->handover, place, sent_ns);
    if (place->is_given)
        dlock_metrics_add(&sys->metrics, DLOCK_METRIC_local_grants, 1);
}

/* SPDX-License-Identifier: MIT */
/* doubts.c -- attempts of an acquire that may have left a lock in the store. */
#include "lock/doubts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "lock/debts.h"
#include "lock/lease.h"
#include "lock/status.h"

/* More doubts arise only while the store is away for long. */
enum { DOUBTS_MAX = 4 };

struct dlock_doubt {
    struct dlock_hold_facts facts;
    int level;
    bool is_for_ever; /* no release is safe, so only the lease ends it */
    bool is_refused;  /* the store answered the release, and refused it */
    int64_t until_ns; /* the lease has certainly ended by then */
};

/* The instant at which the store has certainly ended the lock of the claim by itself.
 * The request may still be on its way now, so the lease counts from now. */
static int64_t in_doubt_until_ns(const dlock_system *sys, const dlock_claim *claim)
{
    const unsigned ends = DLOCK_CAP_EXPIRES | DLOCK_CAP_ATOMIC;

    if ((sys->variant->info.caps & ends) != ends)
        return INT64_MAX;
    return dlock_clock_after(dlock_clock_ns(), claim->lease_ms);
}

void dlock_doubts_note(struct dlock_doubts *doubts, const dlock_system *sys,
                       const struct dlock_hold_facts *facts, const dlock_claim *claim,
                       dlock_status released)
{
    struct dlock_doubt *doubt;

    if (doubts->at == NULL)
        doubts->at = calloc(DOUBTS_MAX, sizeof(*doubts->at));
    if (doubts->at == NULL)
        return;
    if (doubts->count == DOUBTS_MAX)
        memmove(doubts->at, doubts->at + 1, (size_t)--doubts->count * sizeof(*doubts->at));
    doubt = &doubts->at[doubts->count++];
    doubt->facts = *facts;
    doubt->facts.note = claim->note;
    doubt->level = claim->level;
    doubt->is_for_ever = sys->variant->blind_release;
    doubt->is_refused = released == DLOCK_PROTOCOL;
    doubt->until_ns = in_doubt_until_ns(sys, claim);
}

void dlock_doubts_settle(struct dlock_doubts *doubts, dlock_system *sys)
{
    bool answers = true;
    int kept_count = 0;

    for (int i = 0; i < doubts->count; i++) {
        struct dlock_doubt *doubt = &doubts->at[i];
        dlock_claim claim = dlock_claim_of(sys, &doubt->facts, doubt->level);

        if (dlock_clock_ns() >= doubt->until_ns)
            continue;
        if (answers && !doubt->is_for_ever) {
            answers = !dlock_is_failure(sys->variant->release(sys->state, &claim));
            if (answers)
                continue;
        }
        if (kept_count != i)
            doubts->at[kept_count] = *doubt;
        kept_count++;
    }
    doubts->count = kept_count;
}

dlock_status dlock_doubts_answer(struct dlock_doubts *doubts, dlock_system *sys,
                                 dlock_status st)
{
    char why[256];

    if ((st != DLOCK_TIMEOUT && st != DLOCK_IO) || doubts->count == 0)
        return st;
    snprintf(why, sizeof(why), "%s", dlock_error());
    dlock_doubts_settle(doubts, sys);
    if (doubts->count == 0)
        return dlock_fail(st, "%s", why);
    return dlock_fail(DLOCK_UNKNOWN, "an attempt went unanswered and may stay granted "
                                     "until its lease ends%s%.180s",
                      why[0] != '\0' ? "; " : "", why);
}

/* May the release be sent again at any time?  The owner of an outermost level was given up
 * with the note, so no later acquire uses it. */
static bool can_be_owed(const struct dlock_doubt *doubt, const dlock_system *sys)
{
    return sys->variant->read_release != NULL && !doubt->is_for_ever && !doubt->is_refused &&
           doubt->level == 1 && dlock_clock_ns() < doubt->until_ns;
}

void dlock_doubts_end(struct dlock_doubts *doubts, dlock_system *sys, dlock_status st)
{
    bool is_owed = st != DLOCK_OK && st != DLOCK_PROTOCOL;

    for (int i = 0; i < doubts->count && is_owed; i++)
        if (can_be_owed(&doubts->at[i], sys))
            dlock_debts_owe_attempt(sys, &doubts->at[i].facts);
    free(doubts->at);
}

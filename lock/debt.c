/* SPDX-License-Identifier: MIT */
/* debt.c -- the debts of a system: the list, and the answers.
 *
 * No request is sent with the mutex of the debts held, and under it only the recorder's
 * mutexes are locked. */
#include "lock/debt.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/os/clock.h"
#include "lock/era.h"
#include "lock/lease.h"
#include "lock/lost.h"
#include "lock/recording.h"
#include "lock/stores/redis_request.h"

/* ---- the list: with the mutex held ---- */

void dlock_debts_wake(struct dlock_debts *debts, int64_t at_ns)
{
    if (at_ns >= debts->wake_ns)
        return;
    debts->wake_ns = at_ns;
    dlock_condition_signal(&debts->wake);
}

struct dlock_debt *dlock_debts_first(const struct dlock_debts *debts,
                                     enum dlock_debt_state state, const char *name)
{
    struct dlock_debt *debt;

    DL_FOREACH(debts->owed, debt)
        if (debt->state == state &&
            (name == NULL || strcmp(debt->facts.key.name, name) == 0))
            return debt;
    return NULL;
}

/* Remove a debt that is paid or given up from the list. */
static void remove_debt(struct dlock_debts *debts, struct dlock_debt *debt)
{
    DL_DELETE(debts->owed, debt);
    LL_PREPEND(debts->spare, debt);
    if (--debts->count == 0)
        dlock_condition_broadcast(&debts->paid);
}

struct dlock_debt *dlock_debts_add(struct dlock_debts *debts)
{
    struct dlock_debt *debt;

    dlock_mutex_lock(&debts->mutex);
    debt = debts->spare;
    if (debt != NULL)
        LL_DELETE(debts->spare, debt);
    else
        debt = malloc(sizeof(*debt));
    if (debt != NULL) {
        debt->state = DLOCK_DEBT_QUEUED;
        debt->made_ns = dlock_clock_ns();
        DL_APPEND(debts->owed, debt);
        debts->count++;
        debts->made_count++;
        dlock_debts_wake(debts, dlock_clock_after(debt->made_ns, DLOCK_LATER_MS));
    }
    dlock_mutex_unlock(&debts->mutex);
    return debt;
}

/* ---- the ends of debts ---- */

/* Record the end of the release, and count it: the store's answer, or UNKNOWN. */
static void record_end(const struct dlock_debt *debt, dlock_status st)
{
    dlock_system *sys = debt->debts->sys;
    dlock_claim claim = dlock_claim_of(sys, &debt->facts, 1);
    bool is_paid = !dlock_is_failure(st);

    if (st == DLOCK_LOST && debt->was_unanswered)
        st = DLOCK_UNKNOWN; /* an earlier request may have freed the lock */
    if (st == DLOCK_LOST && !debt->is_counted)
        dlock_lost_count(sys, dlock_era_is_over(sys, &debt->facts) ? DLOCK_LOSS_FAIL_OVER
                                                                  : DLOCK_LOSS_REFUSED);
    dlock_recording_end(sys, debt->call, st, &claim, 0, false, 0);
    dlock_metrics_add(&sys->metrics,
                      is_paid ? DLOCK_METRIC_debts_paid : DLOCK_METRIC_debts_given_up, 1);
}

void dlock_debt_settle(struct dlock_debt *debt, dlock_status st, bool may_be_done)
{
    struct dlock_debts *debts = debt->debts;
    bool is_paid = !dlock_is_failure(st);

    if (is_paid)
        record_end(debt, st);
    dlock_mutex_lock(&debts->mutex);
    if (is_paid) {
        remove_debt(debts, debt);
    } else {
        debt->was_unanswered = debt->was_unanswered || may_be_done;
        debt->state = DLOCK_DEBT_FAILED;
        atomic_fetch_add(&debts->failed_count, 1);
        dlock_debts_wake(debts, debts->again_ns);
    }
    dlock_mutex_unlock(&debts->mutex);
}

void dlock_debt_read_answer(struct redis_post *post)
{
    struct dlock_debt *debt = (struct dlock_debt *)(void *)post;
    const struct redis_answer *answer = &post->leg.answer;
    dlock_system *sys = debt->debts->sys;
    dlock_claim claim = dlock_claim_of(sys, &debt->facts, 1);
    dlock_status st = redis_status(answer->outcome);
    bool may_be_done =
        st == DLOCK_UNKNOWN || (st == DLOCK_PROTOCOL && !answer->lacks_script);

    if (st == DLOCK_OK)
        st = sys->variant->read_release(sys->state, &claim, answer);
    dlock_debt_settle(debt, st, may_be_done);
}

bool dlock_debts_ask(struct dlock_debts *debts, struct dlock_debt *debt)
{
    dlock_system *sys = debts->sys;
    dlock_claim claim = dlock_claim_of(sys, &debt->facts, 1);
    struct dlock_spent before = dlock_spent_here();
    dlock_status st;

    debt->state = DLOCK_DEBT_ASKING;
    atomic_fetch_sub(&debts->failed_count, 1);
    dlock_mutex_unlock(&debts->mutex);
    st = sys->variant->release(sys->state, &claim);
    dlock_metrics_spent(&sys->metrics, DLOCK_METRIC_other_commands, &before);
    dlock_debt_settle(debt, st, st == DLOCK_UNKNOWN || st == DLOCK_PROTOCOL);
    dlock_mutex_lock(&debts->mutex);
    return !dlock_is_failure(st);
}

void dlock_debts_give_up(struct dlock_debts *debts, struct dlock_debt *debt)
{
    atomic_fetch_sub(&debts->failed_count, 1);
    record_end(debt, DLOCK_UNKNOWN);
    remove_debt(debts, debt);
}

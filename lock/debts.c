/* SPDX-License-Identifier: MIT */
/* debts.c -- the debts of a system, from the first one to the close. */
#include "lock/debts.h"

#include <stdlib.h>

#include "base/os/clock.h"
#include "base/os/thread.h"
#include "lock/debt.h"
#include "lock/lease.h"
#include "lock/payer.h"

static struct dlock_debts *begin(dlock_system *sys)
{
    struct dlock_debts *debts = calloc(1, sizeof(*debts));

    if (debts == NULL)
        return NULL;
    debts->sys = sys;
    dlock_mutex_init(&debts->mutex);
    if (!dlock_condition_init(&debts->wake))
        goto fail_wake;
    if (!dlock_condition_init(&debts->paid))
        goto fail_paid;
    if (dlock_payer_start(debts))
        return debts;

    dlock_condition_destroy(&debts->paid);
fail_paid:
    dlock_condition_destroy(&debts->wake);
fail_wake:
    dlock_mutex_destroy(&debts->mutex);
    free(debts);
    return NULL;
}

/* The list of debts, made with the first debt.  NULL: no memory, or no thread. */
static struct dlock_debts *debts_of(dlock_system *sys)
{
    struct dlock_debts *debts = atomic_load(&sys->debts);

    if (debts != NULL)
        return debts;
    dlock_mutex_lock(&sys->starting);
    debts = atomic_load(&sys->debts);
    if (debts == NULL) {
        debts = begin(sys);
        atomic_store(&sys->debts, debts);
    }
    dlock_mutex_unlock(&sys->starting);
    return debts;
}

/* Add a debt to the list.  NULL: no memory, or no thread. */
static struct dlock_debt *add(dlock_system *sys, const struct dlock_hold_facts *facts)
{
    struct dlock_debts *debts = debts_of(sys);
    struct dlock_debt *debt = debts != NULL ? dlock_debts_add(debts) : NULL;

    if (debt == NULL)
        return NULL;
    debt->debts = debts;
    debt->facts = *facts;
    debt->call = 0;
    debt->is_counted = true;
    debt->was_unanswered = false;
    debt->until_ns = dlock_clock_after(
        debt->made_ns, (int64_t)facts->lease_ms + sys->opts.redis_timeout_ms);
    debt->post.end = dlock_debt_read_answer;
    dlock_metrics_add(&sys->metrics, DLOCK_METRIC_debts, 1);
    return debt;
}

bool dlock_debts_owe(dlock_system *sys, const struct dlock_hold_facts *facts, uint64_t call,
                     bool is_counted)
{
    struct dlock_debt *debt = add(sys, facts);
    dlock_claim claim;
    dlock_status st;

    if (debt == NULL)
        return false;
    debt->call = call;
    debt->is_counted = is_counted;
    claim = dlock_claim_of(sys, facts, 1);
    claim.post = &debt->post;
    /* From here on the debt may be paid at any moment, and its memory used for another
     * debt. */
    st = sys->variant->release(sys->state, &claim);
    if (dlock_is_failure(st)) { /* the request was not queued */
        dlock_debt_settle(debt, st, false);
        dlock_error_clear();
    }
    return true;
}

void dlock_debts_owe_attempt(dlock_system *sys, const struct dlock_hold_facts *facts)
{
    struct dlock_debt *debt = add(sys, facts);

    if (debt != NULL)
        dlock_debt_settle(debt, DLOCK_UNKNOWN, true); /* the payer sends the release */
}

void dlock_debts_pay_name(dlock_system *sys, const char *name)
{
    struct dlock_debts *debts = atomic_load(&sys->debts);
    struct dlock_debt *debt;

    if (debts == NULL || atomic_load(&debts->failed_count) == 0)
        return;
    dlock_mutex_lock(&debts->mutex);
    do
        debt = dlock_debts_first(debts, DLOCK_DEBT_FAILED, name);
    while (debt != NULL && dlock_debts_ask(debts, debt));
    dlock_mutex_unlock(&debts->mutex);
}

uint64_t dlock_pay_debts(dlock_system *sys, int64_t wait_ms)
{
    DLOCK_PUT_OFF_CANCEL;
    int64_t until_ns =
        wait_ms < 0 ? INT64_MAX : dlock_clock_after(dlock_clock_ns(), wait_ms);
    struct dlock_debts *debts;
    uint64_t left;

    dlock_error_clear();
    if (dlock_system_check(sys) != DLOCK_OK)
        return 0;
    debts = atomic_load(&sys->debts);
    if (debts == NULL)
        return 0;
    dlock_mutex_lock(&debts->mutex);
    debts->is_hurried = true;
    debts->again_ns = 0;
    dlock_debts_wake(debts, 0);
    while (debts->count > 0 && dlock_clock_ns() < until_ns)
        (void)dlock_condition_wait_until(&debts->paid, &debts->mutex, until_ns);
    left = debts->count;
    dlock_mutex_unlock(&debts->mutex);
    return left;
}

void dlock_send_debts(dlock_system *sys)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_error_clear();
    if (dlock_system_check(sys) == DLOCK_OK && atomic_load(&sys->debts) != NULL)
        (void)sys->variant->send_queued(sys->state);
}

uint64_t dlock_debts_stop(dlock_system *sys, int64_t wait_ms)
{
    struct dlock_debts *debts = atomic_load(&sys->debts);

    if (debts == NULL)
        return 0;
    (void)dlock_pay_debts(sys, wait_ms);
    dlock_payer_stop(debts);
    return debts->count;
}

static void free_all(struct dlock_debt *debt)
{
    while (debt != NULL) {
        struct dlock_debt *next = debt->next;

        free(debt);
        debt = next;
    }
}

void dlock_debts_free(dlock_system *sys)
{
    struct dlock_debts *debts = atomic_load(&sys->debts);

    if (debts == NULL)
        return;
    free_all(debts->owed);
    free_all(debts->spare);
    dlock_condition_destroy(&debts->paid);
    dlock_condition_destroy(&debts->wake);
    dlock_mutex_destroy(&debts->mutex);
    free(debts);
}

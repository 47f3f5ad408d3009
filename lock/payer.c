/* SPDX-License-Identifier: MIT */
/* payer.c -- the thread that pays debts.
 *
 * While other threads use the store, queued releases are sent and answered together
 * with their requests, and the payer only checks the list. */
#include "lock/payer.h"

#include <utlist.h>

#include "base/os/clock.h"
#include "lock/process.h"
#include "lock/retry.h"

/* If no thread has read the answer to a release for this time, the payer sends another
 * request and waits for its answer: the earlier answer is read first. */
enum { ANSWER_MS = 20 };

static const struct dlock_retry PAUSES = {.kind = DLOCK_RETRY_EXPONENTIAL,
                                          .first_ms = 10,
                                          .max_ms = 200,
                                          .jitter_percent = 50};

/* Give up FAILED debts whose leases have ended.  The caller of this and the following
 * functions holds the mutex, except those of the header. */
static void give_up_ended(struct dlock_debts *debts, int64_t now_ns)
{
    struct dlock_debt *debt, *next;

    if (atomic_load(&debts->failed_count) == 0)
        return;
    DL_FOREACH_SAFE(debts->owed, debt, next)
        if (debt->state == DLOCK_DEBT_FAILED && debt->until_ns <= now_ns)
            dlock_debts_give_up(debts, debt);
}

/* Send the queued releases, with the mutex unlocked meanwhile.  `waits`: also wait
 * until they are answered, by a request that is sent after them. */
static void flush(struct dlock_debts *debts, bool waits)
{
    dlock_system *sys = debts->sys;
    uint64_t before = dlock_commands_count();

    debts->is_hurried = false;
    dlock_mutex_unlock(&debts->mutex);
    if (waits || !sys->variant->send_queued(sys->state))
        (void)sys->variant->check(sys->state);
    dlock_metrics_add(&sys->metrics, DLOCK_METRIC_other_commands,
                      dlock_commands_count() - before);
    dlock_mutex_lock(&debts->mutex);
}

/* Send the first FAILED debt again.  Before that it goes to the end of the list, so
 * that a debt that the store refuses delays no other debt. */
static void repeat(struct dlock_debts *debts, struct dlock_debt *debt)
{
    DL_DELETE(debts->owed, debt);
    DL_APPEND(debts->owed, debt);
    if (dlock_debts_ask(debts, debt)) {
        debts->fail_count = 0;
        debts->again_ns = 0;
    } else {
        debts->again_ns =
            dlock_clock_ns() + dlock_retry_pause_ns(&PAUSES, ++debts->fail_count);
    }
}

/* Send queued debts that are old enough, and read their answers.  Returns when to check
 * again; INT64_MAX: no debt is queued. */
static int64_t send_due(struct dlock_debts *debts)
{
    const struct dlock_debt *debt = dlock_debts_first(debts, DLOCK_DEBT_QUEUED, NULL);
    int64_t now_ns = dlock_clock_ns();
    int64_t due_ns, answer_due_ns;

    if (debt == NULL) {
        debts->is_hurried = false;
        return INT64_MAX;
    }
    due_ns = dlock_clock_after(debt->made_ns, DLOCK_LATER_MS);
    if (!debts->is_hurried && due_ns > now_ns)
        return due_ns;
    answer_due_ns = dlock_clock_after(debt->made_ns, ANSWER_MS);
    flush(debts, debts->is_hurried || answer_due_ns <= now_ns);
    /* The debts in the list now were sent just now, or were queued meanwhile. */
    return dlock_clock_after(dlock_clock_ns(), DLOCK_LATER_MS);
}

/* Do the work that is due.  Returns when to check again. */
static int64_t pay(struct dlock_debts *debts)
{
    int64_t now_ns = dlock_clock_ns();
    struct dlock_debt *failed;
    int64_t next_ns;

    give_up_ended(debts, now_ns);
    failed = dlock_debts_first(debts, DLOCK_DEBT_FAILED, NULL);
    if (failed != NULL && debts->again_ns <= now_ns) {
        repeat(debts, failed);
        return 0;
    }
    next_ns = send_due(debts);
    if (failed != NULL && debts->again_ns < next_ns)
        next_ns = debts->again_ns;
    /* If new debts came since the last check, the payer does not sleep without a limit,
     * so that the next debt need not wake it. */
    if (next_ns == INT64_MAX && debts->made_count != debts->seen_count)
        next_ns = dlock_clock_after(now_ns, DLOCK_LATER_MS);
    debts->seen_count = debts->made_count;
    return next_ns;
}

static void *run(void *arg)
{
    struct dlock_debts *debts = arg;

    dlock_process_enter(debts->sys->process);
    dlock_mutex_lock(&debts->mutex);
    while (!debts->is_stopping) {
        debts->wake_ns = INT64_MAX; /* a thread that sets it from here on wants another
                                     * check */
        dlock_debts_wake(debts, pay(debts));
        while (!debts->is_stopping && dlock_clock_ns() < debts->wake_ns)
            (void)dlock_condition_wait_until(&debts->wake, &debts->mutex, debts->wake_ns);
    }
    dlock_mutex_unlock(&debts->mutex);
    return NULL;
}

bool dlock_payer_start(struct dlock_debts *debts)
{
    return dlock_thread_start(&debts->payer, run, debts) == 0;
}

void dlock_payer_stop(struct dlock_debts *debts)
{
    dlock_mutex_lock(&debts->mutex);
    debts->is_stopping = true;
    dlock_condition_signal(&debts->wake);
    dlock_mutex_unlock(&debts->mutex);
    dlock_thread_join(&debts->payer);
}

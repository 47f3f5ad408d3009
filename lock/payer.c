/* SPDX-License-Identifier: MIT */
/* payer.c -- the thread that pays.
 *
 * While other threads ask the store, debts leave and are answered with their requests, and
 * the payer has nothing to do but to look. */
#include "lock/payer.h"

#include <utlist.h>

#include "base/os/clock.h"
#include "lock/process.h"
#include "lock/retry.h"

/* Answers that no thread has read by then are asked for. */
enum { ANSWER_MS = 20 };

static const struct dlock_retry PAUSES = {.kind = DLOCK_RETRY_EXPONENTIAL,
                                          .first_ms = 10,
                                          .max_ms = 200,
                                          .jitter_percent = 50};

/* Give up those that failed and whose leases have ended.  With the mutex held, as all that
 * follows but for the functions of the header. */
static void forgive(struct dlock_debts *debts, int64_t now_ns)
{
    struct dlock_debt *debt, *next;

    if (atomic_load(&debts->failed_count) == 0)
        return;
    DL_FOREACH_SAFE(debts->owed, debt, next)
        if (debt->state == DLOCK_DEBT_FAILED && debt->until_ns <= now_ns)
            dlock_debts_forgive(debts, debt);
}

/* Have what is queued leave, with the mutex free in between; `waits`: and wait until it is
 * answered, by asking the store something behind it. */
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

/* Ask again for the first debt that failed.  A debt that the store refuses must keep no other
 * debt waiting, so it goes to the end of the list first. */
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

/* See to it that what is queued leaves in time and is answered.  Answers when to look again;
 * INT64_MAX: there is none. */
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
    /* Those that are there now are on their way, or were queued meanwhile. */
    return dlock_clock_after(dlock_clock_ns(), DLOCK_LATER_MS);
}

/* Do what is due.  Answers when to look again. */
static int64_t pay(struct dlock_debts *debts)
{
    int64_t now_ns = dlock_clock_ns();
    struct dlock_debt *failed;
    int64_t next_ns;

    forgive(debts, now_ns);
    failed = dlock_debts_first(debts, DLOCK_DEBT_FAILED, NULL);
    if (failed != NULL && debts->again_ns <= now_ns) {
        repeat(debts, failed);
        return 0;
    }
    next_ns = send_due(debts);
    if (failed != NULL && debts->again_ns < next_ns)
        next_ns = debts->again_ns;
    /* Where one debt follows another the payer does not fall asleep in between: the next
     * need not wake it. */
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
        debts->wake_ns = INT64_MAX; /* who sets it from here on wants another look */
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

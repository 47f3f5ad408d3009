/* SPDX-License-Identifier: MIT */
/* debts.c -- the debts of a system: the list, the answers, and the payer, the thread that
 * sends queued debts in time, reads their answers, and repeats the requests that failed.
 *
 * While other threads use the store, queued releases are sent and answered together
 * with their requests, and the payer only checks the list.  No request is sent with the
 * mutex of the debts held, and under it only the recorder's mutexes are locked. */
#include "lock/debts.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/thread.h"
#include "base/redis/post.h"
#include "lock/era.h"
#include "lock/lease.h"
#include "lock/lost.h"
#include "lock/process.h"
#include "lock/recording.h"
#include "lock/retry.h"
#include "lock/stores/redis_request.h"

enum dlock_debt_state {
    DLOCK_DEBT_QUEUED, /* its post will end, with an answer or with a failure */
    DLOCK_DEBT_FAILED, /* the release has to be sent again */
    DLOCK_DEBT_ASKING, /* one thread sends it again; no other thread may */
};

struct dlock_debt {
    struct redis_post post; /* first, because debt_read_answer() gets its address */
    struct dlock_debts *debts;
    struct dlock_hold_facts facts;
    uint64_t call;       /* its number for the recorder; 0: not recorded */
    bool is_counted;     /* the loss of the hold is in the metrics    */
    bool was_unanswered; /* a request may have been executed          */
    enum dlock_debt_state state;
    int64_t made_ns;
    int64_t until_ns;    /* the lease has certainly ended by then     */
    struct dlock_debt *prev, *next;
};

struct dlock_debts {
    dlock_system *sys;
    struct dlock_thread payer;
    struct dlock_mutex mutex; /* protects all that follows */
    struct dlock_condition wake; /* wakes the payer */
    struct dlock_condition paid; /* signalled when the last debt is paid */
    bool is_stopping;
    bool is_hurried;         /* queued requests have to be sent now      */
    int64_t wake_ns;         /* when the payer next checks the list      */
    int64_t again_ns;        /* when it sends failed releases again      */
    unsigned fail_count;     /* failed requests in a row, for the pause  */
    uint64_t made_count;     /* debts since the start                    */
    uint64_t seen_count;     /* made_count at the payer's last check     */
    struct dlock_debt *owed; /* the list; those that are QUEUED are in the order of
                              * time */
    struct dlock_debt *spare;
    uint64_t count;          /* of `owed`                                */
    _Atomic uint64_t failed_count; /* debts that are FAILED; changes under the mutex */
};

/* ---- the list: with the mutex held ---- */

/* Make the payer look at the debts at `at_ns` or earlier. */
static void debts_wake(struct dlock_debts *debts, int64_t at_ns)
{
    if (at_ns >= debts->wake_ns)
        return;
    debts->wake_ns = at_ns;
    dlock_condition_signal(&debts->wake);
}

/* The first debt in `state`, of the lock `name` if that is not NULL.  NULL: there is no
 * such debt. */
static struct dlock_debt *debts_first(const struct dlock_debts *debts,
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
static void debts_remove(struct dlock_debts *debts, struct dlock_debt *debt)
{
    DL_DELETE(debts->owed, debt);
    LL_PREPEND(debts->spare, debt);
    if (--debts->count == 0)
        dlock_condition_broadcast(&debts->paid);
}

/* Add a debt to the list, in the state QUEUED; the caller sets every field but the
 * state and the time.  NULL: no memory.  Takes the mutex. */
static struct dlock_debt *debts_add(struct dlock_debts *debts)
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
        debts_wake(debts, dlock_clock_after(debt->made_ns, DLOCK_LATER_MS));
    }
    dlock_mutex_unlock(&debts->mutex);
    return debt;
}

/* ---- the ends of debts ---- */

/* Record the end of the release, and count it: the store's answer, or UNKNOWN. */
static void debt_record_end(const struct dlock_debt *debt, dlock_status st)
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

/* Note how a request of the debt ended: with the answer `st`, or with a failure.
 * `may_be_done`: the store may have executed the request all the same.  Takes the
 * mutex. */
static void debt_settle(struct dlock_debt *debt, dlock_status st, bool may_be_done)
{
    struct dlock_debts *debts = debt->debts;
    bool is_paid = !dlock_is_failure(st);

    if (is_paid)
        debt_record_end(debt, st);
    dlock_mutex_lock(&debts->mutex);
    if (is_paid) {
        debts_remove(debts, debt);
    } else {
        debt->was_unanswered = debt->was_unanswered || may_be_done;
        debt->state = DLOCK_DEBT_FAILED;
        atomic_fetch_add(&debts->failed_count, 1);
        debts_wake(debts, debts->again_ns);
    }
    dlock_mutex_unlock(&debts->mutex);
}

/* The `end` of a debt's post: reads the store's answer, and calls
 * debt_settle(). */
static void debt_read_answer(struct redis_post *post)
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
    debt_settle(debt, st, may_be_done);
}

/* Send the release of a FAILED debt again, and wait for the answer.  The mutex is
 * unlocked meanwhile.  True: the debt is paid.  False: the store did not answer, and
 * the debt is FAILED again. */
static bool debt_ask(struct dlock_debts *debts, struct dlock_debt *debt)
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
    debt_settle(debt, st, st == DLOCK_UNKNOWN || st == DLOCK_PROTOCOL);
    dlock_mutex_lock(&debts->mutex);
    return !dlock_is_failure(st);
}

/* Remove a FAILED debt from the list, although the store has not answered: its lease
 * has ended. */
static void debt_give_up(struct dlock_debts *debts, struct dlock_debt *debt)
{
    atomic_fetch_sub(&debts->failed_count, 1);
    debt_record_end(debt, DLOCK_UNKNOWN);
    debts_remove(debts, debt);
}

/* ---- the payer ---- */

/* If no thread has read the answer to a release for this time, the payer sends another
 * request and waits for its answer: the earlier answer is read first. */
enum { ANSWER_MS = 20 };

static const struct dlock_retry PAUSES = {.kind = DLOCK_RETRY_EXPONENTIAL,
                                          .first_ms = 10,
                                          .max_ms = 200,
                                          .jitter_percent = 50};

/* Give up FAILED debts whose leases have ended.  The caller of this and the following
 * functions of the payer holds the mutex. */
static void payer_give_up_ended(struct dlock_debts *debts, int64_t now_ns)
{
    struct dlock_debt *debt, *next;

    if (atomic_load(&debts->failed_count) == 0)
        return;
    DL_FOREACH_SAFE(debts->owed, debt, next)
        if (debt->state == DLOCK_DEBT_FAILED && debt->until_ns <= now_ns)
            debt_give_up(debts, debt);
}

/* Send the queued releases, with the mutex unlocked meanwhile.  `waits`: also wait
 * until they are answered, by a request that is sent after them. */
static void payer_flush(struct dlock_debts *debts, bool waits)
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
static void payer_repeat(struct dlock_debts *debts, struct dlock_debt *debt)
{
    DL_DELETE(debts->owed, debt);
    DL_APPEND(debts->owed, debt);
    if (debt_ask(debts, debt)) {
        debts->fail_count = 0;
        debts->again_ns = 0;
    } else {
        debts->again_ns =
            dlock_clock_ns() + dlock_retry_pause_ns(&PAUSES, ++debts->fail_count);
    }
}

/* Send queued debts that are old enough, and read their answers.  Returns when to check
 * again; INT64_MAX: no debt is queued. */
static int64_t payer_send_due(struct dlock_debts *debts)
{
    const struct dlock_debt *debt = debts_first(debts, DLOCK_DEBT_QUEUED, NULL);
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
    payer_flush(debts, debts->is_hurried || answer_due_ns <= now_ns);
    /* The debts in the list now were sent just now, or were queued meanwhile. */
    return dlock_clock_after(dlock_clock_ns(), DLOCK_LATER_MS);
}

/* Do the work that is due.  Returns when to check again. */
static int64_t payer_work(struct dlock_debts *debts)
{
    int64_t now_ns = dlock_clock_ns();
    struct dlock_debt *failed;
    int64_t next_ns;

    payer_give_up_ended(debts, now_ns);
    failed = debts_first(debts, DLOCK_DEBT_FAILED, NULL);
    if (failed != NULL && debts->again_ns <= now_ns) {
        payer_repeat(debts, failed);
        return 0;
    }
    next_ns = payer_send_due(debts);
    if (failed != NULL && debts->again_ns < next_ns)
        next_ns = debts->again_ns;
    /* If new debts came since the last check, the payer does not sleep without a limit,
     * so that the next debt need not wake it. */
    if (next_ns == INT64_MAX && debts->made_count != debts->seen_count)
        next_ns = dlock_clock_after(now_ns, DLOCK_LATER_MS);
    debts->seen_count = debts->made_count;
    return next_ns;
}

static void *payer_run(void *arg)
{
    struct dlock_debts *debts = arg;

    dlock_process_enter(debts->sys->process);
    dlock_mutex_lock(&debts->mutex);
    while (!debts->is_stopping) {
        debts->wake_ns = INT64_MAX; /* a thread that sets it from here on wants another
                                     * check */
        debts_wake(debts, payer_work(debts));
        while (!debts->is_stopping && dlock_clock_ns() < debts->wake_ns)
            (void)dlock_condition_wait_until(&debts->wake, &debts->mutex, debts->wake_ns);
    }
    dlock_mutex_unlock(&debts->mutex);
    return NULL;
}

static bool payer_start(struct dlock_debts *debts)
{
    return dlock_thread_start(&debts->payer, payer_run, debts) == 0;
}

static void payer_stop(struct dlock_debts *debts)
{
    dlock_mutex_lock(&debts->mutex);
    debts->is_stopping = true;
    dlock_condition_signal(&debts->wake);
    dlock_mutex_unlock(&debts->mutex);
    dlock_thread_join(&debts->payer);
}

/* ---- from the first debt to the close ---- */

static struct dlock_debts *debts_begin(dlock_system *sys)
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
    if (payer_start(debts))
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
        debts = debts_begin(sys);
        atomic_store(&sys->debts, debts);
    }
    dlock_mutex_unlock(&sys->starting);
    return debts;
}

/* Add a debt to the list.  NULL: no memory, or no thread. */
static struct dlock_debt *debts_make(dlock_system *sys, const struct dlock_hold_facts *facts)
{
    struct dlock_debts *debts = debts_of(sys);
    struct dlock_debt *debt = debts != NULL ? debts_add(debts) : NULL;

    if (debt == NULL)
        return NULL;
    debt->debts = debts;
    debt->facts = *facts;
    debt->call = 0;
    debt->is_counted = true;
    debt->was_unanswered = false;
    debt->until_ns = dlock_clock_after(
        debt->made_ns, (int64_t)facts->lease_ms + sys->opts.redis_timeout_ms);
    debt->post.end = debt_read_answer;
    dlock_metrics_add(&sys->metrics, DLOCK_METRIC_debts, 1);
    return debt;
}

bool dlock_debts_owe(dlock_system *sys, const struct dlock_hold_facts *facts, uint64_t call,
                     bool is_counted)
{
    struct dlock_debt *debt = debts_make(sys, facts);
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
        debt_settle(debt, st, false);
        dlock_error_clear();
    }
    return true;
}

void dlock_debts_owe_attempt(dlock_system *sys, const struct dlock_hold_facts *facts)
{
    struct dlock_debt *debt = debts_make(sys, facts);

    if (debt != NULL)
        debt_settle(debt, DLOCK_UNKNOWN, true); /* the payer sends the release */
}

void dlock_debts_pay_name(dlock_system *sys, const char *name)
{
    struct dlock_debts *debts = atomic_load(&sys->debts);
    struct dlock_debt *debt;

    if (debts == NULL || atomic_load(&debts->failed_count) == 0)
        return;
    dlock_mutex_lock(&debts->mutex);
    do
        debt = debts_first(debts, DLOCK_DEBT_FAILED, name);
    while (debt != NULL && debt_ask(debts, debt));
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
    debts_wake(debts, 0);
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
    payer_stop(debts);
    return debts->count;
}

static void debts_free_all(struct dlock_debt *debt)
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
    debts_free_all(debts->owed);
    debts_free_all(debts->spare);
    dlock_condition_destroy(&debts->paid);
    dlock_condition_destroy(&debts->wake);
    dlock_mutex_destroy(&debts->mutex);
    free(debts);
}

/* SPDX-License-Identifier: MIT */
/* debt.h -- one debt, which is a release that no thread waits for until the store has
 * answered it; and the list of a system's debts.
 *
 * Only for debt.c, debts.c and payer.c.
 *
 * Threads     Any. */
#ifndef DLOCK_DEBT_H
#define DLOCK_DEBT_H

#include "base/os/condition.h"
#include "base/os/thread.h"
#include "base/redis/post.h"
#include "lock/system.h"

enum dlock_debt_state {
    DLOCK_DEBT_QUEUED, /* its post will end, with an answer or with a failure */
    DLOCK_DEBT_FAILED, /* the release has to be sent again */
    DLOCK_DEBT_ASKING, /* one thread sends it again; no other thread may */
};

struct dlock_debt {
    struct redis_post post; /* first, because dlock_debt_read_answer() gets its address */
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

/* The caller of the next four holds the mutex. */

/* Make the payer look at the debts at `at_ns` or earlier. */
void dlock_debts_wake(struct dlock_debts *debts, int64_t at_ns);

/* The first debt in `state`, of the lock `name` if that is not NULL.  NULL: there is no
 * such debt. */
struct dlock_debt *dlock_debts_first(const struct dlock_debts *debts,
                                     enum dlock_debt_state state, const char *name);

/* Send the release of a FAILED debt again, and wait for the answer.  The mutex is
 * unlocked meanwhile.  True: the debt is paid.  False: the store did not answer, and
 * the debt is FAILED again. */
bool dlock_debts_ask(struct dlock_debts *debts, struct dlock_debt *debt);

/* Remove a FAILED debt from the list, although the store has not answered: its lease
 * has ended. */
void dlock_debts_give_up(struct dlock_debts *debts, struct dlock_debt *debt);

/* Add a debt to the list, in the state QUEUED; the caller sets every field but the
 * state and the time.  NULL: no memory.  Takes the mutex. */
struct dlock_debt *dlock_debts_add(struct dlock_debts *debts);

/* Note how a request of the debt ended: with the answer `st`, or with a failure.
 * `may_be_done`: the store may have executed the request all the same.  Takes the
 * mutex. */
void dlock_debt_settle(struct dlock_debt *debt, dlock_status st, bool may_be_done);

/* The `end` of a debt's post: reads the store's answer, and calls
 * dlock_debt_settle(). */
void dlock_debt_read_answer(struct redis_post *post);

#endif /* DLOCK_DEBT_H */

/* SPDX-License-Identifier: MIT */
/* debt.h -- a debt: a release that nobody waits for, until it has an answer; and the list of
 * those of a system.
 *
 * The room of debts.h and payer.h.
 *
 * Threads     Any. */
#ifndef DLOCK_DEBT_H
#define DLOCK_DEBT_H

#include "base/os/condition.h"
#include "base/os/thread.h"
#include "base/redis/post.h"
#include "lock/system.h"

enum dlock_debt_state {
    DLOCK_DEBT_QUEUED, /* its answer will come, or word that none comes */
    DLOCK_DEBT_FAILED, /* to be asked for again                         */
    DLOCK_DEBT_ASKING, /* a thread does so, and nobody else may         */
};

struct dlock_debt {
    struct redis_post post; /* comes first */
    struct dlock_debts *debts;
    struct dlock_hold_facts facts;
    uint64_t call;       /* to the recorder                           */
    bool is_counted;     /* its loss is in the metrics                */
    bool was_unanswered; /* a request may have been executed          */
    enum dlock_debt_state state;
    int64_t made_ns;
    int64_t until_ns;    /* then the lease has ended for certain      */
    struct dlock_debt *prev, *next;
};

struct dlock_debts {
    dlock_system *sys;
    struct dlock_thread payer;
    struct dlock_mutex mutex; /* of all that follows */
    struct dlock_condition wake; /* the payer's */
    struct dlock_condition paid; /* nothing is owed any more */
    bool is_stopping;
    bool is_hurried;         /* what is queued is to leave now           */
    int64_t wake_ns;         /* when the payer looks next                */
    int64_t again_ns;        /* when it asks again for what failed       */
    unsigned fail_count;     /* of those requests, in a row              */
    uint64_t made_count;     /* debts, ever                              */
    uint64_t seen_count;     /* of them when the payer looked last       */
    struct dlock_debt *owed; /* those that are QUEUED are in the order of time */
    struct dlock_debt *spare;
    uint64_t count;          /* of `owed`                                */
    _Atomic uint64_t failed_count; /* of them; changes under the mutex   */
};

/* With the mutex held: */

/* The payer looks at `at_ns`, if not earlier. */
void dlock_debts_wake(struct dlock_debts *debts, int64_t at_ns);

/* The first in `state`, of the lock `name` if that is not NULL; NULL: there is none. */
struct dlock_debt *dlock_debts_first(const struct dlock_debts *debts,
                                     enum dlock_debt_state state, const char *name);

/* Ask again for a debt that is FAILED, and wait for that with the mutex free.  False: the
 * store did not answer, and it is FAILED again. */
bool dlock_debts_ask(struct dlock_debts *debts, struct dlock_debt *debt);

/* A debt that is FAILED is one no more, without an answer. */
void dlock_debts_forgive(struct dlock_debts *debts, struct dlock_debt *debt);

/* Put another on the list, with no more than its state and its time, as if it were queued
 * with the store already.  NULL: no memory.  Takes the mutex. */
struct dlock_debt *dlock_debts_add(struct dlock_debts *debts);

/* Tell the debt how a request for it ended: the answer, or a failure after which the request
 * `may_be_done`.  Takes the mutex. */
void dlock_debt_settle(struct dlock_debt *debt, dlock_status st, bool may_be_done);

/* The end of its post. */
void dlock_debt_read_answer(struct redis_post *post);

#endif /* DLOCK_DEBT_H */

/* SPDX-License-Identifier: MIT */
/* expectation.h -- the required outcome of a lock under a hazard or in a story: the rows of
 * expectations.def, by which compare, scenario and matrix judge.
 */
#ifndef LOADTEST_EXPECT_EXPECTATION_H
#define LOADTEST_EXPECT_EXPECTATION_H

#include <stdbool.h>
#include <stddef.h>

#include "db/guard.h"
#include "db/order_paths.h"
#include "lock/dlock.h"
#include "lock/record/record.h"

/* The possible outcomes of a performance: X(id, name, Chinese, meaning). */
#define SCENARIO_OUTCOMES(X)                                                           \
    X(NOT_SPOKEN_OF, "not spoken of", "不涉及", "the story does not fit this lock")    \
    X(HOLDS, "holds", "守住了", "nothing went wrong")                                  \
    X(BREAKS, "breaks", "失守", "it shows a sign that the scenario calls a break")     \
    X(FENCED, "fenced off", "被栅栏挡住",                                             \
      "two held the lock, but the resource refused the older holder's write")           \
    X(DEAD, "dead for ever", "永久死锁", "nobody holds it and nobody can ever have it") \
    X(WAITS, "waits for the lease", "等到租约结束",                                   \
      "nobody holds it, and it is free again when its lease or session ends")          \
    X(REFUSES, "refuses", "被拒绝", "the lock refused the call, and said so")

enum scenario_outcome {
#define X(id, name, chinese, text) SCENARIO_##id,
    SCENARIO_OUTCOMES(X)
#undef X
    SCENARIO_OUTCOME_COUNT,
    SCENARIO_EITHER = SCENARIO_OUTCOME_COUNT, /* of a hazard: holds or breaks            */
};

/* The signs of a performance: X(id, name, Chinese, meaning).  The signs up to STALE_REFUSED are
 * found by the checker and in the database; play() reports the others. */
#define SCENARIO_SIGNS(X)                                                              \
    X(TWO_HOLDERS, "two holders", "同时两个持有者",                                   \
      "two holders were promised the lock for the same time")                          \
    X(WORKED_ON, "worked on", "到期后仍在执行业务",                                   \
      "a holder worked on after its lease while another held the lock")                \
    X(LOST_EARLY, "lost early", "提前丢锁",                                            \
      "a holder lost its lock before its lease was over")                              \
    X(TWICE, "twice to one", "重复授予", "an owner was granted anew what it had")      \
    X(FOREIGN, "not its own", "动了别人的锁",                                         \
      "a client released or renewed the lock of another")                              \
    X(FENCE, "fence fell", "栅栏令牌倒退", "a later holder has no greater fence")        \
    X(OVERTAKEN, "overtaken", "被插队", "a waiter was overtaken while it waited")      \
    X(HERD, "herd", "惊群", "a release woke more than one waiter of a process")        \
    X(BROADCAST, "broadcast", "全员唤醒",                                             \
      "releases woke more waiters, of all processes, than there were releases and waits") \
    X(OVERSOLD, "oversold", "超卖", "more orders than stock was issued")               \
    X(LOST_UPDATE, "lost update", "丢失更新", "stock and orders do not add up")        \
    X(DUPLICATE, "duplicate", "重复下单", "a user has more than one order")            \
    X(LOST_ORDER, "lost order", "订单丢失",                                            \
      "a client was told of an order that is not there")                               \
    X(BROKEN_PROMISE, "broken promise", "承诺未兑现",                                  \
      "a client was told of a queued order that never got its row")                    \
    X(UNDERSOLD, "undersold", "少卖",                                                  \
      "a client was told \"sold out\" while stock was left")                           \
    X(STALE_WRITE, "stale write", "接受了迟到的写入",                                 \
      "the resource took a write under an older fence than one before it")             \
    X(STALE_REFUSED, "stale write refused", "拒绝了迟到的写入",                       \
      "the resource refused a write under an older fence")                             \
    X(DEAD_LOCK, "dead for ever", "永久死锁", "the lock has no holder and no end")     \
    X(LEASE_WAITED, "waited for the lease", "等到租约结束",                           \
      "the next waiter had to wait until a lease or session ended")                    \
    X(CALL_REFUSED, "call refused", "调用被拒绝", "a call was refused, and said so")

enum scenario_sign_number {
#define X(id, name, chinese, text) SIGN_NUMBER_##id,
    SCENARIO_SIGNS(X)
#undef X
    SIGN_COUNT
};

enum scenario_sign {
#define X(id, name, chinese, text) SIGN_##id = 1 << SIGN_NUMBER_##id,
    SCENARIO_SIGNS(X)
#undef X
};

/* Two holders worked at once, whether or not their leases were promised for that time. */
#define SIGNS_TWO_INSIDE (SIGN_TWO_HOLDERS | SIGN_WORKED_ON)

enum expectation_kind { EXPECTATION_OF_STORY, EXPECTATION_OF_HAZARD };

struct expectation {
    enum expectation_kind kind;
    const char *of;        /* the file of the story or hazard: "check_gap"            */
    const char *locks;     /* names with spaces between; NULL: any                    */
    unsigned with;         /* set of dlock_caps that it must have                     */
    const struct stock_guard *guard; /* the story is told under this one as well; NULL:
                                      * its own                                       */
    enum order_path_id path; /* EACH's rows count for a path that has none of its own */
    enum scenario_outcome outcome;
    unsigned shows;        /* signs that have to be there as well                     */
    dlock_assumption broken; /* of a break: an assumption that the checker must name as
                              * broken; NONE: it need not name any                    */
    const char *reason;    /* one sentence                                            */
};

/* The row by which the lock is judged under that hazard, whose name has dashes where its file
 * has underscores: the first that fits it and is of that path, else the first of `each`.
 * NULL: there is none. */
const struct expectation *expectation_of_hazard(const char *name,
                                                const dlock_variant_info *lock,
                                                enum order_path_id path);

/* The first row after `last` (NULL: of all) of that story or hazard, whose name has
 * dashes where its file has underscores.  NULL: there is no more. */
const struct expectation *expectation_next(const struct expectation *last,
                                           enum expectation_kind kind, const char *name);

bool expectation_fits(const struct expectation *e, const dlock_variant_info *lock);

/* For tests: every row in its order; NULL past the last. */
const struct expectation *expectation_at(size_t i);

/* Does a release of the lock check and delete in two commands?  The check reads the owner, or the
 * releasing client's clock (getset).  Such a lock has the fault point between-check-and-delete. */
bool lock_has_check_gap(const dlock_variant_info *lock);

/* Is `word` one of these, which have spaces or commas between them?  NULL has none. */
bool expectation_names(const char *words, const char *word);

#endif /* LOADTEST_EXPECT_EXPECTATION_H */

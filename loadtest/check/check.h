/* SPDX-License-Identifier: MIT */
/* check.h -- judge a history: did the lock do what it promised?
 *
 * Of every hold four things are known:
 *
 *     granted   from the answer to the acquire
 *     promised  until the last deadline that was granted for it, less drift
 *     kept      until the lock must have kept it: the release was sent, or the promise
 *               ended; longer, if a later renewal or the release found it there
 *     worked    until the owner gave it back, whatever had been promised
 *
 * A call without an answer may have happened, at any time after it was made, or never.
 * Exclusion is that the intervals granted..kept of different owners are disjoint; that
 * is all there is to it: place each acquire at its answer and each end at its `kept`.
 * A fault between kept and worked is not the lock's: then an assumption of
 * the lease did not hold, and the finding names it.
 *
 * The verdict is invalid if any property is; unknown if there is no hold to judge, if
 * the history has holes, or if a property cannot be told; otherwise valid.
 */
#ifndef LOADTEST_CHECK_CHECK_H
#define LOADTEST_CHECK_CHECK_H

#include <stdio.h>

#include <jansson.h>

#include "loadtest/audit/audit.h"
#include "loadtest/check/history.h"
#include "loadtest/kit/verdict.h"

enum check_property {
#define CHECK(name, caps, whole, text) CHECK_##name,
#include "loadtest/check/checks.def"
#undef CHECK
    CHECK_COUNT
};

/* A line of the resource's log. */
struct check_write {
    uint32_t name;       /* of the lock                                          */
    uint64_t fence;      /* 0: the lock has none                                 */
    bool is_accepted;    /* if not, it was refused as stale                      */
    bool sets_fence;     /* the resource remembers the fences of what it takes   */
    int64_t position;    /* in its log                                           */
    int64_t voucher;
    int64_t user;        /* who asked for it                                     */
    const char *request; /* under which id, which is the user's own              */
};

/* The resource before and after the run. */
struct check_voucher {
    uint32_t name;       /* by which findings call it                            */
    int64_t id, issued, left;
    uint64_t fence;      /* the last one that it remembers                       */
};

enum { CHECK_EXAMPLES = 5, CHECK_TEXT_MAX = 200, CHECK_ACTORS = 2 };

/* A violation, with no more calls than it takes to show the violation. */
struct check_example {
    int assumption;         /* a dlock_assumption: what did not hold               */
    int64_t cause;          /* the call that is to blame for that; -1: none        */
    uint32_t name;
    int64_t from_ns, to_ns; /* the window that shows it                            */
    size_t actor_count;
    size_t actors[CHECK_ACTORS]; /* indices of calls: whose doing it is            */
    char text[CHECK_TEXT_MAX];
};

struct check_options {
    const struct check_write *writes; /* by name, and of each name in the order in
                          * which the resource decided                            */
    size_t write_count;
    const struct check_voucher *vouchers;
    size_t voucher_count; /* 0: there is no log, or nothing to hold against it    */
    const struct audit_order *orders; /* of these vouchers, all there are         */
    size_t order_count;
    int64_t slack_ns;    /* how much longer than promised a lease may last in a store */
    int64_t patience_ns; /* how long a waiter may overlook that a lock is free        */
    int64_t linger_ns;   /* how much longer ZooKeeper and etcd may keep what a dead process
                          * had: a tick of ZooKeeper, of which a session lasts two at least,
                          * and what etcd adds to a lease                         */
    unsigned only;       /* set of 1 << property; 0: all                              */
    /* Called for every violation, if not NULL; the example is gone afterwards. */
    void (*each)(void *arg, enum check_property property,
                 const struct check_example *example);
    void *arg;
};

/* 50 ms of slack, 1.2 s of patience (three retries), 2 s to linger, all properties, no writes. */
struct check_options check_options_default(void);

struct check_finding {
    enum verdict valid;
    bool is_claimed;   /* the variant promises it; if not, valid means nothing    */
    int64_t looked;    /* how many holds, calls or pairs were judged              */
    int64_t count;     /* of violations                                           */
    int64_t unsure;    /* of what may be one, and nobody can tell                 */
    size_t example_count;
    struct check_example examples[CHECK_EXAMPLES]; /* the smallest windows        */
    const char *why_unknown;
};

struct check_verdict {
    enum verdict valid;
    struct check_finding findings[CHECK_COUNT];
    int64_t holds, calls, unanswered, faults, names;
    const char *why_unknown; /* NULL unless valid is VERDICT_UNKNOWN                */
    char overlap[CHECK_TEXT_MAX]; /* the first two calls of one owner at once; or "" */
};

/* A checker keeps its memory from one history to the next. */
struct check;
struct check *check_new(void);
void check_free(struct check *c);

/* Judge.  The history must be sorted, and is only read. */
void check_judge(struct check *c, const struct history *h,
                 const struct check_options *options, struct check_verdict *out);

const char *check_property_name(size_t property); /* NULL past the last */
const char *check_property_text(size_t property);

/* For people, and for programs. */
void check_print(FILE *out, const struct history *h, const struct check_verdict *v);
/* A violation as a line of text: the call that broke the property, and the call beside it. */
void check_print_example(FILE *out, const struct history *h, enum check_property property,
                         const struct check_example *example);
json_t *check_to_json(const struct history *h, const struct check_verdict *v);

#endif /* LOADTEST_CHECK_CHECK_H */

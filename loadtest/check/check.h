/* SPDX-License-Identifier: MIT */
/* check.h -- judge a history: did the lock keep its promises?
 *
 * The checker computes four instants of every hold:
 *
 *     granted   the answer to the acquire
 *     promised  the last deadline that was granted for the hold, less drift
 *     kept      the end of the time for which the lock must have kept the hold: the release was
 *               sent, or the promise ended; later, if a later renewal or the release found the
 *               hold in the store
 *     worked    the instant at which the owner released the hold, whatever was promised
 *
 * A call without an answer may have taken effect at any time after it was made, or never.
 * Exclusion means that the intervals from granted to kept of different owners are disjoint.  If a
 * collision lies between kept and worked, the lock kept its promise: an assumption of the lease did
 * not hold, and the finding names the assumption.
 *
 * The verdict is invalid if any property is invalid.  Otherwise the verdict is unknown if there is
 * no hold to judge, if the history has holes, if a property cannot be decided, or if the history
 * has no case for any property of check_options.only.  Otherwise the verdict is valid.
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
    bool sets_fence;     /* the resource keeps the fence of an accepted write    */
    int64_t position;    /* in its log                                           */
    int64_t voucher;
    int64_t user;        /* the user who ordered                                 */
    const char *request; /* the id of the request, unique for this user          */
};

/* The resource before and after the run. */
struct check_voucher {
    uint32_t name;       /* the name in the findings                             */
    int64_t id, issued, left;
    uint64_t fence;      /* the fence in the voucher's row                       */
};

enum { CHECK_EXAMPLES = 5, CHECK_TEXT_MAX = 200, CHECK_ACTORS = 2 };

/* A violation, with only the calls that show it. */
struct check_example {
    int assumption;         /* a dlock_assumption: the one that did not hold       */
    int64_t cause;          /* the call that caused this; -1: none                 */
    uint32_t name;
    int64_t from_ns, to_ns; /* the time in which the violation is seen             */
    size_t actor_count;
    size_t actors[CHECK_ACTORS]; /* indices of the calls that collide              */
    char text[CHECK_TEXT_MAX];
};

struct check_options {
    const struct check_write *writes; /* by name, and of each name in the order in
                          * which the resource decided                            */
    size_t write_count;
    const struct check_voucher *vouchers;
    size_t voucher_count; /* 0: there is no log, or no stock to compare with it   */
    const struct audit_order *orders; /* of these vouchers, all there are         */
    size_t order_count;
    const char *why_no_writes; /* why the log of a run that had one is not there; NULL: it is
                          * there, or the run had none                            */
    int64_t slack_ns;    /* how much longer than promised a lease may last in a store */
    int64_t patience_ns; /* how long a waiter may overlook that a lock is free        */
    int64_t linger_ns;   /* how much longer than its lease ZooKeeper and etcd may keep a lock of a
                          * dead process: a tick of ZooKeeper (its sessions last at least two
                          * ticks), and the time that etcd adds to a lease        */
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
    int64_t looked;    /* the number of holds, calls or pairs that were judged    */
    int64_t count;     /* of violations                                           */
    int64_t unsure;    /* of places that may be violations                        */
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
/* Print a violation as one line: the call that broke the property, and the call that it collided
 * with. */
void check_print_example(FILE *out, const struct history *h, enum check_property property,
                         const struct check_example *example);
json_t *check_to_json(const struct history *h, const struct check_verdict *v);

#endif /* LOADTEST_CHECK_CHECK_H */

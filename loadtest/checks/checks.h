/* SPDX-License-Identifier: MIT */
/* checks.h -- what the files of checks/ share: the holds of every lock, in order. */
#ifndef LOADTEST_CHECKS_CHECKS_H
#define LOADTEST_CHECKS_CHECKS_H

#include "loadtest/check.h"

enum { NO_CALL = -1 };

/* What went wrong with a hold while it was put together. */
enum hold_flaw {
    FLAW_LEVEL = 1 << 0,  /* entered again at the wrong level                     */
    FLAW_FENCE = 1 << 1,  /* entered again with another fence                     */
    FLAW_ZOMBIE = 1 << 2, /* found there after its release was answered           */
    FLAW_NOBODY = 1 << 3, /* released or renewed by one who was never granted it  */
};

struct hold {
    uint32_t process, name;
    uint64_t owner;
    int mode;
    unsigned flaws;
    int depth;           /* while being put together                              */
    bool is_spent;       /* the same: lost or abandoned                           */
    uint64_t fence;
    int64_t call;        /* index of the acquire                                  */
    int64_t release;     /* of the release of the last level; NO_CALL             */
    int64_t flawed_by;   /* of the call that shows a flaw, or the loss            */
    int64_t invoke_ns, granted_ns;
    int64_t promised_ns; /* the last deadline                                     */
    int64_t leased_ns;   /* the deadline without renewals that came too late      */
    int64_t believed_ns; /* the same, or until its owner had to know better       */
    int64_t seen_ns;     /* the store surely knew it when this call was sent      */
    int64_t kept_ns;
    int64_t worked_ns;
    int64_t gone_ns;     /* it surely was no longer there; HISTORY_NEVER          */
    int64_t lost_ns;     /* the first answer that it is lost; HISTORY_NEVER       */
};

/* An acquire that was answered busy or timeout. */
struct refusal {
    uint32_t name;
    int64_t call;
    int64_t from_ns;     /* from here on the owner itself held nothing            */
    bool is_own;         /* its owner surely held it all the while                */
};

/* One lock: where its holds, refusals and calls are. */
struct lock_view {
    uint32_t name;
    unsigned caps;       /* what all of its systems claim                         */
    bool has_shared;
    struct hold *holds;  /* in the order in which they were granted               */
    size_t hold_count;
    struct refusal *refusals; /* in the order in which they were asked for        */
    size_t refusal_count;
    const uint32_t *calls;    /* indices, in the order of time                    */
    size_t call_count;
};

struct check {
    const struct history *h;
    const struct check_options *options;
    struct check_verdict *out;
    int64_t end_ns;      /* what comes later is not looked at                     */
    bool has_holes;
    uint32_t *by_name, *by_owner; /* indices of calls                             */
    size_t call_room;
    struct hold *holds;
    size_t hold_count, hold_room;
    struct refusal *refusals;
    size_t refusal_count, refusal_room;
    struct lock_view lock; /* the one being looked at                             */
    int64_t *times;        /* scratch: pairs of them                              */
    size_t time_room;
};

/* Is the call one that has an answer worth anything: given before the end? */
bool check_is_answered(const struct check *c, const struct history_call *call);
bool check_is_ok(const struct check *c, const struct history_call *call);

/* Put together the holds and refusals of every lock. */
void check_build(struct check *c);
void check_sort_calls(struct check *c);
void check_sort_holds(struct check *c);

/* `memory`; ends the program if it is NULL. */
void *check_need(void *memory);

/* Set c->lock to the next one; false: there was none after it. */
bool check_next_lock(struct check *c, size_t *hold_at, size_t *refusal_at,
                     size_t *call_at);

/* A violation was found; a and b are indices of calls, or NO_CALL. */
void check_violation(struct check *c, enum check_property property, int assumption,
                     int64_t a, int64_t b, int64_t from_ns, int64_t to_ns,
                     const char *fmt, ...) __attribute__((format(printf, 8, 9)));

/* Which assumption was broken between from_ns and until_ns, when `early` ended too soon
 * or the next came too soon: a fault that was going on, else what the calls show.
 * `early` may be NULL. */
int check_explain(const struct check *c, const struct hold *early, int64_t from_ns,
                  int64_t until_ns, bool is_promised);

/* May the store have a hold back at `at_ns` that was released?  A replica that was behind,
 * and is the master now, has it for as long as its lease runs. */
bool check_may_be_back(const struct check *c, int64_t at_ns);

/* When the last request of the acquire was sent, as far as is known. */
int64_t check_sent_ns(const struct check *c, const struct hold *hold);

/* When the last fault ended; 0: there was none. */
int64_t check_last_fault_ns(const struct check *c);

/* Room for `count` times in c->times. */
void check_need_times(struct check *c, size_t count);

#define CHECK(name, caps, whole, text) void check_##name(struct check *c);
#include "loadtest/checks.def"
#undef CHECK

#endif /* LOADTEST_CHECKS_CHECKS_H */

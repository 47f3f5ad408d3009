/* SPDX-License-Identifier: MIT */
/* checks.h -- the data that the files of checks/ share: the holds of every lock, in order. */
#ifndef LOADTEST_CHECK_CHECKS_CHECKS_H
#define LOADTEST_CHECK_CHECKS_CHECKS_H

#include "loadtest/check/check.h"
#include "loadtest/kit/compare.h"

enum { NO_CALL = -1 };

/* The order of two events.  Two events of the same instant may have happened in either order, so
 * neither a violation nor its absence follows from their times: CHECK_TIED.  Two calls of one owner
 * are never tied, because they come one after the other.  The end of a lease is never tied, because
 * a lease is over at the instant of its end. */
enum check_order { CHECK_BEFORE, CHECK_TIED, CHECK_AFTER };
enum check_order check_order(int64_t a_ns, int64_t b_ns);

static inline enum check_order check_later(enum check_order a, enum check_order b)
{
    return a > b ? a : b;
}

/* Was `first` answered before `next` was called?  Both are calls of a semaphore or a latch,
 * which nothing renews on its own, so that those of one owner never overlap. */
enum check_order check_order_calls(const struct history_call *first,
                                   const struct history_call *next);

/* The violations that were found while a hold was put together. */
enum hold_flaw {
    FLAW_LEVEL = 1 << 0,  /* entered again at the wrong level                     */
    FLAW_FENCE = 1 << 1,  /* entered again with another fence                     */
    FLAW_ZOMBIE = 1 << 2, /* found in the store after its release was answered    */
    FLAW_NOBODY = 1 << 3, /* released or renewed by an owner without a grant      */
    FLAW_TIED = 1 << 4,   /* found there at the instant its release was answered  */
    FLAW_AGAIN = 1 << 5,  /* granted anew while its owner certainly had it        */
    FLAW_FOUND = 1 << 6,  /* an answer said lost, and at the same instant a call of the owner
                           * found the hold                                       */
    FLAW_EITHER = 1 << 7, /* the same, but a renewal was answered lost: either answer may be the
                           * first                                                */
};

/* A history may have a hold for every two calls, so the structure is small. */
struct hold {
    uint32_t process, name;
    uint64_t owner;
    uint8_t mode;        /* DLOCK_MODE_*                                          */
    uint8_t flaws;
    bool is_spent;       /* while being put together: lost or abandoned           */
    bool is_abandoned;
    bool is_seen;        /* a later call of its owner found it there              */
    bool is_doubtful;    /* a renewal has no answer, so its end is unknown        */
    bool is_session;     /* never released, and kept as long as its process lived */
    union {
        struct {         /* while being put together                              */
            int depth;
            int unsure_releases; /* of levels, and without an answer              */
        };
        int64_t earlier_ns; /* afterwards: until when the hold of FLAW_AGAIN was kept */
    };
    uint64_t fence;
    int32_t call;        /* index of the acquire                                  */
    int32_t release;     /* of the release of the last level; NO_CALL             */
    int32_t flawed_by;   /* of the call that shows a flaw, or the loss            */
    int32_t earlier;     /* of the acquire of the hold that FLAW_AGAIN is about   */
    int32_t previous;    /* while being put together: the hold before it of its group */
    int64_t invoke_ns, granted_ns;
    int64_t promised_ns; /* the last deadline                                     */
    int64_t lasting_ns;  /* the same, had the store granted it as late as can be, and
                          * every renewal without an answer too                   */
    int64_t leased_ns;   /* the deadline without renewals that came too late      */
    int64_t believed_ns; /* the same, or the first answer by which its owner knew of the loss */
    int64_t seen_ns;     /* the store certainly had it when this call was sent    */
    int64_t kept_ns;
    int64_t worked_ns;   /* while being put together: its owner's last call for it */
    int64_t gone_ns;     /* from then on the store certainly had it no more; HISTORY_NEVER */
    int64_t lost_ns;     /* the first answer that it is lost; HISTORY_NEVER       */
};

/* An acquire that was answered busy or timeout. */
struct refusal {
    uint32_t name;
    int64_t call;
    int64_t from_ns;     /* from here on the owner itself held nothing            */
    bool is_own;         /* its owner certainly held the lock during the whole call */
};

/* A lock, with the places of its holds, refusals and calls in the arrays. */
struct lock_view {
    uint32_t name;
    unsigned caps;       /* those that all of its systems claim                   */
    bool has_shared;
    bool has_waits;      /* an acquire waited                                     */
    int64_t release_count;
    int only;            /* of a semaphore, permits or a latch: its property; -1: a lock */
    bool is_confused;    /* an owner's calls overlap: then holds cannot be told apart */
    struct hold *holds;  /* in the order in which they were granted               */
    size_t hold_count;
    unsigned flaws;      /* the flaws of all holds together; others need not be searched for */
    bool has_losses;     /* one of them was called lost                           */
    int64_t granted_count; /* acquires and takings that were granted              */
    int64_t open_count;  /* calls without an answer                               */
    struct refusal *refusals; /* in the order in which they were asked for        */
    size_t refusal_count;
    const uint32_t *calls;    /* indices, in the order of time                    */
    size_t call_count;
    const uint32_t *marks;    /* indices of WAIT, WAKE and LOST, by owner and then in
                               * the order of time                                */
    size_t mark_count;
};

struct check {
    const struct history *h;
    const struct check_options *options;
    struct check_verdict *out;
    int64_t end_ns;      /* later events are not judged                           */
    bool has_holes;
    uint32_t *by_name, *by_owner; /* indices of calls                             */
    uint32_t *group_of;    /* by call: the number of its group, see groups.h       */
    size_t call_room;
    size_t name_first, name_end; /* in by_name: those being put together           */
    struct check_group *groups;  /* of that name                                   */
    size_t group_room;
    uint32_t group_first;        /* the number of groups[0]                        */
    bool *is_confused;   /* by name: see lock_view                                */
    size_t name_room;
    bool *asks_nodes;    /* by process: does a grant need the agreement of several nodes? */
    size_t process_room;
    int64_t *linger_ns;  /* by process: how much longer than a lease its store keeps its locks if
                          * the process dies                                      */
    size_t linger_room;
    struct hold *holds;
    size_t hold_count, hold_room;
    struct refusal *refusals;
    size_t refusal_count, refusal_room;
    struct lock_view lock; /* the one being looked at                             */
    uint32_t *marks;       /* indices of the marks that have a lock, by lock      */
    size_t mark_count, mark_room;
    uint32_t *faults;      /* indices of the faults                               */
    size_t fault_count, fault_room;
    int64_t first_fault_ns; /* when the first began; HISTORY_NEVER                */
    int64_t last_fault_ns; /* when the last ended; 0                              */
    int64_t explained_count; /* violations whose cause was looked for              */
    int64_t cause;         /* the call that check_explain() found as the cause    */
    uint32_t *ghosts;      /* scratch: which of the lock's calls may have happened  */
    size_t ghost_room;
    int64_t *times;        /* scratch: pairs of them                              */
    size_t time_room;
};

/* The index of the call in the history.  Inline, since the checker asks for each call. */
static inline int32_t check_index_of(const struct check *c, const struct history_call *call)
{
    return (int32_t)(call - c->h->calls);
}

/* The `at`th call of the lock. */
static inline const struct history_call *check_call_at(const struct check *c, size_t at)
{
    return &c->h->calls[c->lock.calls[at]];
}

/* Was the call answered before end_ns?  This function and the next are called for each call, so
 * they are inline. */
static inline bool check_is_answered(const struct check *c, const struct history_call *call)
{
    return call->is_answered && call->answer_ns < c->end_ns;
}

static inline bool check_is_ok(const struct check *c, const struct history_call *call)
{
    return check_is_answered(c, call) && call->status == DLOCK_OK;
}

/* Has the call no answer, or an answer that does not say whether the call took effect?  Then it may
 * have taken effect at any time after it was made, or never. */
static inline bool check_is_open(const struct check *c, const struct history_call *call)
{
    if (call->invoke_ns >= c->end_ns)
        return false;
    return !check_is_answered(c, call) || call->status == DLOCK_UNKNOWN ||
           call->status == DLOCK_PROTOCOL || call->status == DLOCK_CANCELLED;
}

/* The calls of one owner or one name are scattered over the history in memory.  So the call that
 * will be read CHECK_CALLS_AHEAD steps later is prefetched now. */
enum { CHECK_CALLS_AHEAD = 12 };
static inline void check_fetch_call(const struct history_call *call)
{
    enum { CACHE_LINE = 64 };

    for (size_t at = 0; at < sizeof(*call); at += CACHE_LINE)
        __builtin_prefetch((const char *)call + at);
    __builtin_prefetch((const char *)call + sizeof(*call) - 1);
}

bool check_may_be_done(const struct check *c, const struct history_call *call);

/* Was the call granted, and answered after the end of its lease? */
bool check_was_granted_too_late(const struct history_call *call);

/* The latest end of the lease at the store, which counts a lease from the arrival of the request:
 * before the owner had the answer. */
int64_t check_lasting_ns(const struct history_call *call);

/* May the store have granted this acquire, although its owner got no answer that says so? */
bool check_is_ghost(const struct check *c, const struct history_call *call);

/* The instant of the answer; for a call without a usable answer, the last sign of life of its
 * process. */
int64_t check_answer_ns(const struct check *c, const struct history_call *call);

/* The lease that the call asked for; by default the lease of its process. */
int64_t check_lease_ns(const struct check *c, const struct history_call *call);

/* The instant at which the last request of the call was sent, as far as that is known. */
int64_t check_sent_ns(const struct history_call *call);

/* Had the lease of the hold ended when its owner got the answer?  Then the store granted the lock
 * at an unknown instant between the request and the answer. */
bool check_is_heard_late(const struct hold *hold);

/* Is the hold over at the instant kept_ns itself?  True for a lease that ended then and for a loss
 * that was answered then.  False for a release at kept_ns, which may come after a grant of the same
 * instant to another owner. */
bool check_is_over_at_its_end(const struct hold *hold);

/* Was `late` granted while the store kept `early`, which was granted before `late`?  CHECK_BEFORE:
 * certainly.  CHECK_TIED: in one of the two orders of events of the same instant.  A lease is over
 * at the instant of its end; a session lasts as long as its process records events. */
enum check_order check_meets(const struct hold *early, const struct hold *late);

/* Put together the holds and refusals of every lock. */
void check_build(struct check *c);
void check_sort_holds(struct check *c);
void check_sort_marks(struct check *c);

/* The place at which the next lock begins. */
struct lock_cursor {
    size_t hold_at, refusal_at, call_at, mark_at;
};

/* Set c->lock to the next lock.  False: there is no further lock. */
bool check_next_lock(struct check *c, struct lock_cursor *at);

/* The number of the lock's holds that were granted before that instant. */
size_t check_granted_before(const struct check *c, int64_t at_ns);

/* Add a violation; a and b are indices of calls, or NO_CALL. */
void check_violation(struct check *c, enum check_property property, int assumption,
                     int64_t a, int64_t b, int64_t from_ns, int64_t to_ns,
                     const char *fmt, ...) __attribute__((format(printf, 8, 9)));

/* Note that a tie, see check_order(), leaves open whether the property was violated. */
void check_tied(struct check *c, enum check_property property);

/* Find the assumption that was broken between from_ns and until_ns, if `early` ended too soon or
 * the next hold began too soon: by a fault that was going on then, otherwise by what the calls
 * show.  `early` may be NULL.  A call that broke the assumption becomes the cause of the next
 * violation. */
int check_explain(struct check *c, const struct hold *early, int64_t from_ns,
                  int64_t until_ns, bool is_promised);

/* May the store have a released hold again at `at_ns`?  A replica that lacked the release and was
 * promoted has the hold until its lease ends. */
bool check_may_be_back(const struct check *c, int64_t at_ns);

/* The lock's marks of one owner, from `from_ns` to `until_ns`, both included, in the order of
 * time.  Answers how many there are from *first on. */
size_t check_marks_of(const struct check *c, uint32_t process, uint64_t owner,
                      int64_t from_ns, int64_t until_ns, const uint32_t **first);

/* The sum; HISTORY_NEVER if one of the two is HISTORY_NEVER, or if the sum is no time. */
int64_t check_plus(int64_t at_ns, int64_t more_ns);

/* Room for `count` in c->ghosts. */
void check_need_ghosts(struct check *c, size_t count);

/* Room for `count` times in c->times. */
void check_need_times(struct check *c, size_t count);

#define CHECK(name, caps, whole, text) void check_##name(struct check *c);
#include "loadtest/check/checks.def"
#undef CHECK

#endif /* LOADTEST_CHECK_CHECKS_CHECKS_H */

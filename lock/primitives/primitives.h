/* SPDX-License-Identifier: MIT */
/* primitives.h -- the common part of semaphores, permits and latches: a link, the scripts,
 * and waiting.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_PRIMITIVES_PRIMITIVES_H
#define DLOCK_PRIMITIVES_PRIMITIVES_H

#include "lock/dlock_primitives.h"
#include "lock/metrics.h"
#include "lock/record/recorder.h"
#include "lock/stores/redisson.h"
#include "lock/wait.h"

/* The one list of scripts: each is a file in lua/. */
#define PRIMITIVE_SCRIPTS(X)                                                           \
    X(SEMAPHORE_SET)                                                                   \
    X(SEMAPHORE_ACQUIRE)                                                               \
    X(SEMAPHORE_DRAIN)                                                                 \
    X(SEMAPHORE_ADD)                                                                   \
    X(PERMITS_ACQUIRE)                                                                 \
    X(PERMITS_RELEASE)                                                                 \
    X(PERMITS_RENEW)                                                                   \
    X(PERMITS_COUNT)                                                                   \
    X(LATCH_SET)                                                                       \
    X(LATCH_COUNT_DOWN)                                                                \
    X(LATCH_DELETE)

enum primitive_script {
#define X(name) PRIMITIVE_##name,
    PRIMITIVE_SCRIPTS(X)
#undef X
    PRIMITIVE_SCRIPT_COUNT
};

struct dlock_primitives {
    struct redis_link *link;
    struct redis_subscription *subscription;
    unsigned generation; /* of the process that may use it; see fork.h */
    dlock_recorder *recorder; /* NULL: nothing is recorded              */
    struct redis_script scripts[PRIMITIVE_SCRIPT_COUNT];
    struct dlock_tally metrics;
};

/* Writes the name of the channel on which the waiters of a primitive listen. */
typedef void primitive_channel_fn(const char *name, char out[REDISSON_NAME_SIZE]);

/* Check, at the beginning of every call, that this process may use `prims`, that `name`
 * is a name, and that a Redis Cluster has its keys in one slot.  The last failure is
 * forgotten.  OK or INVALID. */
dlock_status primitive_check(const dlock_primitives *prims, const char *name,
                             primitive_channel_fn *channel_of);

/* OK, or INVALID if `count` is not min..DLOCK_COUNT_MAX. */
dlock_status primitive_check_count(int count, int min);

/* OK, or INVALID if there is no place for an answer. */
dlock_status primitive_check_place(const void *place);

/* A call that changes a primitive, or waits for one. */
struct primitive_call {
    uint64_t recorded; /* its number for the recorder; 0: not recorded */
    dlock_event_kind kind;
    int64_t begun_ns;
    struct dlock_spent before;
};

/* Record a call before its request is sent: `event` has its kind, the name and the
 * number of permits. */
struct primitive_call primitive_begin(const dlock_primitives *prims, const dlock_event *event);

/* Record and count the answer `st` of a call.  `answer` has the other facts of the answer,
 * and its `status` is not read; NULL: there are none.  Returns `st`. */
dlock_status primitive_end(dlock_primitives *prims, const struct primitive_call *call,
                           dlock_status st, const dlock_event *answer);

/* The channel of a semaphore's waiters, with permits that expire or without. */
primitive_channel_fn primitive_semaphore_channel;

/* A call of a script with these keys and arguments. */
#define PRIMITIVE_CALL(prims, which, keys, args, ...)                                  \
    ((struct redis_script_call){.script = &(prims)->scripts[PRIMITIVE_##which],        \
                                .key_count = (keys),                                   \
                                .argc = (keys) + (args),                               \
                                .argv = {__VA_ARGS__}})

/* Run a script that answers a number, of the `shape` COUNT or BALANCE, and write it
 * into *number.  OK, or a failure. */
dlock_status primitive_number(dlock_primitives *prims,
                              const struct redis_script_call *call,
                              const struct redis_shape *shape, int64_t *number);

/* Run a script that answers 1 or 0.  Returns OK for 1, `no` for 0, or a failure. */
dlock_status primitive_ask(dlock_primitives *prims,
                           const struct redis_script_call *call, dlock_status no);

/* The answer of a call that changes nothing: `st`, or IO in place of UNKNOWN. */
dlock_status primitive_read(dlock_status st);

/* GET a key that holds a number, into *number; 0: there is no such key.  OK, or a
 * failure other than UNKNOWN. */
dlock_status primitive_get(dlock_primitives *prims, const char *key, int64_t *number);

/* Waiting on a channel. */
struct primitive_wait {
    dlock_primitives *prims;
    char channel[REDISSON_NAME_SIZE];
    struct redis_wake wake;
    struct redis_waiter *waiter; /* NULL: it does not listen now */
    bool counts_twice;           /* see struct dlock_waiting */
};

/* Make attempts until one answers something else than BUSY, IO or UNKNOWN, or until
 * wait_ms have passed (0: one attempt; negative: for ever).  Returns the answer of the
 * last attempt, or TIMEOUT. */
dlock_status primitive_wait(struct primitive_wait *wait, int64_t wait_ms,
                            dlock_attempt_fn *attempt, void *arg);

#endif /* DLOCK_PRIMITIVES_PRIMITIVES_H */

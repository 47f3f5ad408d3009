/* SPDX-License-Identifier: MIT */
/* dlock.h -- one lock API, many ways to lock.
 *
 * A `dlock_system` binds a process to one variant (naive, reentrant, redlock, ...)
 * and to the stores that variant needs.  Acquiring a name yields a `dlock_lease`: a
 * plain value that proves ownership until its deadline.  Code that holds a lease
 * never needs to know which variant granted it.
 *
 *     dlock_options opts = dlock_options_default();
 *     dlock_system *sys = NULL;
 *     dlock_lease lease;
 *
 *     opts.redis_url = "redis://127.0.0.1:6379";
 *     if (dlock_open(&sys, &opts) != DLOCK_OK)
 *         die(dlock_error());
 *     if (dlock_acquire(sys, "lock:order:42", 0, &lease) == DLOCK_OK) {
 *         work();
 *         dlock_release(sys, &lease);
 *     }
 *     dlock_close(sys);
 *
 * Ownership   dlock_open() makes a system that the caller must dlock_close().  Leases
 *             are caller-owned values and hold no memory.
 * Threads     A system may be used by any number of threads at once.  A lease belongs
 *             to the thread that acquired it, since its owner is that thread; only
 *             dlock_lease_valid() and dlock_lease_left_ms() may be asked elsewhere.
 *             A thread that ends releases nothing, but what it held is not renewed any
 *             more: its lease ends, and on_lost is called.  What lives with a session
 *             instead of a lease stays held until dlock_close().
 * Time        Durations are milliseconds (`_ms`); instants are CLOCK_BOOTTIME
 *             nanoseconds (`_ns`), which go on counting while the machine sleeps.
 *             Nothing here reads the wall clock but variants described by it (getset).
 * Fork        A child must not use a system of its parent: every call answers INVALID.
 * Growing     A program goes on working with a newer libdlock.so of the same number
 *             (libdlock.so.1), without being built anew: functions, status codes and
 *             capabilities are only added, and fields only at the end of a struct.
 *             dlock_options and dlock_request therefore say how long they are, and
 *             dlock_inspect() and dlock_metrics_read() tell the library.  What a shorter
 *             struct lacks has its default.  A longer one, of a program that was built
 *             with a newer dlock.h, is refused with INVALID if it asks for anything that
 *             this library does not know, and what the library cannot fill in is zero.
 *             dlock_lease and dlock_permit keep their size.
 * C++         May include this header, from C++11 on.
 */
#ifndef DLOCK_H
#define DLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* libdlock.so shows all that follows, and nothing else. */
#pragma GCC visibility push(default)

/* ---- status: what a call answers, and why ---- */

/* The answers of a call.  The first group is outcomes: a correct program meets them
 * every day and must branch on them.  The second group is failures.  Values are
 * stable: append, never renumber (they appear in logs and metrics). */
#define DLOCK_STATUS_MAP(X)                                                            \
    /* outcomes */                                                                     \
    X(OK, 0, "ok", "ok")                                                               \
    X(BUSY, 1, "busy", "held by another owner")                                        \
    X(TIMEOUT, 2, "timeout", "not granted within the time allowed")                    \
    X(LOST, 3, "lost", "the lease expired or was taken over")                          \
    X(CANCELLED, 4, "cancelled", "the wait was cancelled")                             \
    /* failures */                                                                     \
    X(UNKNOWN, 10, "unknown", "no answer: the store may or may not have applied it")   \
    X(IO, 11, "io", "could not reach the store")                                       \
    X(PROTOCOL, 12, "protocol", "the store answered something unexpected")             \
    X(INVALID, 13, "invalid", "bad argument")                                          \
    X(UNSUPPORTED, 14, "unsupported", "this variant cannot do that")                   \
    X(NOMEM, 15, "nomem", "out of memory")

typedef enum {
#define X(name, value, id, text) DLOCK_##name = value,
    DLOCK_STATUS_MAP(X)
#undef X
} dlock_status;

/* Detail of the last failure in this thread, "" if none: which server, what it said.
 * Valid until this thread's next call. */
const char *dlock_error(void);

/* Static texts for a status; never NULL.  The id is what logs and metrics show. */
const char *dlock_status_id(dlock_status st);
const char *dlock_status_text(dlock_status st);

/* True for the second group of DLOCK_STATUS_MAP. */
static inline bool dlock_is_failure(dlock_status st)
{
    return st >= DLOCK_UNKNOWN;
}

#define DLOCK_MUST_CHECK __attribute__((warn_unused_result))

/* ---- variants: the ways to lock ---- */

/* The promises of a variant.  The conformance suite proves every claimed bit. */
enum dlock_caps {
    DLOCK_CAP_EXCLUSIVE = 1u << 0, /* one holder among all processes                  */
    DLOCK_CAP_LOCAL = 1u << 1,     /* one holder among the threads of one process     */
    DLOCK_CAP_EXPIRES = 1u << 2,   /* a dead holder's lock is free after its lease    */
    DLOCK_CAP_OWNED = 1u << 3,     /* only the holder can release                     */
    DLOCK_CAP_RENEW = 1u << 4,     /* dlock_renew() extends the lease                 */
    DLOCK_CAP_REENTRANT = 1u << 5, /* the same owner may acquire again                */
    DLOCK_CAP_PUSH = 1u << 6,      /* waiters are woken by the release, not by a poll */
    DLOCK_CAP_QUORUM = 1u << 7,    /* survives a minority of dead or hung nodes       */
    DLOCK_CAP_FENCED = 1u << 8,    /* the fence strictly grows with every new holder of a
                                    * name, for as long as the variant says           */
    DLOCK_CAP_ATOMIC = 1u << 9,    /* locked and leased in one step: whenever the holder
                                    * dies, its lock ends by itself                   */
    DLOCK_CAP_FAIR = 1u << 10,     /* waiters are served in the order of arrival      */
    DLOCK_CAP_SESSION = 1u << 11,  /* free once the holder's connection has ended     */
    DLOCK_CAP_SHARED = 1u << 12,   /* may be held by many readers at once, or by one
                                    * writer: dlock_request.shared                    */
};

/* A row of the catalogue, by which people choose.  The row is the library's own: read it
 * where it is, since a later library's may be longer. */
typedef struct dlock_variant_info {
    const char *name;     /* the value of `variant`                       */
    const char *store;    /* a name in stores.def: "-", "process", "redis",
                           * "redis x5", "postgresql", "zookeeper"         */
    const char *promises; /* one line: what holds                         */
    const char *breaks;   /* one line: what breaks it                     */
    const char *source;   /* where it is described                        */
    unsigned caps;        /* set of dlock_caps                            */
} dlock_variant_info;

/* The catalogue, in the order of variants.def.  Static. */
size_t dlock_variant_count(void);
const dlock_variant_info *dlock_variant_at(size_t index);
/* NULL if there is none of that name. */
const dlock_variant_info *dlock_variant_find(const char *name);

/* ---- open: a system, and what it is opened with ---- */

typedef struct dlock_system dlock_system; /* opaque */
typedef struct dlock_lease dlock_lease;   /* see below: what an acquire grants */

/* Called once per lost hold, from a library thread, before anyone else can have
 * entered (as far as clocks that drift less than 1 in 1000 allow).  It must not call
 * back into the system and must not block. */
typedef void dlock_lost_fn(const dlock_lease *lease, void *arg);

/* Begin with dlock_options_default(), which sets `size`. */
typedef struct dlock_options {
    size_t size;              /* sizeof(dlock_options) where the program was built   */
    const char *variant;      /* a name of the catalogue                             */
    const char *redis_url;    /* redis://[user:password@]host:port[/db] or
                               * unix:///path[?db=N]; single-node variants use it    */
    const char *redlock_urls; /* the same, separated by commas: redlock's and multi's */
    const char *record_dir;   /* leave a file of what happens to the locks there, see
                               * lock/record/record.h; NULL: none                           */
    const char *database_url; /* postgresql://..., as libpq reads it; the pg variants
                               * keep their own connections to it, and need the tables
                               * of postgres.sql there (share/dlock, lock/stores)    */
    const char *zookeeper_url; /* host:port[,host:port...][/chroot]: the zk variants';
                               * the chroot has to exist                             */
    int lease_ms;             /* at least DLOCK_LEASE_MIN_MS; lua-local takes no more
                               * than 100; to the zk variants it is the session
                               * timeout, which their servers limit                  */
    bool watchdog;            /* renew held leases at a third of lease_ms, where that
                               * is a part of the variant: the head of its file says */
    const char *retry;        /* when a waiter tries again; NULL is "push".  One of
                               *   none          one attempt, whatever wait_ms says
                               *   push          when the variant tells of a release,
                               *                 with a look every few hundred ms, or
                               *                 by the variant's own back-off
                               *   fixed:100ms   pause so long between attempts
                               *   exponential:10ms..1s  first and longest pause
                               * the last two perhaps with ,xN (no more than N attempts)
                               * and ,jitter:N% (pauses up to so much shorter, by chance;
                               * 20% unless told).  Times take ms, s or m.  Fair
                               * variants pause no longer than 500 ms, or a waiter would
                               * lose its place */
    bool redlock_sequential;  /* ask the nodes one after another, as first described */
    int redis_timeout_ms;     /* for one command to a server, connect included       */
    int redlock_node_timeout_ms; /* the same for each of redlock's nodes             */
    int database_timeout_ms;  /* for one statement, and for connecting               */
    int zookeeper_timeout_ms; /* for one request, and for connecting                 */
    dlock_lost_fn *on_lost;   /* may be NULL                                         */
    void *on_lost_arg;
    int64_t handover;         /* how often, between two grants of the store, a release
                               * may give the lock to the next waiter of its own system
                               * without the store; 0: never.  See below             */
} dlock_options;

/* With `handover` above 0 the waiters for a name with the system's lease stand in one
 * line, in the order of arrival, and one of them at a time waits in the store, for all.
 * A lock is given on inside the process no later than 100 ms after the store granted it,
 * and only while at least a half of its lease is left; what is left is the deadline of the
 * next holder.  The owner in its lease is the line's, the same for each in it; the token is
 * its own.  A lock that was freed by force is given on until the next renewal or grant of
 * the store tells of the loss, so for no longer than that.  An acquire that does not wait,
 * or asks for a lease of its own, stands outside the line. */
enum { DLOCK_HANDOVER_LIMIT = 1000000 };

/* Write the defaults into `size` bytes at `opts`: reentrant, lease 30 s, watchdog on,
 * retry push, every other timeout 2 s, redlock parallel with 50 ms per node; no URLs. */
void dlock_options_init(dlock_options *opts, size_t size);

/* The defaults. */
static inline dlock_options dlock_options_default(void)
{
    dlock_options opts;

    dlock_options_init(&opts, sizeof(opts));
    return opts;
}

/* Make a system of `opts->variant` and reach its stores.  Every string is copied.
 *   OK        *out is the new system
 *   INVALID   unknown variant, a handover that is out of range, or with a variant other
 *             than fair or a policy other than push, a URL that is missing or malformed, a lease below
 *             DLOCK_LEASE_MIN_MS, a timeout of zero or less, a retry policy that is none,
 *             a size that is too small to hold the name of a variant, or options that
 *             only a newer library knows
 *   IO        a store did not answer (redlock: fewer than a majority did);
 *             dlock_error() names it
 *   PROTOCOL  a store refused: wrong password, not a Redis, or a database without the
 *             lock library's tables
 *   NOMEM
 * On anything but OK *out is NULL. */
dlock_status dlock_open(dlock_system **out, const dlock_options *opts) DLOCK_MUST_CHECK;

/* Stop the watchdog and close every connection.  NULL is fine.  Does not release held
 * leases: a lease is a promise to the store, not to this process.  No other thread may
 * be inside a call. */
void dlock_close(dlock_system *sys);

/* Ask every store once whether it answers.  OK, or as dlock_open(). */
dlock_status dlock_check(dlock_system *sys) DLOCK_MUST_CHECK;

#include "dlock_cancel.h"

/* ---- acquire: taking a lock ---- */

/* The request of an acquire.  All zero is one attempt for the system's lease. */
typedef struct dlock_request {
    size_t size;          /* 0: the fields of libdlock.so.1's first dlock.h, which are
                           * the ones up to `cancel`.  sizeof(dlock_request), for a
                           * program that sets a field which came later              */
    int64_t wait_ms;      /* 0: one attempt, never sleeps; negative: for ever        */
    int lease_ms;         /* 0: the system's lease, which the watchdog renews if the
                           * system says so.  Otherwise this one (or as much of it as
                           * the variant allows), which only dlock_renew() renews      */
    bool shared;          /* as a reader, beside other readers                       */
    dlock_cancel *cancel; /* ends the wait when it is fired; NULL: nothing does      */
} dlock_request;

/* Take the lock `name`.  The owner is the calling thread.
 *   OK        *lease is yours until its deadline, or until lost if it is renewed
 *   BUSY      someone else holds it, and wait_ms was 0 or the policy is not to retry
 *   TIMEOUT   wait_ms passed, or the tries of the policy are used up; or the grant came
 *             when its own lease had run out already
 *   CANCELLED the cancel object was fired: before the call, and then nothing was sent;
 *             or while it waited, and then its place in a queue was left.  What was
 *             granted all the same was given back; if that went unanswered, which
 *             dlock_error() tells, it stays held until its lease ends
 *   UNKNOWN   the request left but no answer came.  What could be cleaned up was: a
 *             release with the same token was sent; if it too went unanswered, the lock
 *             may stay held until its lease ends.  After a wait: the last attempt went
 *             unanswered, or an earlier one, and it could not be cleaned up since
 *   UNSUPPORTED  shared, and the variant lacks DLOCK_CAP_SHARED; or a lease_ms, and it
 *             lacks DLOCK_CAP_EXPIRES: a lock that lives as long as its session or its
 *             process has no lease, and who relies on one must be told
 *   IO        the store could not be reached, and wait_ms was 0, or had passed, or the tries
 *             were used up, or the policy is not to retry; nothing was asked for
 *   PROTOCOL  the store refused, or answered what it never does; cleaned up as UNKNOWN
 *   NOMEM
 *   INVALID   an empty or over-long name, control bytes in it; a lease_ms that is
 *             negative or below DLOCK_LEASE_MIN_MS; a size that is none, or a request
 *             that only a newer library knows
 * *lease is written only on OK.
 *
 * A wait outlives a restart of its store: after IO and UNKNOWN the acquire tries again until
 * its time is over, with the policy's pauses; those of `push` grow from 20 ms to a second.
 *
 * Levels of one hold have one lease in the store: it is the longest that any of them
 * asked for, and is renewed while a level is held that asked for the system's.  A
 * thread's shared and its exclusive hold of a name have levels of their own. */
dlock_status dlock_acquire_with(dlock_system *sys, const char *name,
                                const dlock_request *request,
                                dlock_lease *lease) DLOCK_MUST_CHECK;

/* The same with the system's lease, exclusive, not to be cancelled. */
dlock_status dlock_acquire(dlock_system *sys, const char *name, int64_t wait_ms,
                           dlock_lease *lease) DLOCK_MUST_CHECK;

/* Wait as long as it takes. */
DLOCK_MUST_CHECK static inline dlock_status
dlock_lock(dlock_system *sys, const char *name, dlock_lease *lease)
{
    return dlock_acquire(sys, name, -1, lease);
}

/* Acquire by a single attempt. */
DLOCK_MUST_CHECK static inline dlock_status
dlock_try_lock(dlock_system *sys, const char *name, dlock_lease *lease)
{
    return dlock_acquire(sys, name, 0, lease);
}

/* Wait up to wait_ms, and hold it for no longer than lease_ms if that is above 0. */
DLOCK_MUST_CHECK static inline dlock_status
dlock_try_lock_for(dlock_system *sys, const char *name, int64_t wait_ms, int lease_ms,
                   dlock_lease *lease)
{
    dlock_request request = {sizeof(request), wait_ms, lease_ms, false, NULL};

    return dlock_acquire_with(sys, name, &request, lease);
}

#include "dlock_lease.h"
#include "dlock_inspect.h"
#include "dlock_later.h"
#include "dlock_metrics.h"

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* DLOCK_H */

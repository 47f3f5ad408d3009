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
 * Ownership   dlock_open() makes a system, and the caller closes the system with
 *             dlock_close().  The caller owns its leases, which are plain values
 *             without memory of their own.  The library reads a string argument only
 *             during the call, and copies the strings that it keeps.
 * Threads     Any number of threads may use one system at once, unless a function says
 *             otherwise.  A lease belongs to the thread that acquired the lock, because
 *             that thread is the owner: only dlock_lease_valid() and
 *             dlock_lease_left_ms() may be called by another thread.  If a thread ends
 *             while it holds a lock, the watchdog stops renewing the lock: its lease
 *             ends, and on_lost is called.  A lock that lives with a session instead of
 *             a lease stays held until dlock_close().
 * Ends        No call of dlock.h, dlock_async.h and dlock_primitives.h is a cancellation
 *             point: a pthread_cancel() of a thread inside a call takes effect after the
 *             call, whose answer the thread has.  So a cancel ends no wait; fire the
 *             dlock_cancel of the request for that.  If the type of cancelling is
 *             asynchronous, the answer may be lost.  Cleanup handlers and destructors of
 *             thread-specific data may make every call.
 *             A thread may end by its return, by pthread_exit() or by a cancel, also while
 *             it holds locks (see Threads).
 *             Every call and every callback (dlock_lost_fn, dlock_async_done) has to
 *             return.  The behaviour is undefined if pthread_exit(), longjmp() or a C++
 *             exception leaves a callback, if a callback cancels its own thread, or if a
 *             signal handler that interrupted a call leaves it by longjmp(): what the call
 *             had locked stays locked.  A handler that interrupted code of the program
 *             itself may jump.
 *             Close each system before exit(), or end by _exit(): exit() frees the memory
 *             of OpenSSL, which a connection that is being opened may use.
 * Time        Durations are milliseconds (`_ms`).  Instants are nanoseconds (`_ns`) of
 *             CLOCK_BOOTTIME, which goes on counting while the machine sleeps.  Only
 *             the variant getset reads the wall clock.
 * Fork        A child must not use a system of its parent: calls that answer a status
 *             answer INVALID, no lease is valid, and dlock_close() does nothing.
 * Growing     A program need not be built anew for a newer libdlock.so of the same
 *             number (libdlock.so.1): functions, status codes and capabilities are only
 *             added, and fields are added only at the end of a struct.  Therefore
 *             dlock_options and dlock_request have a field `size`, and dlock_inspect()
 *             and dlock_metrics_read() pass a size.  A field that a shorter struct
 *             lacks has its default.  A longer struct comes from a program that was
 *             built with a newer dlock.h: a call that reads it answers INVALID if a
 *             field that this library does not know is not zero, and a call that fills
 *             it writes zero there.  dlock_lease and dlock_permit keep their size.
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

/* The answers of a call.  The first group is outcomes: a correct program gets them in
 * normal operation and must branch on them.  The second group is failures.  A value
 * never changes, because values appear in logs and metrics: append, never renumber. */
#define DLOCK_STATUS_MAP(X)                                                            \
    /* outcomes */                                                                     \
    X(OK, 0, "ok", "ok")                                                               \
    X(BUSY, 1, "busy", "held by another owner")                                        \
    X(TIMEOUT, 2, "timeout", "not granted within the time allowed")                    \
    X(LOST, 3, "lost", "the lease expired or was taken over")                          \
    X(CANCELLED, 4, "cancelled", "the wait was cancelled")                             \
    /* failures */                                                                     \
    X(UNKNOWN, 10, "unknown", "no answer: the store may or may not have applied it")   \
    X(IO, 11, "io", "could not reach the store, or the store cannot work now")         \
    X(PROTOCOL, 12, "protocol", "the store answered something unexpected")             \
    X(INVALID, 13, "invalid", "bad argument")                                          \
    X(UNSUPPORTED, 14, "unsupported", "this variant cannot do that")                   \
    X(NOMEM, 15, "nomem", "out of memory")

typedef enum {
#define X(name, value, id, text) DLOCK_##name = value,
    DLOCK_STATUS_MAP(X)
#undef X
} dlock_status;

/* The reason of the calling thread's last failure, such as the server and the server's
 * own words; "" if there is none.  It is one line of UTF-8.  Escapes such as \x1b and
 * \u202e stand for what a terminal would obey in the words of a store or in the name of a
 * lock.  The library owns the text, which is valid until the same thread's next call. */
const char *dlock_error(void);

/* The short id of a status, which logs and metrics show, and the text for people.  Both
 * are static and never NULL. */
const char *dlock_status_id(dlock_status st);
const char *dlock_status_text(dlock_status st);

/* Is the status in the second group of DLOCK_STATUS_MAP? */
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

/* A row of the catalogue of variants.  The library owns the row: read the row where it
 * is and do not copy it, because a later library may have longer rows. */
typedef struct dlock_variant_info {
    const char *name;     /* the value of `variant`                       */
    const char *store;    /* a name in stores.def: "-", "process", "redis",
                           * "redis x5", "postgresql", "zookeeper", "etcd" */
    const char *promises; /* one line: what holds                         */
    const char *breaks;   /* one line: what breaks it                     */
    const char *source;   /* where it is described                        */
    unsigned caps;        /* set of dlock_caps                            */
} dlock_variant_info;

/* The number of variants, and the row at `index`, from 0, in the order of variants.def.
 * NULL: `index` is past the last row.  Rows are static.  Any thread. */
size_t dlock_variant_count(void);
const dlock_variant_info *dlock_variant_at(size_t index);

/* The row of the variant `name`.  NULL: there is no such variant.  Any thread. */
const dlock_variant_info *dlock_variant_find(const char *name);

/* ---- open: a system, and what it is opened with ---- */

typedef struct dlock_system dlock_system; /* opaque */
typedef struct dlock_lease dlock_lease;   /* see below: what an acquire grants */

/* The type of dlock_options.on_lost.  The library calls the function once for each lost
 * hold, in a thread of the library, unless a release or a renewal by its owner answers
 * LOST first.  If the clocks drift apart by less than 1 in 1000,
 * the call comes before another owner can have the lock.  After a fail-over of Redis
 * all holds that the old master granted are lost, and another process may be granted
 * such a lock up to about a second before this call.  The function must not call back
 * into the system and must not block.  *lease is valid only during the call; it has the
 * fence of the hold, and the last deadline that the hold had. */
typedef void dlock_lost_fn(const dlock_lease *lease, void *arg);

/* The options of a system.  Begin with dlock_options_default(), which sets `size`. */
typedef struct dlock_options {
    size_t size;              /* sizeof(dlock_options) where the program was built   */
    const char *variant;      /* a name of the catalogue                             */
    const char *redis_url;    /* for variants on one Redis: redis://[user:password@]host:port[/db]
                               * or unix:///path[?db=N].  The master that Sentinels name:
                               * redis-sentinel://host:port,host:port/name.  A cluster, by
                               * some of its nodes: redis-cluster://host:port,host:port.
                               * With rediss in place of redis the connection uses TLS:
                               * ?ca=FILE&cert=FILE&key=FILE&server-name=NAME; the
                               * certificate of the server is always checked         */
    const char *redlock_urls; /* for redlock and multi: the addresses of several single
                               * Redis servers, separated by commas                  */
    const char *record_dir;   /* the directory for a file that records every call, as
                               * lock/record/record.h describes; NULL: no record     */
    const char *database_url; /* postgresql://..., as libpq reads it; for the pg variants,
                               * which open connections of their own and need the
                               * tables of postgres.sql (share/dlock, lock/stores).  Of
                               * several hosts the one that takes writes is used, unless
                               * target_session_attrs says otherwise                 */
    const char *zookeeper_url; /* host:port[,host:port...][/chroot]; for the zk variants;
                               * the chroot has to exist                             */
    int lease_ms;             /* at least DLOCK_LEASE_MIN_MS; lua-local takes no more
                               * than 100; the zk variants take it as their session
                               * timeout, which their servers limit                  */
    bool watchdog;            /* renew held leases each third of lease_ms, if the head
                               * of the variant's file names the watchdog            */
    const char *retry;        /* when a waiter tries again; NULL is "push".  One of
                               *   none          one attempt, whatever wait_ms says
                               *   push          when the variant tells of a release,
                               *                 and every few hundred ms besides; or
                               *                 by the variant's own back-off
                               *   fixed:100ms   after a pause of this length
                               *   exponential:10ms..1s  after a pause that doubles,
                               *                 from the first length to the second
                               * fixed and exponential may be followed by ,xN (at most N
                               * attempts) and ,jitter:N% (each pause is shorter by a
                               * random part of up to N%; the default is 20%).  A time
                               * has the unit ms, s or m.  With a fair variant no pause
                               * is longer than 500 ms, so that a waiter keeps its place */
    bool redlock_sequential;  /* redlock asks its nodes one after another, as its first
                               * description says; false: all at once                */
    int redis_timeout_ms;     /* for one command to a Redis, connecting included     */
    int redlock_node_timeout_ms; /* for one command to one node of redlock           */
    int database_timeout_ms;  /* for one statement, and for connecting               */
    int zookeeper_timeout_ms; /* for one request, and for connecting                 */
    dlock_lost_fn *on_lost;   /* called for each lost hold; may be NULL              */
    void *on_lost_arg;        /* passed to on_lost; the caller's                     */
    int64_t handover;         /* how often, after each grant of the store, a release may
                               * give the lock to the next waiter of the same system
                               * without the store; 0: never.  See below             */
    const char *database_pooler; /* what stands before the PostgreSQL of database_url:
                               *   none         nothing; NULL is the same
                               *   session      a pooler such as PgBouncer that gives a
                               *                connection a session of its own
                               *   transaction  one that gives each transaction any
                               *                session: not for pg-row and pg-advisory;
                               *                the user needs READ COMMITTED        */
    const char *etcd_url;     /* http://[user:password@]host[:port][,host[:port]...], the
                               * members of one etcd, for the variant etcd; or https://
                               * with ?ca=FILE&cert=FILE&key=FILE&server-name=NAME
                               * behind the hosts, each of which may be left out     */
    int64_t etcd_timeout_ms;  /* for one request, connecting included; with several
                               * members, each member gets half of this time         */
    int64_t replicas_acknowledge; /* the number of replicas that have to acknowledge each
                               * grant and each renewal (WAIT) in redis_timeout_ms;
                               * otherwise the grant or renewal fails; from 0 to
                               * DLOCK_REPLICAS_LIMIT; for owner, watch, lua, lua-local,
                               * reentrant, spin, fenced, fair and rwlock.  See below */
} dlock_options;

/* The limit of dlock_options.replicas_acknowledge.  If fewer replicas acknowledge a
 * grant in time, the library gives the grant back, and the acquire answers UNKNOWN with
 * their number.  If fewer acknowledge a renewal, the deadline does not move, so the
 * hold is lost at its old deadline.  WAIT shortens the time in which a fail-over lets a
 * second owner in, but does not remove it: a replica without the write may be promoted,
 * and a replica with the write may lose it by a restart.  Releases need no
 * acknowledgement, but dlock_release_later() waits for the answer. */
enum { DLOCK_REPLICAS_LIMIT = 5 };

/* The limit of dlock_options.handover.  With `handover` above 0 the waiters of a name
 * stand in one line, in the order of arrival, and one of them at a time asks the store
 * for the line.  A release gives the lock to the first waiter of the line if the grant
 * of the store is younger than 100 ms and at least half of the lease is left.  The next
 * holder has the deadline of that lease, the owner of the line, and a token of its own.
 * If another process freed the lock by force, releases go on giving the lock to waiters
 * until a renewal or the store's next grant shows the loss.  An acquire that does not
 * wait, or has a lease_ms of its own, stands outside the line. */
enum { DLOCK_HANDOVER_LIMIT = 1000000 };

/* Write the defaults into `size` bytes at `opts`: variant reentrant, a lease of 30 s,
 * watchdog on, retry push, redlock parallel with 50 ms for each node, every other
 * timeout 2 s, no URL, no handover. */
void dlock_options_init(dlock_options *opts, size_t size);

/* The defaults as a value. */
static inline dlock_options dlock_options_default(void)
{
    dlock_options opts;

    dlock_options_init(&opts, sizeof(opts));
    return opts;
}

/* Make a system of the variant opts->variant and connect to its stores.  The library
 * copies every string of the options.
 *   OK        *out is the new system, which the caller closes with dlock_close()
 *   INVALID   an argument is NULL; the variant is unknown; a URL is missing or malformed;
 *             lease_ms is below DLOCK_LEASE_MIN_MS; a timeout is not above 0; the retry
 *             policy cannot be read; handover or replicas_acknowledge is out of range, or
 *             is above 0 with a variant or a policy that cannot have it; `size` does not
 *             reach `variant`; or an option is set that only a newer library knows
 *   IO        a store did not answer (of redlock's nodes: a majority did not), or the
 *             record cannot be made; dlock_error() says which
 *   PROTOCOL  a store refused: the password is wrong, the user lacks rights, which
 *             dlock_error() names, the server is no Redis, or the database lacks the
 *             tables of the lock library
 *   NOMEM     no memory, or the watchdog's thread cannot be started
 * After every answer but OK *out is NULL, and nothing is left open. */
dlock_status dlock_open(dlock_system **out, const dlock_options *opts) DLOCK_MUST_CHECK;

/* Stop the watchdog, close every connection and free the system.  NULL is fine.  Held
 * locks are not released: a lock with a lease is free when its lease ends, a lock of a
 * session because the session ends, and a lock of the variant local when the process ends.
 * The call waits for debts (dlock_later.h) up to DLOCK_CLOSE_PAYS_MS, and for requests
 * under way up to their timeouts.  No other thread may be inside a call. */
void dlock_close(dlock_system *sys);

/* Ask every store of the system once whether it answers.  Changes nothing.  Any thread.
 *   OK        every store answered (of redlock's nodes: a majority)
 *   IO, UNKNOWN   a store did not answer in its timeout; dlock_error() names it
 *   PROTOCOL  a store refused, or the user lacks rights, which dlock_error() names
 *   INVALID   the system belongs to the parent of a forked child */
dlock_status dlock_check(dlock_system *sys) DLOCK_MUST_CHECK;

#include "dlock_cancel.h"

/* ---- acquire: taking a lock ---- */

/* The request of an acquire.  A request that is all zero makes one attempt, exclusive,
 * with the system's lease. */
typedef struct dlock_request {
    size_t size;          /* 0, for the fields up to `cancel`; or sizeof(dlock_request),
                           * for a program that sets a field behind `cancel`          */
    int64_t wait_ms;      /* 0: one attempt, without a sleep; negative: for ever      */
    int lease_ms;         /* 0: the system's lease, which the watchdog renews if the
                           * system has one.  Above 0: this lease, or the variant's
                           * longest, which only dlock_renew() renews                 */
    bool shared;          /* as a reader, beside other readers                        */
    dlock_cancel *cancel; /* ends the wait when it is fired, and outlives the call;
                           * NULL: nothing ends the wait early                        */
} dlock_request;

/* Take the lock `name` for the calling thread, which becomes the owner.  Lasts at most
 * request->wait_ms, and then the timeouts of the request under way and of the releases
 * for unanswered requests.
 *   OK        *lease is the caller's until its deadline; a renewal moves the deadline
 *   BUSY      another owner holds the lock, and wait_ms was 0 or the policy is `none`
 *   TIMEOUT   another owner held the lock until wait_ms had passed or the attempts of
 *             the policy were used up; or the grant came after its own lease had ended
 *   CANCELLED the cancel object was fired.  Fired before the call: nothing was sent.
 *             Fired during the wait: the place in the queue was given up, and a grant
 *             was given back.  If that release had no answer, dlock_error() says so,
 *             and the lock stays held as after UNKNOWN
 *   UNKNOWN   a request was sent, and no answer came.  The library sent a release with
 *             the same token (naive, setnx and getset have none, and send nothing).  If
 *             that had no answer either, the lock may stay held until its lease ends, or
 *             until the library has paid the debt (dlock_later.h).
 *             The same holds if the store granted the lock, and fewer than
 *             replicas_acknowledge replicas acknowledged the grant.  After a wait, the
 *             unanswered request is the last attempt, or an earlier one that could not be
 *             released since
 *   UNSUPPORTED  `shared`, and the variant lacks DLOCK_CAP_SHARED; or a lease_ms, and
 *             the variant lacks DLOCK_CAP_EXPIRES, so its locks have no lease
 *   IO        the store could not be reached, and no request was sent, or refused for now
 *             (full, a standby), or each grant of a node was given back; or the nodes of a
 *             Redis Cluster redirected every request until the timeout.  The acquire ended:
 *             wait_ms was 0 or had passed, the attempts were used up, or the policy is `none`
 *   PROTOCOL  the store refused for good, as without a right, or sent an answer that the
 *             request cannot have.  The library sent a release, as after UNKNOWN
 *   NOMEM     no memory; the caller holds nothing
 *   INVALID   the name is empty, longer than DLOCK_NAME_MAX or has a byte below 32 or
 *             the byte 127.  Every other byte may stand in a name, as users have such names;
 *             lease_ms is negative or below DLOCK_LEASE_MIN_MS; an argument is missing;
 *             `size` is wrong; or a field is set that only a newer library knows.
 *             Nothing was sent
 * *lease is written only on OK.
 *
 * A waiting acquire survives a restart of the store: after IO and UNKNOWN the acquire
 * tries again until wait_ms has passed, with the pauses of the policy.  With `push`
 * these pauses grow from 20 ms to a second.
 *
 * If the variant has DLOCK_CAP_REENTRANT, a thread may acquire again what it holds, and
 * releases each level.  All levels of a hold have one lease in the store, the longest
 * that a level asked for.  The watchdog renews that lease while a level is held that
 * asked for the system's lease.  A thread's hold as a reader and its hold as a writer
 * of one name count their levels apart. */
dlock_status dlock_acquire_with(dlock_system *sys, const char *name,
                                const dlock_request *request,
                                dlock_lease *lease) DLOCK_MUST_CHECK;

/* dlock_acquire_with() for an exclusive lock with the system's lease and no cancel
 * object.  wait_ms is 0 for one attempt, negative for ever. */
dlock_status dlock_acquire(dlock_system *sys, const char *name, int64_t wait_ms,
                           dlock_lease *lease) DLOCK_MUST_CHECK;

/* dlock_acquire() that waits for ever. */
DLOCK_MUST_CHECK static inline dlock_status
dlock_lock(dlock_system *sys, const char *name, dlock_lease *lease)
{
    return dlock_acquire(sys, name, -1, lease);
}

/* dlock_acquire() with one attempt. */
DLOCK_MUST_CHECK static inline dlock_status
dlock_try_lock(dlock_system *sys, const char *name, dlock_lease *lease)
{
    return dlock_acquire(sys, name, 0, lease);
}

/* dlock_acquire_with() for an exclusive lock that ends after lease_ms if that is above
 * 0; 0 is the system's lease. */
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

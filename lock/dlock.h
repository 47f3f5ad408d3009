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
 * Time        Durations are milliseconds (`_ms`); instants are CLOCK_BOOTTIME
 *             nanoseconds (`_ns`), which go on counting while the machine sleeps.
 *             Nothing here reads the wall clock but variants described by it (getset).
 * Fork        A child must not use a system of its parent: every call answers INVALID.
 */
#ifndef DLOCK_H
#define DLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What follows is all that libdlock.so shows. */
#pragma GCC visibility push(default)

/* What a call can answer.  The first group is outcomes: a correct program meets them
 * every day and must branch on them.  The second group is failures.  Values are
 * stable: append, never renumber (they appear in logs and metrics). */
#define DLOCK_STATUS_MAP(X)                                                            \
    /* outcomes */                                                                     \
    X(OK, 0, "ok", "ok")                                                               \
    X(BUSY, 1, "busy", "held by another owner")                                        \
    X(TIMEOUT, 2, "timeout", "not granted within the time allowed")                    \
    X(LOST, 3, "lost", "the lease expired or was taken over")                          \
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

#define DLOCK_MUST_CHECK __attribute__((warn_unused_result))

/* What a variant promises.  The conformance suite proves every claimed bit. */
enum dlock_caps {
    DLOCK_CAP_EXCLUSIVE = 1u << 0, /* one holder among all processes                  */
    DLOCK_CAP_LOCAL = 1u << 1,     /* one holder among the threads of one process     */
    DLOCK_CAP_EXPIRES = 1u << 2,   /* a dead holder's lock is free after its lease    */
    DLOCK_CAP_OWNED = 1u << 3,     /* only the holder can release                     */
    DLOCK_CAP_RENEW = 1u << 4,     /* dlock_renew() extends the lease                 */
    DLOCK_CAP_REENTRANT = 1u << 5, /* the same owner may acquire again                */
    DLOCK_CAP_PUSH = 1u << 6,      /* waiters are woken by the release, not by a poll */
    DLOCK_CAP_QUORUM = 1u << 7,    /* survives a minority of dead or hung nodes       */
    DLOCK_CAP_FENCED = 1u << 8,    /* the fence strictly grows with every new holder  */
    DLOCK_CAP_ATOMIC = 1u << 9,    /* locked and leased in one step: whenever the holder
                                    * dies, its lock ends by itself                   */
    DLOCK_CAP_FAIR = 1u << 10,     /* waiters are served in the order of arrival      */
    DLOCK_CAP_SESSION = 1u << 11,  /* free once the holder's connection has ended     */
};

enum {
    DLOCK_NAME_MAX = 200,  /* bytes of a lock's name, without the NUL             */
    DLOCK_OWNER_MAX = 63,  /* "uuid:number"                                       */
    DLOCK_TOKEN_LEN = 32,  /* 128 random bits in hex, new for every grant         */
    DLOCK_LEASE_MIN_MS = 10,
};

typedef struct dlock_system dlock_system; /* opaque */

/* Proof of ownership.  Read it; never write it.  Copying it copies the proof, not the
 * lock. */
typedef struct dlock_lease {
    char name[DLOCK_NAME_MAX + 1];
    char owner[DLOCK_OWNER_MAX + 1];
    char token[DLOCK_TOKEN_LEN + 1];
    uint64_t fence;      /* 0 unless the variant has DLOCK_CAP_FENCED               */
    int64_t deadline_ns; /* as granted; the watchdog may have moved it since.
                          * INT64_MAX: this variant's locks never expire            */
    uint64_t hold;       /* the library's own key to what it knows of this hold     */
} dlock_lease;

/* Called once per lost hold, from a library thread, before anyone else can have
 * entered (as far as clocks that drift less than 1 in 1000 allow).  It must not call
 * back into the system and must not block. */
typedef void dlock_lost_fn(const dlock_lease *lease, void *arg);

typedef struct dlock_options {
    const char *variant;      /* a name of the catalogue                             */
    const char *redis_url;    /* redis://[user:password@]host:port[/db] or
                               * unix:///path[?db=N]; single-node variants use it    */
    const char *redlock_urls; /* the same, separated by commas: redlock's and multi's */
    const char *database_url; /* postgresql://..., as libpq reads it; the pg variants
                               * keep their own connections to it, and need the tables
                               * of lock/stores/postgres.sql there                   */
    int lease_ms;             /* at least DLOCK_LEASE_MIN_MS; lua-local takes no more
                               * than 100                                            */
    bool watchdog;            /* renew held leases at a third of lease_ms, where that
                               * is a part of the variant: the head of its file says */
    bool redlock_sequential;  /* ask the nodes one after another, as first described */
    int redis_timeout_ms;     /* for one command to a server, connect included       */
    int redlock_node_timeout_ms; /* the same for each of redlock's nodes             */
    int database_timeout_ms;  /* for one statement, and for connecting               */
    dlock_lost_fn *on_lost;   /* may be NULL                                         */
    void *on_lost_arg;
} dlock_options;

/* reentrant, lease 30 s, watchdog on, command and database timeout 2 s, redlock
 * parallel with 50 ms per node; no URLs. */
dlock_options dlock_options_default(void);

/* Make a system of `opts->variant` and reach its stores.  Every string is copied.
 *   OK        *out is the new system
 *   INVALID   unknown variant, a URL that is missing or malformed, a lease below
 *             DLOCK_LEASE_MIN_MS, a timeout of zero or less
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

/* Take the lock `name`, waiting up to `wait_ms` (0 = one attempt, never sleeps;
 * negative = for ever).  The owner is the calling thread.
 *   OK        *lease is yours until its deadline, or until lost if it is renewed
 *   BUSY      wait_ms was 0 and someone else holds it
 *   TIMEOUT   wait_ms passed; or the grant came when its own lease had run out already
 *   UNKNOWN   the request left but no answer came.  What could be cleaned up was: a
 *             release with the same token was sent; if it too went unanswered, the lock
 *             may stay held until its lease ends
 *   IO, PROTOCOL, INVALID (an empty or over-long name, control bytes in it), NOMEM
 * *lease is written only on OK. */
dlock_status dlock_acquire(dlock_system *sys, const char *name, int64_t wait_ms,
                           dlock_lease *lease) DLOCK_MUST_CHECK;

/* Extend the lease to the system's lease_ms from now (set, not add).
 *   OK           the deadline moved forward
 *   LOST         you no longer hold it; stop writing
 *   UNKNOWN, IO  it may or may not have moved; the old deadline still counts
 *   UNSUPPORTED  the variant lacks DLOCK_CAP_RENEW */
dlock_status dlock_renew(dlock_system *sys, dlock_lease *lease) DLOCK_MUST_CHECK;

/* Give the lock back (one level of it, if it was acquired again by its owner).
 *   OK        it was yours and this level is returned
 *   LOST      it had expired or was taken over; nothing of anyone else's was touched,
 *             unless the variant is one that frees whoever's lock it finds (naive,
 *             and owner between its check and its delete)
 *   UNKNOWN, IO, PROTOCOL   it frees itself when the lease ends
 *   INVALID   the lease was never granted, was already released, or is another thread's
 * The lease is spent afterwards, whatever the answer.  Its own timeout applies; no
 * deadline of the caller's. */
dlock_status dlock_release(dlock_system *sys, dlock_lease *lease);

/* Let go of the lock without giving it back: it is not renewed any more, and frees
 * itself when its lease ends.  For a holder who cannot say whether its work is over.
 * Asks no store.
 *   OK        nobody has the lock until its lease ends: at most the system's lease_ms
 *             from now, or from when a renewal arrives that was already under way
 *   INVALID   as dlock_release()
 * A variant without DLOCK_CAP_EXPIRES releases instead, and answers that.  The lease is
 * spent afterwards.  If it was one level of several, all are let go: releasing the
 * others answers LOST and touches nothing. */
dlock_status dlock_abandon(dlock_system *sys, dlock_lease *lease);

/* Does this lease still protect its holder?  No I/O: false once the deadline, counted
 * from when the last successful request was sent, less drift, has passed, or once a
 * renewal was refused. */
bool dlock_lease_valid(const dlock_system *sys, const dlock_lease *lease);

/* Milliseconds until then; 0 if not valid; INT64_MAX if it never expires. */
int64_t dlock_lease_left_ms(const dlock_system *sys, const dlock_lease *lease);

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

/* One row of the catalogue: what people choose by. */
typedef struct dlock_variant_info {
    const char *name;     /* the value of `variant`                       */
    const char *store;    /* "-", "process", "redis", "redis x5",
                           * "postgresql"                                  */
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

#pragma GCC visibility pop

#endif /* DLOCK_H */

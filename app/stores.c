/* SPDX-License-Identifier: MIT */
/* stores.c -- connects to the stores when the service starts.
 *
 * The timeouts of a lock's store suit orders: a node of redlock has 50 ms.  While a
 * machine starts all its programs, a store needs longer for an answer, so each question
 * is repeated until --start-timeout.
 */
#include "app/service.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "app/store_options.h"
#include "app/stream.h"
#include "base/os/clock.h"
#include "base/text/log.h"
#include "db/pooler.h"
#include "db/sale.h"
#include "db/voucher.h"
#include "lock/fault.h"
#include "lock/record/about.h"
#include "lock/store.h"
#include "lock/stores/redis_request.h"

/* ---- how long a start waits for its stores ---- */

/* Used by one thread. */
struct start_timeout {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t tell_ns; /* when the next line goes to the log */
    int64_t pause_ms;
};

enum { FIRST_TELL_MS = 1000, TELL_EVERY_MS = 3000, PAUSE_FIRST_MS = 20, PAUSE_LAST_MS = 250 };

static const int64_t NS_PER_MS = 1000000;

/* Allow `allowed_ms` from now on for the attempts at all stores together. */
static void start_timeout_begin(struct start_timeout *p, int64_t allowed_ms)
{
    p->begin_ns = dlock_clock_ns();
    p->end_ns = p->begin_ns + allowed_ms * NS_PER_MS;
    p->tell_ns = p->begin_ns + FIRST_TELL_MS * NS_PER_MS;
    p->pause_ms = PAUSE_FIRST_MS;
}

/* The time since start_timeout_begin(), in whole seconds. */
static int64_t start_timeout_seconds(const struct start_timeout *p)
{
    return (dlock_clock_ns() - p->begin_ns + 500 * NS_PER_MS) / (1000 * NS_PER_MS);
}

/* A store did not answer, for the reason `why`: pause before the next attempt.  After a
 * second, and then every three seconds, the log names the store, the reason and the
 * time left.  True: ask the store again.  False: the time has passed. */
static bool start_timeout_wait(struct start_timeout *p, const char *store, const char *why)
{
    int64_t now_ns = dlock_clock_ns();

    if (now_ns >= p->end_ns)
        return false;
    if (now_ns >= p->tell_ns) {
        log_warn("%s has not answered for %lld s; trying for %lld s more "
                 "(--start-timeout): %s",
                 store, (long long)start_timeout_seconds(p),
                 (long long)((p->end_ns - now_ns) / (1000 * NS_PER_MS) + 1), why);
        p->tell_ns = now_ns + TELL_EVERY_MS * NS_PER_MS;
    }
    dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), p->pause_ms));
    p->pause_ms = p->pause_ms * 2 < PAUSE_LAST_MS ? p->pause_ms * 2 : PAUSE_LAST_MS;
    return true;
}

enum {
    WHY_MAX = 600,
    PROBE_NAME_SIZE = 80,
    PROBE_LEASE_MS = 3000,
    PROBE_NODE_TIMEOUT_MS = 1000, /* longer than for an order, because a start need not
                                   * be fast */
};

/* The outcome of one question to a store. */
enum attempt_answer {
    ATTEMPT_OK,
    ATTEMPT_AGAIN,   /* the store did not answer, or is still starting */
    ATTEMPT_REFUSED, /* a lasting refusal */
    ATTEMPT_USAGE,   /* the settings are wrong */
    ATTEMPT_RECORD,  /* the file of --record cannot be made */
    ATTEMPT_MIXED,   /* another service has settings beside which this one would sell twice */
};

typedef enum attempt_answer store_attempt(struct service *s, char why[WHY_MAX]);

/* The store's name for messages: its product, or for a store without a server the name
 * in the list. */
static const char *lock_store_name(const char *lock)
{
    const struct dlock_store_row *row =
        dlock_store_row(dlock_store_of(dlock_variant_find(lock)));

    return row->product != NULL ? row->product : row->name;
}

/* The on_lost function of the service's lock. */
static void count_lost_lock(const dlock_lease *lease, void *arg)
{
    struct service *s = arg;

    metrics_lock_lost(s->metrics);
    LIMITED_WARN("the lock %s was lost while it was held", lease->name);
}

static enum attempt_answer judge_lock(dlock_status st)
{
    switch (st) {
    case DLOCK_OK:
        return ATTEMPT_OK;
    case DLOCK_INVALID:
        return ATTEMPT_USAGE;
    case DLOCK_IO:
    case DLOCK_UNKNOWN:
    case DLOCK_TIMEOUT:
        return ATTEMPT_AGAIN;
    default:
        return ATTEMPT_REFUSED;
    }
}

static void explain_lock(dlock_status st, char why[WHY_MAX])
{
    const char *said = dlock_error();

    if (st == DLOCK_INVALID)
        (void)snprintf(why, WHY_MAX, "%s", said);
    else
        (void)snprintf(why, WHY_MAX, "%s%s%s", dlock_status_text(st),
                       said[0] != '\0' ? ": " : "", said);
}

/* Take and release a lock that no order uses, because a store that answers may still
 * refuse an order's requests, as a replica of Redis refuses writes.  BUSY also counts
 * as an answer. */
static dlock_status try_one_lock(const struct config *c, char why[WHY_MAX])
{
    dlock_options opts = stores_lock_options(c);
    dlock_system *locks = NULL;
    dlock_lease lease;
    char name[PROBE_NAME_SIZE];
    dlock_status st;

    opts.record_dir = NULL;
    opts.watchdog = false;
    opts.lease_ms = PROBE_LEASE_MS;
    opts.redlock_node_timeout_ms = PROBE_NODE_TIMEOUT_MS;
    (void)snprintf(name, sizeof(name), "lock:start:%.60s", c->process_name);
    dlock_fault_spare_thread();
    st = dlock_open(&locks, &opts);
    if (st == DLOCK_OK) {
        st = dlock_acquire(locks, name, 0, &lease);
        if (st == DLOCK_OK)
            st = dlock_release(locks, &lease);
    }
    explain_lock(st, why); /* before dlock_close() overwrites the reason */
    dlock_close(locks);
    return st == DLOCK_BUSY || st == DLOCK_TIMEOUT || st == DLOCK_LOST ? DLOCK_OK : st;
}

/* The library reports a record that cannot be made as IO, as it reports a store that does not
 * answer. */
static bool is_of_record(const char *said)
{
    return strncmp(said, DLOCK_RECORD_CANNOT_WRITE, strlen(DLOCK_RECORD_CANNOT_WRITE)) == 0;
}

static enum attempt_answer try_locks(struct service *s, char why[WHY_MAX])
{
    dlock_options opts = stores_lock_options(s->config);
    dlock_status st = try_one_lock(s->config, why);

    if (st != DLOCK_OK)
        return judge_lock(st);
    opts.on_lost = count_lost_lock;
    opts.on_lost_arg = s;
    st = dlock_open(&s->locks, &opts);
    if (st == DLOCK_IO && is_of_record(dlock_error())) {
        (void)snprintf(why, WHY_MAX, "%s", dlock_error());
        return ATTEMPT_RECORD;
    }
    explain_lock(st, why);
    return judge_lock(st);
}

static enum attempt_answer try_admission(struct service *s, char why[WHY_MAX])
{
    dlock_status st = admission_open(&s->admission, s->config);

    explain_lock(st, why);
    return judge_lock(st);
}

static enum attempt_answer try_stream(struct service *s, char why[WHY_MAX])
{
    dlock_status st = stream_open(&s->stream, s->config, &s->keys);

    explain_lock(st, why);
    return judge_lock(st);
}

/* Judge the error of a connection that could not be made. */
static enum attempt_answer judge_connection(const struct db_conn *db, char why[WHY_MAX])
{
    (void)snprintf(why, WHY_MAX, "%s%s", db_error(db),
                   postgres_message_is_of_pooler(db_error(db))
                       ? "; set --database-pooler to session or transaction, as the "
                         "pool_mode of that pooler is"
                       : "");
    return db_is_refused(db) ? ATTEMPT_REFUSED : ATTEMPT_AGAIN;
}

/* The server refused to read a table, and db_error() names what is missing. */
static enum attempt_answer refuse_tables(const struct db_conn *db, char why[WHY_MAX])
{
    (void)snprintf(why, WHY_MAX, "the database does not have the tables of db/schema.sql: %s; run "
                                 "db/schema.sql as the owner of a database without such tables",
                   db_error(db));
    return ATTEMPT_REFUSED;
}

/* Are the tables and the rights there that the settings need? */
static enum attempt_answer look_for_tables(struct db_conn *db, bool wants_record,
                                           char why[WHY_MAX])
{
    struct voucher_window window;
    bool is_found = false;
    const char *lacks = "";
    enum db_status st = voucher_find_window(db, 1, &window, &is_found);

    if (st == DB_OK)
        st = sale_look_for_table(db);
    if (st == DB_OK)
        st = sale_look_for_needs(db, wants_record, &lacks);
    if (st == DB_ERROR)
        return refuse_tables(db, why);
    if (st != DB_OK)
        return judge_connection(db, why);
    if (lacks[0] != '\0')
        (void)snprintf(why, WHY_MAX, "orders cannot be sold%s: %.400s%s",
                       wants_record ? " with --record" : "", lacks,
                       strstr(lacks, " is missing") != NULL
                           ? "; db/schema.sql makes the tables and grants the rights"
                           : "");
    return lacks[0] == '\0' ? ATTEMPT_OK : ATTEMPT_REFUSED;
}

static enum attempt_answer check_pooler(struct db_conn *db, const struct db_options *opts,
                                        char why[WHY_MAX])
{
    enum db_status st = db_pooler_is_absent(db, opts, why, WHY_MAX);

    return st == DB_OK      ? ATTEMPT_OK
           : st == DB_ERROR ? ATTEMPT_REFUSED
                            : ATTEMPT_AGAIN;
}

/* Is the database the partition at whose place its URL is listed? */
static enum attempt_answer check_partition(struct db_conn *db, const struct config *c,
                                           size_t partition, char why[WHY_MAX])
{
    enum db_status st = partition_check(db, partition, c->databases.count, why, WHY_MAX);

    if (st == DB_OK)
        return ATTEMPT_OK;
    if (st == DB_ERROR)
        return db_state(db)[0] == '\0' ? ATTEMPT_REFUSED : refuse_tables(db, why);
    return judge_connection(db, why);
}

/* Connect, unless another service sells from this database with settings beside which one of
 * the two would sell twice. */
static enum attempt_answer connect_beside_others(struct db_conn *db,
                                                 const struct db_options *opts,
                                                 char why[WHY_MAX])
{
    const char *found = "other services cannot be seen with --database-pooler=transaction";
    enum db_status st = db_connect_alone(db);

    if (st == DB_LOST)
        return judge_connection(db, why);
    if (st != DB_OK)
        found = db_error(db);
    else if (opts->pooler != POSTGRES_POOLER_TRANSACTION || opts->mark < STORES_MARK_BINDS)
        return ATTEMPT_OK;
    (void)snprintf(why, WHY_MAX,
                   "%.140s: beside --duplicate-guard=count or none, --stock-guard=read-write or "
                   "decrement, or --order-path=stream, every service needs the same lock, scope, "
                   "stores and stream, or a user could get two orders, or a unit be sold twice; "
                   "--allow-mixed-settings starts it all the same",
                   found);
    return ATTEMPT_MIXED;
}

/* Is the stream of this service that of this database?  The first that asks makes it so. */
static enum attempt_answer claim_stream(struct service *s, struct db_conn *db, char why[WHY_MAX])
{
    enum db_status said = partition_identify(db);
    bool is_ours = false;
    dlock_status st;

    if (said != DB_OK) {
        enum attempt_answer answer = judge_connection(db, why);

        return said == DB_ERROR ? ATTEMPT_REFUSED : answer;
    }
    st = stream_claim(s->stream, db_text(db, 0, 0, 0), &is_ours);
    explain_lock(st, why);
    if (st != DLOCK_OK || is_ours || s->config->allow_mixed_settings)
        return judge_lock(st);
    (void)snprintf(why, WHY_MAX,
                   "the stream %s has the orders of another database, which would become rows of "
                   "this one: choose another --stream-name, after a move of the database delete "
                   "the key %s:database (docs/how-to/upgrade.md), or start with "
                   "--allow-mixed-settings",
                   s->config->stream_name, s->config->stream_name);
    return ATTEMPT_MIXED;
}

/* Open the pools.  Until the pool has a session with the mark of this service, the session that
 * asked for the others has to stay. */
static enum attempt_answer open_pool(struct service *s, size_t partition, char why[WHY_MAX])
{
    struct db_taken taken;
    enum db_status st;

    if (s->databases == NULL && (s->databases = partitions_open(s->config)) == NULL) {
        (void)snprintf(why, WHY_MAX, "out of memory");
        return ATTEMPT_REFUSED;
    }
    st = db_pool_take(partitions_pool(s->databases, partition), s->config->database_wait_ms,
                      &taken);
    if (st == DB_OK)
        db_pool_give(partitions_pool(s->databases, partition), taken.db);
    (void)snprintf(why, WHY_MAX, "%s", taken.why);
    return st == DB_OK ? ATTEMPT_OK : ATTEMPT_AGAIN;
}

/* Connect once, and check the tables, the partition, the other services and the stream. */
static enum attempt_answer try_partition(struct service *s, size_t partition,
                                         char why[WHY_MAX])
{
    struct db_options opts = stores_database_options(s->config, partition);
    struct db_conn *db;
    enum attempt_answer answer;

    if (db_pooler_mixes_sessions(&opts, why, WHY_MAX))
        return ATTEMPT_REFUSED;
    db = db_new(&opts);
    if (db == NULL) {
        (void)snprintf(why, WHY_MAX, "out of memory");
        return ATTEMPT_REFUSED;
    }
    answer = connect_beside_others(db, &opts, why);
    if (answer == ATTEMPT_OK)
        answer = check_pooler(db, &opts, why);
    if (answer == ATTEMPT_OK)
        answer = look_for_tables(db, s->config->record != NULL, why);
    if (answer == ATTEMPT_OK)
        answer = check_partition(db, s->config, partition, why);
    if (answer == ATTEMPT_OK && partition == 0 && config_has_stream(s->config))
        answer = claim_stream(s, db, why);
    if (answer == ATTEMPT_OK)
        answer = open_pool(s, partition, why);
    db_free(db);
    return answer;
}

static enum attempt_answer try_databases(struct service *s, char why[WHY_MAX])
{
    size_t count = s->config->databases.count;
    enum attempt_answer answer = ATTEMPT_OK;
    char said[WHY_MAX];

    for (size_t i = 0; i < count && answer == ATTEMPT_OK; i++) {
        answer = try_partition(s, i, said);
        if (answer != ATTEMPT_OK && count > 1)
            (void)snprintf(why, WHY_MAX, "partition %zu of %zu: %.540s", i, count, said);
        else if (answer != ATTEMPT_OK)
            (void)snprintf(why, WHY_MAX, "%s", said);
    }
    return answer;
}

/* Repeat a question until the store answers.  `flag` is the setting that needs the
 * store; NULL: every service needs it. */
static enum exit_code reach(struct service *s, struct start_timeout *patience,
                            store_attempt *attempt, const char *store, const char *flag,
                            const char *value)
{
    char why[WHY_MAX] = "";
    enum attempt_answer answer;
    char wanted[96] = "";

    if (flag != NULL)
        (void)snprintf(wanted, sizeof(wanted), " for %s=%.60s", flag, value);
    do
        answer = attempt(s, why);
    while (answer == ATTEMPT_AGAIN && start_timeout_wait(patience, store, why));
    if (answer == ATTEMPT_OK)
        return EXIT_VALID;
    if (answer == ATTEMPT_USAGE)
        log_error("%s=%s cannot be used with these settings: %s", flag, value, why);
    else if (answer == ATTEMPT_MIXED)
        log_error("%s", why);
    else if (answer == ATTEMPT_RECORD)
        log_error("%s; make room on its disk, or name another directory with --record", why);
    else if (answer == ATTEMPT_REFUSED)
        log_error("%s is not available%s: %s", store, wanted, why);
    else
        log_error("%s is not available%s, after %lld s of trying (--start-timeout): %s",
                  store, wanted, (long long)start_timeout_seconds(patience), why);
    return answer == ATTEMPT_USAGE    ? EXIT_USAGE
           : answer == ATTEMPT_RECORD ? EXIT_CANNOT_WRITE
                                      : EXIT_UNAVAILABLE;
}

/* Are there no orders in the stream that this service, of another path, would not write? */
static bool is_stream_empty(const struct config *c)
{
    const struct redis_command length = {2, {"XLEN", c->stream_name}, REDIS_SHAPE_COUNT};
    struct redis_link *link = NULL;
    struct redis_answer answer;
    dlock_status st;

    if (c->allow_mixed_settings || config_has_stream(c) || c->redis_url == NULL ||
        strstr(c->redis_url, "-cluster://") != NULL)
        return true;
    st = redis_link_open(&link, c->redis_url, (int)c->redis_timeout_ms, false);
    if (st == DLOCK_OK)
        st = redis_call(link, &length, INT64_MAX, &answer);
    redis_link_close(link);
    if (st != DLOCK_OK)
        log_warn("Redis does not say if orders wait in the stream %s, which are not written with "
                 "--order-path=%s: %s", c->stream_name, c->order_path, dlock_error());
    else if (answer.integer > 0)
        log_error("%lld orders wait in the stream %s, and with --order-path=%s this service does "
                  "not write them: units that were promised to them would be sold to others. "
                  "Run a service with --order-path=stream until seckill_stream_length is 0 "
                  "(docs/how-to/upgrade.md), or start with --allow-mixed-settings",
                  (long long)answer.integer, c->stream_name, c->order_path);
    return st != DLOCK_OK || answer.integer == 0;
}

enum exit_code stores_open(struct service *s)
{
    const struct config *c = s->config;
    struct start_timeout patience;
    enum exit_code rc;

    start_timeout_begin(&patience, c->start_timeout_ms);
    rc = reach(s, &patience, try_locks, lock_store_name(c->lock), "--lock", c->lock);
    if (rc == EXIT_VALID && c->admission_kind != ADMISSION_NONE)
        rc = reach(s, &patience, try_admission, "Redis", "--admission", c->admission);
    if (rc == EXIT_VALID && config_has_stream(c))
        rc = reach(s, &patience, try_stream, "Redis", "--order-path", c->order_path);
    if (rc == EXIT_VALID)
        rc = reach(s, &patience, try_databases, "PostgreSQL", NULL, NULL);
    if (rc == EXIT_VALID && !is_stream_empty(c))
        rc = EXIT_UNAVAILABLE;
    return rc;
}

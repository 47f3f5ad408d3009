/* SPDX-License-Identifier: MIT */
/* readiness.c -- probes the stores of the service. */
#include "app/readiness.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/store_options.h"
#include "app/stream.h"
#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/thread.h"
#include "base/text/duration.h"
#include "db/sale_needs.h"
#include "lock/fault.h"
#include "lock/store.h"

/* ---- a check that one thread makes for all who ask ---- */

/* Threads     Any thread may call health_check_ask(); the check's thread asks the
 *             question. */

enum { HEALTH_SAID_MAX = 400 };

/* The question.  True: all is well.  False: `said` says what is wrong. */
typedef bool health_check_question(void *arg, char said[HEALTH_SAID_MAX]);

struct health_check {
    health_check_question *question;
    void *arg;
    const char *product, *store; /* for the log: "Redis", and the name on /readyz */
    long long partition;
    const atomic_llong *failed; /* the requests that failed so far */
    struct dlock_thread thread;
    bool has_thread;
    struct dlock_mutex mutex; /* of what follows */
    struct dlock_condition changed;
    bool is_ending;
    bool is_wanted;  /* health_check_ask() was called, and no check has begun since */
    bool is_running;
    bool is_waking;  /* health_check_ask() was called after a pause, and the answer is
                      * too old */
    int64_t begun_ns;
    int64_t ended_ns; /* 0: none has ended */
    int64_t asked_ns; /* when health_check_ask() was called last; 0: never */
    bool is_well;
    char said[HEALTH_SAID_MAX];
    int64_t outage_ns;    /* since when the store fails; 0: it answers */
    int64_t failed_ns;    /* when a request met that last */
    long long failed_count; /* the requests that had failed when the outage began */
};

static const int64_t NS_PER_MS = 1000000;
static const int64_t EVERY_MS = 1000;      /* while health_check_ask() is called */
static const int64_t PAUSE_AFTER_MS = 60000; /* without a question */
static const int64_t FIRST_WAIT_MS = 1000; /* for the check that ends a pause */
static const int64_t SILENT_MS = 2000;     /* a check that takes longer counts as no
                                            * answer */

static bool is_asked_for(const struct health_check *p, int64_t now_ns)
{
    return p->asked_ns != 0 && now_ns - p->asked_ns < PAUSE_AFTER_MS * NS_PER_MS;
}

/* The requests that have failed since the outage began. */
static long long count_failed(const struct health_check *p)
{
    return atomic_load(p->failed) - p->failed_count;
}

/* The store fails: log it, unless that is known.  The mutex is held, as below. */
static void begin_outage(struct health_check *p, const char *why)
{
    const struct log_field fields[LOG_FIELDS] = {
        {"store", p->store, 0}, {"partition", NULL, p->partition}, {"outage", "begins", 0}};
    const struct log_field *kept;

    if (p->outage_ns != 0)
        return;
    p->outage_ns = dlock_clock_ns();
    p->failed_count += count_failed(p);
    kept = log_set_fields(fields);
    log_error("%s fails: %s", p->product, why);
    (void)log_set_fields(kept);
}

/* Log the end of the outage if there is one, after the lines of the requests that failed.  False:
 * the service ends, and the store still fails. */
static void end_outage(struct health_check *p, bool answers)
{
    long long lasted_ms = (dlock_clock_ns() - p->outage_ns) / NS_PER_MS, failed = count_failed(p);
    const struct log_field fields[LOG_FIELDS] = {
        {"store", p->store, 0}, {"partition", NULL, p->partition},
        {"outage", answers ? "ends" : "lasts", 0}, {"duration_ms", NULL, lasted_ms},
        {"count", NULL, failed}};

    if (p->outage_ns == 0)
        return;
    p->outage_ns = 0;
    limited_tell(true);
    (void)log_set_fields(fields);
    log_warn("%s %s; in %lld.%03lld s %lld requests failed", p->product,
             answers ? "answers again" : "still fails", lasted_ms / 1000, lasted_ms % 1000, failed);
    (void)log_set_fields(NULL);
}

/* Ask the question once.  The mutex is held before and after, but not meanwhile. */
static void run_once(struct health_check *p)
{
    char said[HEALTH_SAID_MAX] = "";
    bool is_well;

    p->is_wanted = false;
    p->is_running = true;
    p->begun_ns = dlock_clock_ns();
    dlock_mutex_unlock(&p->mutex);
    is_well = p->question(p->arg, said);
    dlock_mutex_lock(&p->mutex);
    p->is_well = is_well;
    (void)snprintf(p->said, sizeof(p->said), "%s", said);
    p->is_running = p->is_waking = false;
    p->ended_ns = dlock_clock_ns();
    if (!is_well)
        begin_outage(p, said);
    else if (p->failed_ns < p->begun_ns)
        end_outage(p, true);
    dlock_condition_broadcast(&p->changed);
}

static void *keep_checking(void *arg)
{
    struct health_check *p = arg;

    dlock_mutex_lock(&p->mutex);
    while (!p->is_ending) {
        int64_t now_ns = dlock_clock_ns();
        int64_t due_ns = p->ended_ns == 0 ? 0 : p->ended_ns + EVERY_MS * NS_PER_MS;

        if (!p->is_wanted && !is_asked_for(p, now_ns) && p->outage_ns == 0)
            dlock_condition_wait(&p->changed, &p->mutex);
        else if (now_ns < due_ns)
            (void)dlock_condition_wait_until(&p->changed, &p->mutex, due_ns);
        else
            run_once(p);
    }
    end_outage(p, false);
    dlock_mutex_unlock(&p->mutex);
    return NULL;
}

/* Start the thread.  False: no thread. */
static bool health_check_start(struct health_check *p, health_check_question *question, void *arg)
{
    p->question = question;
    p->arg = arg;
    dlock_mutex_init(&p->mutex);
    p->has_thread = dlock_condition_init(&p->changed) &&
                    dlock_thread_start(&p->thread, keep_checking, p) == 0;
    return p->has_thread;
}

/* End the thread, after a question that is under way.  A zeroed check is fine. */
static void health_check_stop(struct health_check *p)
{
    if (!p->has_thread)
        return;
    dlock_mutex_lock(&p->mutex);
    p->is_ending = true;
    dlock_condition_broadcast(&p->changed);
    dlock_mutex_unlock(&p->mutex);
    dlock_thread_join(&p->thread);
    p->has_thread = false;
}

/* Get the last answer.  The first call after a minute without calls waits for a new
 * answer, at most a second.  True: all is well.  False: `said` says what is wrong, or
 * that the answer is missing: for 2 s, or at the end of that wait. */
static bool health_check_ask(struct health_check *p, char *said, size_t size)
{
    int64_t now_ns = dlock_clock_ns();
    int64_t limit_ns = now_ns + FIRST_WAIT_MS * NS_PER_MS;
    bool is_well = false;
    int64_t silent_ms;

    dlock_mutex_lock(&p->mutex);
    if (!is_asked_for(p, now_ns))
        p->is_wanted = p->is_waking = true;
    p->asked_ns = now_ns;
    dlock_condition_broadcast(&p->changed);
    for (; p->is_waking && now_ns < limit_ns; now_ns = dlock_clock_ns())
        (void)dlock_condition_wait_until(&p->changed, &p->mutex, limit_ns);
    silent_ms = p->is_running ? (now_ns - p->begun_ns) / NS_PER_MS : 0;
    if (p->is_waking || silent_ms >= SILENT_MS) {
        (void)snprintf(said, size, "there has been no answer for %lld ms",
                       (long long)silent_ms);
        if (silent_ms >= SILENT_MS)
            begin_outage(p, said);
    } else {
        (void)snprintf(said, size, "%s", p->said);
        is_well = p->is_well;
    }
    dlock_mutex_unlock(&p->mutex);
    return is_well;
}

enum {
    LOCK_WAIT_MS = 200,      /* for another process whose probe has the same name */
    LOCK_LEASE_MS = 3000,
    LOCK_STALE_MS = 10000,   /* a probe's lock that is held for longer belongs to a dead
                              * process */
    NODE_TIMEOUT_MS = 1000,  /* longer than for an order, because a probe need not be
                              * fast */
    STATEMENT_TIMEOUT_MS = 2000,
    STANDBY_WAIT_S = 2,      /* a COMMIT that waits for so long shows that the standby
                              * is away */
    NAME_GROUPS = 64,
    NAME_COUNT = 2,
    NAME_SIZE = 48,
    CLUSTER_SLOTS = 16384,
};

struct database_probe {
    struct health_check check;
    struct db_conn *db;
    bool records; /* with --record */
};

struct readiness {
    const struct config *config;
    const atomic_llong *failed;
    struct health_check checks[READINESS_STORE_COUNT]; /* each PostgreSQL has its own */
    dlock_system *locks; /* opened by the first probe */
    char names[NAME_COUNT][NAME_SIZE];
    size_t name_count;
    int64_t busy_since_ns; /* 0: not busy */
    struct database_probe databases[]; /* one for each partition */
};

/* ---- the lock's store ---- */

/* The slot of a key in a Redis cluster: CRC-16/XMODEM. */
static unsigned slot_of(const char *key)
{
    unsigned crc = 0;

    for (; *key != '\0'; key++) {
        crc ^= (unsigned)(unsigned char)*key << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1) & 0xffff;
    }
    return crc % CLUSTER_SLOTS;
}

/* Choose the names of the probe's locks: one in the first sixteenth of a cluster's
 * slots, one in the last.  With redis:// a node of a cluster refuses the orders whose
 * slots it does not have.  Such a node usually has one range of slots, so it refuses
 * one of these two names too, and the probe fails. */
static void choose_names(struct readiness *r)
{
    const char *process = r->config->process_name;
    unsigned group = slot_of(process) % NAME_GROUPS;
    bool is_redis =
        dlock_store_of(dlock_variant_find(r->config->lock)) == DLOCK_STORE_REDIS;

    r->name_count = is_redis ? NAME_COUNT : 1;
    for (size_t i = 0; i < r->name_count; i++)
        for (unsigned n = 0;; n++) {
            unsigned slot;

            (void)snprintf(r->names[i], NAME_SIZE, "lock:ready:%u:%u", group, n);
            slot = slot_of(r->names[i]);
            if (i == 0 ? slot < CLUSTER_SLOTS / 16 : slot >= CLUSTER_SLOTS / 16 * 15)
                break;
        }
}

static bool complain(char said[HEALTH_SAID_MAX], dlock_status st)
{
    (void)snprintf(said, HEALTH_SAID_MAX, "%s%s%s", dlock_status_text(st),
                   dlock_error()[0] != '\0' ? ": " : "", dlock_error());
    return false;
}

static dlock_status open_locks(struct readiness *r)
{
    dlock_options opts = stores_lock_options(r->config);

    opts.record_dir = NULL; /* the locks of probes are not recorded */
    opts.watchdog = false;
    opts.lease_ms = LOCK_LEASE_MS;
    opts.redlock_node_timeout_ms = NODE_TIMEOUT_MS;
    return dlock_open(&r->locks, &opts);
}

/* Is the probe's lock held for so long that its holder must be dead?  For locks that do
 * not end by themselves. */
static bool is_held_for_good(struct readiness *r)
{
    int64_t now_ns = monotonic_ns();

    if (r->busy_since_ns == 0)
        r->busy_since_ns = now_ns;
    return now_ns - r->busy_since_ns > (int64_t)LOCK_STALE_MS * 1000000;
}

static bool probe_name(struct readiness *r, const char *name, char said[HEALTH_SAID_MAX])
{
    dlock_lease lease;
    dlock_status st = dlock_acquire(r->locks, name, LOCK_WAIT_MS, &lease);

    if (st == DLOCK_OK) {
        r->busy_since_ns = 0;
        st = dlock_release(r->locks, &lease);
    } else if ((st == DLOCK_BUSY || st == DLOCK_TIMEOUT) && is_held_for_good(r)) {
        st = dlock_force_release(r->locks, name);
        r->busy_since_ns = 0;
        if (st == DLOCK_LOST)
            st = DLOCK_BUSY;
    }
    if (st == DLOCK_OK)
        return true;
    if (st == DLOCK_BUSY || st == DLOCK_TIMEOUT) {
        (void)snprintf(said, HEALTH_SAID_MAX, "the lock %s, which only probes take, is held",
                       name);
        return false;
    }
    return complain(said, st);
}

static bool probe_locks(void *readiness, char said[HEALTH_SAID_MAX])
{
    struct readiness *r = readiness;
    dlock_status st = DLOCK_OK;

    dlock_fault_spare_thread();
    if (r->locks == NULL)
        st = open_locks(r);
    if (st == DLOCK_OK)
        st = dlock_check(r->locks); /* names a missing right, also one that a probe does not use */
    if (st != DLOCK_OK)
        return complain(said, st);
    for (size_t i = 0; i < r->name_count; i++)
        if (!probe_name(r, r->names[i], said))
            return false;
    return true;
}

/* ---- the Redis of the admission and of the stream ---- */

static bool probe_admission(void *admission, char said[HEALTH_SAID_MAX])
{
    dlock_status st;

    dlock_fault_spare_thread();
    st = admission_check(admission);
    return st == DLOCK_OK || complain(said, st);
}

static bool probe_stream(void *stream, char said[HEALTH_SAID_MAX])
{
    dlock_status st = stream_check(stream);

    return st == DLOCK_OK || complain(said, st);
}

/* ---- PostgreSQL ---- */

/* The statement of the probe.  It writes nothing, so it never waits for a standby
 * itself.  It sees the COMMITs of its own user that wait, also those that a service has
 * given up. */
static const struct postgres_statement LOOK = {
    "readiness_look",
    "SELECT pg_is_in_recovery()::int, (current_setting('transaction_read_only') = 'on')::int,"
    " (SELECT count(*) FROM (SELECT stock FROM tb_seckill_voucher LIMIT 1) AS one),"
    " (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - query_start)), 0)::bigint"
    "  FROM pg_stat_activity WHERE wait_event = 'SyncRep'), coalesce(" SALE_LACKS ", '')",
    "i"};

static bool probe_database(void *probe, char said[HEALTH_SAID_MAX])
{
    const struct database_probe *p = probe;
    struct db_conn *db = p->db;

    if (db_run_one(db, &LOOK, DB_VALUES(DB_INT(p->records))) != DB_OK)
        (void)snprintf(said, HEALTH_SAID_MAX, "%s", db_error(db));
    else if (db_int(db, 0, 0, 0) != 0)
        (void)snprintf(said, HEALTH_SAID_MAX,
                       "the server is a standby, or recovers: it takes no writes");
    else if (db_int(db, 0, 0, 1) != 0)
        (void)snprintf(said, HEALTH_SAID_MAX,
                       "transactions are read-only (default_transaction_read_only)");
    else if (db_int(db, 0, 0, 3) >= STANDBY_WAIT_S)
        (void)snprintf(said, HEALTH_SAID_MAX,
                       "a COMMIT has waited for %lld s for a synchronous standby "
                       "(synchronous_standby_names)",
                       (long long)db_int(db, 0, 0, 3));
    else if (db_text(db, 0, 0, 4)[0] != '\0')
        (void)snprintf(said, HEALTH_SAID_MAX, "orders cannot be sold: %.300s",
                       db_text(db, 0, 0, 4));
    else
        return true;
    return false;
}

static struct db_conn *make_connection(const struct config *c, size_t partition)
{
    struct db_options opts = stores_database_options(c, partition);

    if (opts.statement_timeout_ms > STATEMENT_TIMEOUT_MS)
        opts.statement_timeout_ms = STATEMENT_TIMEOUT_MS;
    return db_new(&opts);
}

/* ---- all ---- */

const char *const READINESS_NAMES[READINESS_STORE_COUNT] = {
#define X(id, name) name,
    READINESS_STORES(X)
#undef X
};

static struct health_check *check_of(struct readiness *r, enum readiness_store store,
                                     size_t partition)
{
    return store == READINESS_POSTGRESQL ? &r->databases[partition].check : &r->checks[store];
}

/* Start the check of a store; `partition` is of PostgreSQL. */
static bool start_check(struct readiness *r, enum readiness_store store, size_t partition,
                        health_check_question *question, void *arg)
{
    struct health_check *p = check_of(r, store, partition);
    const struct dlock_store_row *locks =
        dlock_store_row(dlock_store_of(dlock_variant_find(r->config->lock)));

    p->product = store == READINESS_POSTGRESQL ? "PostgreSQL" : "Redis";
    if (store == READINESS_LOCKS)
        p->product = locks->product != NULL ? locks->product : locks->name;
    p->store = READINESS_NAMES[store];
    p->partition = (long long)partition;
    p->failed = r->failed;
    return health_check_start(p, question, arg);
}

struct readiness *readiness_start(const struct config *c, const atomic_llong *failed,
                                  struct admission *admission, struct stream *stream)
{
    struct readiness *r = calloc(1, sizeof(*r) + c->databases.count * sizeof(r->databases[0]));
    bool has_begun;

    if (r == NULL)
        return NULL;
    r->config = c;
    choose_names(r);
    r->failed = failed;
    has_begun =
        start_check(r, READINESS_LOCKS, 0, probe_locks, r) &&
        (admission == NULL ||
         start_check(r, READINESS_ADMISSION, 0, probe_admission, admission)) &&
        (stream == NULL || start_check(r, READINESS_STREAM, 0, probe_stream, stream));
    for (size_t i = 0; i < c->databases.count && has_begun; i++) {
        struct database_probe *probe = &r->databases[i];

        probe->db = make_connection(c, i);
        probe->records = c->record != NULL;
        has_begun = probe->db != NULL &&
                    start_check(r, READINESS_POSTGRESQL, i, probe_database, probe);
    }
    if (has_begun)
        return r;
    readiness_stop(r);
    return NULL;
}

void readiness_stop(struct readiness *r)
{
    if (r == NULL)
        return;
    for (int i = 0; i < READINESS_STORE_COUNT; i++)
        health_check_stop(&r->checks[i]);
    for (size_t i = 0; i < r->config->databases.count; i++) {
        health_check_stop(&r->databases[i].check);
        db_free(r->databases[i].db);
    }
    dlock_close(r->locks);
    free(r);
}

/* Append the name of a partition that does not answer. */
static void name_partition(char said[READINESS_SAID_MAX], size_t partition, size_t count,
                           const char *wrong)
{
    size_t len = strlen(said);

    (void)snprintf(said + len, READINESS_SAID_MAX - len, "%spartition %zu of %zu: %s",
                   len > 0 ? "; " : "", partition, count, wrong);
}

/* Ask every partition.  One that answers is enough, because the orders of a partition
 * go on while another is down. */
static bool ask_databases(struct readiness *r, char said[READINESS_SAID_MAX])
{
    size_t count = r->config->databases.count;
    size_t answering = 0;

    said[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        char wrong[READINESS_SAID_MAX];

        if (health_check_ask(&r->databases[i].check, wrong, sizeof(wrong)))
            answering++;
        else if (count == 1)
            (void)snprintf(said, READINESS_SAID_MAX, "%s", wrong);
        else
            name_partition(said, i, count, wrong);
    }
    if (answering == count)
        (void)snprintf(said, READINESS_SAID_MAX, "ok");
    return answering > 0;
}

void readiness_ask(struct readiness *r, struct readiness_report *out)
{
    *out = (struct readiness_report){.is_ready = true};
    for (int i = 0; i < READINESS_STORE_COUNT; i++) {
        if (i == READINESS_POSTGRESQL)
            out->is_ready &= ask_databases(r, out->said[i]);
        else if (r->checks[i].has_thread &&
                 health_check_ask(&r->checks[i], out->said[i], READINESS_SAID_MAX))
            (void)snprintf(out->said[i], READINESS_SAID_MAX, "ok");
        else
            out->is_ready &= !r->checks[i].has_thread;
    }
}

void readiness_fail(struct readiness *r, enum readiness_store store, size_t partition,
                    const char *why)
{
    struct health_check *p = check_of(r, store, partition);

    dlock_mutex_lock(&p->mutex);
    p->failed_ns = dlock_clock_ns();
    begin_outage(p, why);
    dlock_condition_broadcast(&p->changed);
    dlock_mutex_unlock(&p->mutex);
}

void readiness_judge(struct readiness *r, enum readiness_store store, dlock_status st)
{
    char said[HEALTH_SAID_MAX];

    if (st != DLOCK_UNKNOWN && st != DLOCK_IO && st != DLOCK_PROTOCOL)
        return;
    (void)complain(said, st);
    readiness_fail(r, store, 0, said);
}

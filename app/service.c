/* SPDX-License-Identifier: MIT */
/* service.c -- opens and closes what the service works with. */
#include "app/service.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "app/limited.h"
#include "db/order.h"
#include "lock/fault.h"

static struct db_options database_options(const struct config *c)
{
    struct db_options opts = db_options_default(c->database_url);

    opts.application_name = c->process_name;
    opts.statement_timeout_ms = (int)c->statement_timeout_ms;
    opts.idle_timeout_ms = (int)c->idle_transaction_ms;
    return opts;
}

/* Called by the lock library when a held lock is gone. */
static void count_lost_lock(const dlock_lease *lease, void *arg)
{
    struct service *s = arg;

    metrics_lock_lost(s->metrics);
    LIMITED_WARN("the lock %s was lost while it was held", lease->name);
}

static const char *store_name(const char *lock)
{
    const char *store = dlock_variant_find(lock)->store;

    return strcmp(store, "postgresql") == 0  ? "PostgreSQL"
           : strcmp(store, "zookeeper") == 0 ? "ZooKeeper"
                                             : "Redis";
}

static enum exit_code open_locks(struct service *s)
{
    const struct config *c = s->config;
    dlock_options opts = dlock_options_default();
    dlock_status st;

    opts.variant = c->lock;
    opts.redis_url = c->redis_url;
    opts.redlock_urls = c->redlock_urls;
    opts.database_url = c->database_url;
    opts.record_dir = c->record;
    opts.database_timeout_ms = (int)c->statement_timeout_ms;
    opts.zookeeper_url = c->zookeeper_url;
    opts.zookeeper_timeout_ms = (int)c->zookeeper_timeout_ms;
    opts.lease_ms = (int)c->lock_lease_ms;
    opts.watchdog = c->watchdog;
    opts.retry = c->retry;
    opts.redlock_sequential = strcmp(c->redlock, "sequential") == 0;
    opts.redis_timeout_ms = (int)c->redis_timeout_ms;
    opts.redlock_node_timeout_ms = (int)c->redlock_node_timeout_ms;
    opts.on_lost = count_lost_lock;
    opts.on_lost_arg = s;
    st = dlock_open(&s->locks, &opts);
    if (st == DLOCK_OK)
        return EXIT_VALID;
    if (st == DLOCK_INVALID) {
        log_error("--lock=%s cannot be used with these settings: %s", c->lock,
                  dlock_error());
        return EXIT_USAGE;
    }
    log_error("%s is not available for --lock=%s: %s: %s", store_name(c->lock), c->lock, dlock_status_text(st), dlock_error());
    return EXIT_UNAVAILABLE;
}

static bool has_record(struct db_conn *db)
{
    bool is_there = false;
    enum db_status st = order_look_for_record(db, &is_there);

    if (st != DB_OK)
        log_error("PostgreSQL is not available: %s", db_error(db));
    else if (!is_there)
        log_error("--record needs the table tb_voucher_write, and leave to add to it: run "
                  "db/schema.sql as the database's owner");
    return is_there;
}

/* One connection, to see that it is there and has the tables. */
static bool try_database(const struct config *c)
{
    struct db_options opts = database_options(c);
    struct db_conn *db = db_new(&opts);
    struct voucher_window window;
    bool found = false;
    enum db_status st = db != NULL ? db_connect(db) : DB_LOST;

    if (st != DB_OK) {
        log_error("PostgreSQL is not available: %s",
                  db != NULL ? db_error(db) : "out of memory");
    } else {
        st = voucher_find_window(db, 1, &window, &found);
        if (st != DB_OK)
            log_error("PostgreSQL does not have the tables of db/schema.sql: %s",
                      db_error(db));
    }
    if (st == DB_OK && c->record != NULL && !has_record(db))
        st = DB_ERROR;
    db_free(db);
    return st == DB_OK;
}

static bool open_database(struct service *s)
{
    struct db_options opts = database_options(s->config);

    s->database = db_pool_new(&opts, (size_t)s->config->database_connections);
    s->probe = db_new(&opts);
    s->vouchers = aligned_alloc(alignof(struct voucher_cache), sizeof(*s->vouchers));
    if (s->database == NULL || s->probe == NULL || s->vouchers == NULL) {
        log_error("out of memory");
        return false;
    }
    memset(s->vouchers, 0, sizeof(*s->vouchers));
    voucher_cache_init(s->vouchers);
    return true;
}

enum exit_code service_open(struct service *s, const struct config *config,
                            const struct settings *settings)
{
    enum exit_code rc = EXIT_VALID;

    (void)pthread_mutex_init(&s->probe_mutex, NULL);
    s->config = config;
    s->settings = settings;
    s->guard = guard_find(config->stock_guard);
    s->splits_commit = config->unlock_before_commit || config->allow_faults;
    s->metrics = metrics_new();
    if (s->metrics == NULL) {
        log_error("out of memory");
        return EXIT_UNAVAILABLE;
    }
    if (config->allow_faults && !dlock_fault_allow()) {
        log_error("--allow-faults is refused: %s", dlock_error());
        return EXIT_USAGE;
    }
    rc = open_locks(s);
    if (rc == EXIT_VALID)
        rc = admission_open(&s->admission, config);
    if (rc == EXIT_VALID && (!try_database(config) || !open_database(s)))
        rc = EXIT_UNAVAILABLE;
    return rc;
}

void service_close(struct service *s)
{
    admission_close(s->admission);
    dlock_close(s->locks);
    db_pool_free(s->database);
    db_free(s->probe);
    free(s->vouchers);
    metrics_free(s->metrics);
    s->database = NULL;
    s->probe = NULL;
    s->vouchers = NULL;
    s->admission = NULL;
    s->locks = NULL;
    s->metrics = NULL;
}

struct worker *worker_new(struct service *s)
{
    struct worker *w = calloc(1, sizeof(*w));

    if (w == NULL)
        return NULL;
    w->service = s;
    w->cell = metrics_cell(s->metrics);
    w->received = malloc((size_t)s->config->body_limit + 1);
    if (w->cell != NULL && w->received != NULL)
        return w;
    worker_free(w);
    return NULL;
}

void worker_free(struct worker *w)
{
    if (w == NULL)
        return;
    worker_give_db(w);
    text_free(&w->body);
    text_free(&w->head);
    free(w->received);
    free(w);
}

enum outcome worker_take_db(struct worker *w)
{
    struct db_taken taken;
    enum db_status st =
        db_pool_take(w->service->database, w->service->config->database_wait_ms, &taken);

    histogram_record(&w->cell->database_wait, taken.waited_ns);
    w->db = taken.db;
    if (st == DB_OK)
        return OUTCOME_ACCEPTED;
    LIMITED_WARN("PostgreSQL: %s", taken.why);
    return st == DB_TIMEOUT ? OUTCOME_DATABASE_BUSY : OUTCOME_UNAVAILABLE;
}

void worker_give_db(struct worker *w)
{
    if (w->db != NULL)
        db_pool_give(w->service->database, w->db);
    w->db = NULL;
}

enum outcome worker_db_failed(struct worker *w, enum db_status st)
{
    if (st == DB_ERROR || st == DB_UNIQUE) {
        LIMITED_WARN("PostgreSQL refused a statement: %s", db_error(w->db));
        return OUTCOME_INTERNAL;
    }
    LIMITED_WARN("PostgreSQL: %s: %s", db_status_name(st), db_error(w->db));
    return OUTCOME_UNAVAILABLE;
}

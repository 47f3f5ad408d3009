/* SPDX-License-Identifier: MIT */
/* service.c -- opens and closes what the service works with. */
#include "app/service.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "app/limited.h"
#include "app/order_path.h"
#include "app/stores.h"
#include "db/guard.h"
#include "lock/fault.h"

static bool open_database(struct service *s)
{
    struct db_options opts = stores_database_options(s->config);

    s->database = db_pool_new(&opts, (size_t)s->config->database_connections);
    s->readiness = readiness_start(s->config);
    s->vouchers = aligned_alloc(alignof(struct voucher_cache), sizeof(*s->vouchers));
    if (s->database == NULL || s->readiness == NULL || s->vouchers == NULL) {
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

    s->config = config;
    s->settings = settings;
    s->path = order_path_find(config->order_path);
    s->terms = (struct sale_terms){
        .stock_guard = guard_find(config->stock_guard),
        .duplicate_guard = config->duplicates,
        .lock_variant = config->lock,
        .process = config->process_name,
    };
    s->metrics = metrics_new();
    if (s->metrics == NULL) {
        log_error("out of memory");
        return EXIT_UNAVAILABLE;
    }
    if (config->allow_faults && !dlock_fault_allow()) {
        log_error("--allow-faults is refused: %s", dlock_error());
        return EXIT_USAGE;
    }
    rc = stores_open(s);
    if (rc == EXIT_VALID && !open_database(s))
        rc = EXIT_UNAVAILABLE;
    return rc;
}

void service_close(struct service *s)
{
    admission_close(s->admission);
    dlock_close(s->locks);
    db_pool_free(s->database);
    readiness_stop(s->readiness);
    free(s->vouchers);
    metrics_free(s->metrics);
    s->database = NULL;
    s->readiness = NULL;
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
    if (w->cell != NULL)
        return w;
    worker_free(w);
    return NULL;
}

void worker_free(struct worker *w)
{
    if (w == NULL)
        return;
    worker_give_db(w);
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

/* SPDX-License-Identifier: MIT */
/* worker.c -- the memory and the connections for one request in progress. */
#include <stdlib.h>

#include "base/text/limited.h"
#include "app/service.h"

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

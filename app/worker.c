/* SPDX-License-Identifier: MIT */
/* worker.c -- the memory and the connections for one request in progress. */
#include <stdio.h>
#include <stdlib.h>

#include "app/service.h"
#include "db/partition.h"

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
    worker_leave(w);
    free(w);
}

static struct db_pool *pool_of(struct worker *w)
{
    return partitions_pool(w->service->databases, w->partition);
}

/* "PostgreSQL", or "PostgreSQL, partition 1" */
static const char *name_of(const struct worker *w, char name[40])
{
    if (partitions_count(w->service->databases) == 1)
        return "PostgreSQL";
    (void)snprintf(name, 40, "PostgreSQL, partition %zu", w->partition);
    return name;
}

enum outcome worker_is_busy(struct worker *w, const char *why)
{
    w->busy_why = why;
    return OUTCOME_DATABASE_BUSY;
}

enum outcome worker_enter(struct worker *w, size_t partition)
{
    char name[40];

    w->partition = partition;
    w->busy_why = NULL;
    w->is_inside = partitions_enter(w->service->databases, partition);
    if (w->is_inside)
        return OUTCOME_ACCEPTED;
    LIMITED_WARN("%s: the limit of requests that use one database is reached", name_of(w, name));
    return worker_is_busy(w, "too many requests use the database of this voucher");
}

bool worker_choose_voucher(struct worker *w, int64_t voucher_id)
{
    size_t count = partitions_count(w->service->databases);
    size_t partition = partition_of_voucher(voucher_id, count);

    if (partition < count)
        w->partition = partition;
    return partition < count;
}

enum outcome worker_enter_voucher(struct worker *w, int64_t voucher_id)
{
    return worker_choose_voucher(w, voucher_id) ? worker_enter(w, w->partition)
                                                : OUTCOME_UNKNOWN_VOUCHER;
}

void worker_leave(struct worker *w)
{
    if (w->is_inside)
        partitions_leave(w->service->databases, w->partition);
    w->is_inside = false;
}

enum outcome worker_take_db(struct worker *w)
{
    struct db_taken taken;
    enum db_status st =
        db_pool_take(pool_of(w), w->service->config->database_wait_ms, &taken);
    char name[40];

    metrics_record_duration(&w->cell->database_wait, taken.waited_ns);
    w->db = taken.db;
    if (st == DB_OK)
        return OUTCOME_ACCEPTED;
    LIMITED_WARN("%s: %s", name_of(w, name), taken.why);
    if (st == DB_TIMEOUT)
        return worker_is_busy(w, "no connection to the database became free for as long as "
                                 "--database-wait allows");
    readiness_fail(w->service->readiness, READINESS_POSTGRESQL, w->partition, taken.why);
    return OUTCOME_UNAVAILABLE;
}

void worker_give_db(struct worker *w)
{
    if (w->db != NULL)
        db_pool_give(pool_of(w), w->db);
    w->db = NULL;
}

enum outcome worker_db_failed(struct worker *w, enum db_status st)
{
    char name[40];

    if (st == DB_ERROR || st == DB_UNIQUE) {
        LIMITED_WARN("%s refused a statement: %s", name_of(w, name), db_error(w->db));
        return OUTCOME_INTERNAL;
    }
    LIMITED_WARN("%s: %s: %s", name_of(w, name), db_status_name(st), db_error(w->db));
    if (st == DB_LOST)
        readiness_fail(w->service->readiness, READINESS_POSTGRESQL, w->partition, db_error(w->db));
    return OUTCOME_UNAVAILABLE;
}

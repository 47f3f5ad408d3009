/* SPDX-License-Identifier: MIT */
/* admin.c -- the other listener: health, metrics, settings. */
#include <stdio.h>
#include <stdlib.h>

#include "app/routes.h"

static const struct db_statement PING = {"admin_ping", "SELECT 1", ""};

void admin_live(const struct request *rq, struct answer *an)
{
    (void)rq;
    an->outcome = OUTCOME_ACCEPTED;
    answer_json(an, 200);
    text_add(an->body, "{\"alive\":true}\n");
}

void admin_ready(const struct request *rq, struct answer *an)
{
    struct service *s = rq->worker->service;
    dlock_status locks = dlock_check(s->locks);
    bool has_database, is_ready;

    (void)pthread_mutex_lock(&s->probe_mutex);
    has_database = db_run_one(s->probe, &PING, NULL) == DB_OK;
    is_ready = has_database && locks == DLOCK_OK;
    an->outcome = is_ready ? OUTCOME_ACCEPTED : OUTCOME_UNAVAILABLE;
    answer_json(an, is_ready ? 200 : 503);
    text_add(an->body, "{\"ready\":%s,\"postgresql\":", is_ready ? "true" : "false");
    text_add_json(an->body, has_database ? "ok" : db_error(s->probe));
    (void)pthread_mutex_unlock(&s->probe_mutex);
    text_add(an->body, ",\"locks\":");
    text_add_json(an->body, locks == DLOCK_OK ? "ok" : dlock_error());
    text_add(an->body, "}\n");
}

void admin_metrics(const struct request *rq, struct answer *an)
{
    struct service *s = rq->worker->service;
    dlock_metrics locks;
    struct metrics_facts facts = {
        .lock = s->config->lock,
        .admission = s->config->admission,
        .stock_guard = s->config->stock_guard,
        .process = s->config->process_name,
        .workers_busy = atomic_load(&s->workers_busy),
        .workers_total = s->config->workers,
    };

    db_pool_read_stats(s->database, &facts.database);
    an->outcome = OUTCOME_ACCEPTED;
    answer_json(an, 200);
    an->type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_write(s->metrics, &facts, an->body);
    dlock_metrics_read(s->locks, &locks);
    metrics_write_locks(&locks, s->config->lock, an->body);
}

void admin_config(const struct request *rq, struct answer *an)
{
    char *shown = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&shown, &len);

    if (out == NULL)
        return;
    settings_show(rq->worker->service->settings, out);
    if (fclose(out) == 0) {
        an->outcome = OUTCOME_ACCEPTED;
        answer_json(an, 200);
        an->type = "text/plain; charset=utf-8";
        text_add(an->body, "%s", shown);
    }
    free(shown);
}
